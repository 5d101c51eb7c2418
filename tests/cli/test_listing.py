"""``list``, ``show``, ``diff`` and ``history`` over what was really checked."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.cli.conftest import LAMP, Site, Watcher


@pytest.fixture
def past(lamp: Site, watcher: Watcher) -> Site:
    """Three versions of the lamp."""
    for price in ("19.99", "17.99", "21.50"):
        lamp.pages["/lamp"] = LAMP.replace("19.99", price)
        assert watcher("check", "--all").code == 0
    return lamp


def test_list_before_and_after_a_check(lamp: Site, watcher: Watcher) -> None:
    head, row = watcher("list").out.splitlines()
    assert head.split() == ["PAGE", "EVERY", "STREAK", "LAST", "DUE"]
    assert row.split() == ["+", "Desk", "lamp", "1d", "-", "never", "checked", "now"]
    watcher("check")
    assert watcher("list").out.splitlines()[1].split()[:6] == ["+", "Desk", "lamp", "1d", "+0", "new"]


def test_list_as_json(past: Site, watcher: Watcher) -> None:
    (found,) = watcher("list", "--json").objects
    assert found["name"] == "Desk lamp"
    assert (found["outcome"], found["unseen"], found["paused"]) == ("changed", True, False)
    assert found["interval_s"] == 6 * 3600


def test_list_in_plain_ascii_where_the_terminal_has_no_more(past: Site, watcher: Watcher) -> None:
    out = watcher("list", env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}).out
    assert out.isascii()
    assert out.splitlines()[1].startswith("*  Desk lamp")


def test_duplicates(site: Site, watcher: Watcher) -> None:
    for path in ("/a", "/b", "/c"):
        site.pages[path] = f"<h1>{'other' if path == '/c' else 'same'}</h1>"
    watcher.configure(
        "".join(f'[[watch]]\nname = "{n}"\nurl = "{site.url("/" + n)}"\n[watch.fields]\nt = "h1"\n' for n in "abc")
    )
    assert watcher("list", "--duplicates").out == "no two records are the same\n"
    watcher("check")
    assert watcher("list", "--duplicates", "--json").objects == [{"duplicates": ["a", "b"]}]


def test_list_by_a_query(past: Site, watcher: Watcher) -> None:
    assert len(watcher("list", "--filter", "status:changed lamp", "--json").objects) == 1
    assert watcher("list", "--filter", "-lamp", "--json").objects == []
    run = watcher("list", "--filter", "colour:red")
    assert run.code == 2
    assert run.err.startswith("watcher: --filter: ")


def test_show(past: Site, watcher: Watcher) -> None:
    out = watcher("show", "lamp").out
    for text in (
        past.url("/lamp"),
        "adaptive, 1h to 3d",
        "next check",
        "21.50 EUR",
        "(untested)",
        f"{watcher.config}:3",
    ):
        assert text in out
    (found,) = watcher("show", "lamp", "--json").objects
    assert found["record"]["price"] == {"minor": 2150, "currency": "EUR"}
    assert found["validators"]["trust"] == "untested"
    assert found["cadence"]["policy"] == "adaptive"


def test_show_as_of(past: Site, watcher: Watcher) -> None:
    versions = watcher("history", "lamp", "--json").objects
    assert "nothing was known yet" in watcher("show", "lamp", "--as-of", "2001-01-01").out
    assert "21.50 EUR" in watcher("show", "lamp", "--as-of", "0s").out
    (found,) = watcher("show", "lamp", "--as-of", datetime.now(UTC).isoformat(), "--json").objects
    assert found["known"] == "in_force"
    assert found["record"] == versions[0]["record"]


def test_history(past: Site, watcher: Watcher) -> None:
    lines = watcher("history", "lamp").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["3", "2", "1"]
    assert [line.split()[3] for line in lines[1:]] == ["changed", "changed", "first"]
    assert lines[1].endswith("price")
    assert [found["version"] for found in watcher("history", "lamp", "--json", "--limit", "2").objects] == [3, 2]
    assert watcher("history", "lamp", "--as-of", "2001-01-01").out == "no version yet\n"


def test_audit(past: Site, watcher: Watcher) -> None:
    found = watcher("history", "lamp", "--audit", "--json").objects
    assert {line["purpose"] for line in found} == {"robots", "page"}
    assert [line["status"] for line in found if line["purpose"] == "page"] == [200, 200, 200]
    table = watcher("history", "lamp", "--audit", "--limit", "1").out.splitlines()
    assert len(table) == 2
    assert past.url("/lamp") in table[1]


def test_diff(past: Site, watcher: Watcher) -> None:
    last = watcher("diff", "lamp").out
    assert "- 17.99 EUR" in last
    assert "+ 21.50 EUR" in last
    assert "- 19.99 EUR" in watcher("diff", "lamp", "2").out
    assert "19.99 EUR" in watcher("diff", "lamp", "1", "-1").out
    assert watcher("diff", "lamp", "3", "3").out.endswith("no difference\n")
    assert " │ " in watcher("diff", "lamp", "--side-by-side").out
    assert "[-17.99 EUR-][+21.50 EUR+]" in watcher("diff", "lamp", "--word").out
    (found,) = watcher("diff", "lamp", "--json").objects
    assert [change["field"] for change in found["changes"]] == ["price"]


@pytest.mark.parametrize(
    ("version", "message"), [("9", "has versions 1 to 3, not 9"), ("1", "no version before its first"), ("0", "not 0")]
)
def test_a_version_that_is_not_there(past: Site, watcher: Watcher, version: str, message: str) -> None:
    run = watcher("diff", "lamp", version)
    assert run.code == 2
    assert message in run.err


def test_a_watch_that_is_no_longer_configured_keeps_its_past(past: Site, watcher: Watcher) -> None:
    watcher.configure("")
    assert watcher("list").out == ""
    assert len(watcher("history", "Desk lamp").out.splitlines()) == 4
    assert "no longer" in watcher("show", "Desk lamp").out


def test_what_a_page_says_never_reaches_the_terminal_raw(lamp: Site, watcher: Watcher) -> None:
    lamp.pages["/lamp"] = LAMP.replace("Desk lamp", "\x1b[31mEvil\x9b2J \u202eplamd\x07 lamp")
    watcher("check")
    for words in (
        ("show", "lamp"),
        ("show", "lamp", "--json"),
        ("history", "lamp", "--json"),
        ("check", "--all", "--json"),
    ):
        out = watcher(*words).out
        assert "Evil" in out
        assert not any(char in out for char in "\x1b\x9b\x07\u202e")


def test_colour_only_where_it_was_asked_for(past: Site, watcher: Watcher) -> None:
    assert "\x1b" not in watcher("diff", "lamp").out
