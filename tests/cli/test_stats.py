"""``stats``: the four numbers of a real history, as a table and as objects."""

from __future__ import annotations

import pytest

from tests.cli.conftest import LAMP, Site, Watcher


@pytest.fixture
def past(lamp: Site, watcher: Watcher) -> None:
    """Two watches: one found first, not modified, changed; one that failed."""
    lamp.pages["/broken"] = 503
    watcher.config.write_text(
        watcher.config.read_text().replace('name = "Desk lamp"', 'name = "Desk lamp"\ntype = "detail"\ntags = ["shop"]')
        + f'[[watch]]\nname = "Broken"\nurl = "{lamp.url("/broken")}"\n'
    )
    assert watcher("check").code == 1
    assert watcher("check", "lamp", "--all").code == 0
    lamp.pages["/lamp"] = LAMP.replace("19.99", "17.99")
    assert watcher("check", "lamp", "--all").code == 0


@pytest.mark.usefixtures("past")
def test_the_numbers_in_all_and_by_host_type_and_tag(watcher: Watcher) -> None:
    found = watcher("stats", "--json").objects
    assert [(row["group"], row["name"]) for row in found] == [
        ("all", None),
        ("host", "127.0.0.1"),
        ("type", "detail"),
        ("type", "listing"),
        ("tag", "shop"),
    ]
    total, shop = found[0], found[-1]
    assert (total["watches"], total["checks"], total["failures"], total["due"]) == (2, 4, 1, 0)
    assert (shop["checks"], shop["changes"], shop["not_modified"], shop["bodies"]) == (3, 1, 1, 2)
    assert (shop["bytes_saved"], shop["downstream_saved"]) == (pytest.approx(1 / 3), 0)
    assert shop["expected_checks"] == pytest.approx(1, abs=0.01)
    assert shop["requests_saved"] == pytest.approx(-2, abs=0.1)
    assert 0 <= shop["freshness_s"] < 60
    assert (shop["delay_s"], shop["delay_bounds"]) == (None, 1)


@pytest.mark.usefixtures("past")
def test_the_table_says_what_it_is_measured_against(watcher: Watcher) -> None:
    lines = watcher("stats").out.splitlines()
    assert "4 checks of 2 watches, where their seed intervals would have made 1; 0 are due now" in lines[0]
    assert lines[1].split()[:4] == ["WATCHES", "CHECKS", "CHANGES", "FAILED"]
    assert lines[2].split()[:6] == ["all", "2", "4", "1", "1", "33%"]
    assert [line.split()[0] for line in lines[3:]] == [
        "by", "127.0.0.1", "by", "detail", "listing", "by", "shop"
    ]  # fmt: skip


@pytest.mark.usefixtures("past")
def test_a_window_and_a_pattern_narrow_it(watcher: Watcher) -> None:
    assert watcher("stats", "broken", "--json").objects[0]["checks"] == 1
    assert watcher("stats", "--since", "2000-01-01", "lamp", "--json").objects[0]["start"].startswith("2000-01-01")
    assert watcher("stats", "--since", "2999-01-01").out == "no check in that time\n"
    bad = watcher("stats", "--since", "soon")
    assert (bad.code, bad.err.count("\n")) == (2, 1)
    assert watcher("stats", "nobody").code == 2
