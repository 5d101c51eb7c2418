"""``plan``: what is due, host by host, and what does not fit into a host's budget."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Site, Watcher


@pytest.fixture
def many(site: Site, watcher: Watcher) -> Site:
    """Three pages of one host that may be asked twice a day, all due."""
    watcher.configure("".join(f'[[watch]]\nname = "{n}"\nurl = "{site.url("/" + n)}"\n' for n in "abc"))
    watcher.config.write_text(watcher.config.read_text().replace('"0s"', '"0s"\nchecks_per_day = 2'))
    return site


def test_by_host(many: Site, watcher: Watcher) -> None:
    head, row = watcher("plan").out.splitlines()
    assert head.split() == ["HOST", "CHECKS", "BUDGET", "LEFT", "OUT", "FIRST"]
    assert row.split()[:4] == [f"http://127.0.0.1:{many.port}", "3", "2", "1"]
    (found,) = watcher("plan", "--json").objects
    assert (found["checks"], found["budget"], found["left_out"]) == (3, 2, ["c"])
    assert [check["name"] for check in found["plan"]] == ["a", "b", "c"]


def test_by_watch_with_the_reason(many: Site, watcher: Watcher) -> None:
    lines = watcher("plan", "a", "c").out.splitlines()
    assert lines[1].endswith("a     never checked")
    assert lines[2].endswith("c     left out: the host's budget is spent")


def test_later_checks_follow_at_the_interval(many: Site, watcher: Watcher) -> None:
    (found,) = watcher("plan", "b", "--for", "3d", "--json").objects
    assert found["checks"] == 9
    assert found["budget"] == 6
    assert len(found["plan"]) == 3


@pytest.mark.parametrize("horizon", ["0s", "soon", "-1d"])
def test_a_horizon_is_a_duration(many: Site, watcher: Watcher, horizon: str) -> None:
    assert watcher("plan", f"--for={horizon}").code == 2


def test_nothing_due(watcher: Watcher) -> None:
    watcher.configure("")
    assert watcher("plan").out == "nothing is due in that time\n"
