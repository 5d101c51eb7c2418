"""``test``: a dry run that shows how each field found its value and stores nothing."""

from __future__ import annotations

import pytest

from tests.cli.conftest import LAMP, Site, Watcher


def test_a_configured_watch(lamp: Site, watcher: Watcher) -> None:
    run = watcher("test", "lamp")
    assert run.code == 0
    assert "19.99 EUR" in run.out
    assert "1 match" in run.out
    assert lamp.asked == ["/robots.txt", "/lamp"]
    assert not watcher.data.exists()


def test_a_page_nobody_watches(lamp: Site, watcher: Watcher) -> None:
    (found,) = watcher("test", lamp.url("/lamp"), "--json").objects
    assert found["record"]["title"] == "Desk lamp"
    assert found["error"] is None
    assert found["content_type"] == "text/html; charset=utf-8"
    (found,) = watcher(
        "test", lamp.url("/lamp"), "--field", "t=h1", "--field", "p=regex:([0-9.]+) EUR", "--json"
    ).objects
    assert found["record"] == {"t": "Desk lamp", "p": "19.99"}


def test_a_near_miss_is_told(lamp: Site, watcher: Watcher) -> None:
    run = watcher("test", "lamp", "--field", "price=.prices")
    assert run.code == 1
    assert "`.prices`" in run.out
    assert "`.price` matches 1" in run.out


def test_a_file_and_the_saved_page_ask_nobody(lamp: Site, watcher: Watcher) -> None:
    page = watcher.folder / "page.html"
    page.write_text(LAMP.replace("19.99", "5.00"))
    assert "5.00 EUR" in watcher("test", "lamp", "--file", str(page)).out
    missing = watcher("test", "lamp", "--saved")
    assert missing.code == 1
    assert "no page of 'Desk lamp' is saved" in missing.err
    assert lamp.asked == []
    watcher("check")
    lamp.asked.clear()
    assert "19.99 EUR" in watcher("test", "lamp", "--saved").out
    assert lamp.asked == []


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("http://127.0.0.1:9/",), 1, "127.0.0.1:9 "),
        (("ftp://h.test/",), 2, "not supported"),
        (("nobody",), 2, "no watch is meant by 'nobody'"),
        (("lamp", "--file", "/nowhere/page.html"), 2, "cannot read /nowhere/page.html"),
        (("lamp", "--field", "x=p["), 2, "not a CSS selector"),
        (("lamp", "--file", "x", "--saved"), 2, "not allowed with"),
    ],
)
def test_what_cannot_be_tried(lamp: Site, watcher: Watcher, words: tuple[str, ...], code: int, message: str) -> None:
    run = watcher("test", *words)
    assert run.code == code
    assert message in run.out + run.err


def test_a_running_watcher_does_not_mind(lamp: Site, watcher: Watcher) -> None:
    watcher("check")
    before = (watcher.data / "lock").stat().st_mtime_ns
    assert watcher("test", "lamp").code == 0
    assert (watcher.data / "lock").stat().st_mtime_ns == before
