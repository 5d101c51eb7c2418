"""Real pages over a year: the engine finds what the archive's labels say, and a kill in the middle costs nothing."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.replay.archive import ArchivedPage, load
from tests.replay.cases import ROOT, shared
from tests.replay.tally import Tally
from tests.replay.terms import watch
from tests.support.clock import FakeClock
from watcher.core.history import Version
from watcher.core.model import Outcome
from watcher.store import Store

DATA = shared() / "data/terms"
PAGES = 8
SINCE, UNTIL = 1_690_848_000.0, 1_722_470_400.0
"""2023-08-01 to 2024-08-01."""
WEEK = 7 * 86_400.0

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is not there (WATCHER_SHARED names its parent)")


@pytest.fixture(scope="module")
def pages() -> list[ArchivedPage]:
    return load(DATA, PAGES, SINCE, UNTIL)


def test_a_year_of_pages_against_their_labels(pages: list[ArchivedPage], tmp_path: Path) -> None:
    tallies = {page.name: Tally(page) for page in pages}
    first, last = min(page.snapshots[0].at for page in pages), max(page.snapshots[-1].at for page in pages)
    clock = FakeClock(first)
    clock.run(watch(tmp_path, pages, last + WEEK, lambda event: tallies[event.check.name].add(event)))
    assert sum(tally.labels for tally in tallies.values()) >= 10
    for tally in tallies.values():
        assert tally.missed == 0, tally.page.name
        assert tally.unlabelled == 0, tally.page.name
        assert tally.outcomes["first"] == 1, tally.page.name
        assert tally.outcomes["error"] == 0, tally.page.name


def replay(root: Path, port: int, start: float | None) -> subprocess.Popen[str]:
    """The replay as a process of its own, one line a check."""
    command = [sys.executable, "-m", "tests.replay.terms", "--root", str(root), "--pages", str(PAGES)]
    command += ["--since", "2023-08-01", "--until", "2024-08-01", "--port", str(port)]
    command += [] if start is None else ["--start", str(start)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return int(sock.getsockname()[1])


def told(process: subprocess.Popen[str], count: int | None = None) -> list[dict[str, Any]]:
    """The first ``count`` checks (or all) that the process prints. A line cut off by a kill was never told."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        if line.endswith("\n"):
            lines.append(json.loads(line))
        if len(lines) == count:
            break
    return lines


def test_kill_in_the_middle_loses_nothing_and_tells_nothing_twice(pages: list[ArchivedPage], tmp_path: Path) -> None:
    port = free_port()
    with replay(tmp_path, port, None) as process:
        before = told(process, 200)
        process.kill()
        before += told(process)
    with Store.open(tmp_path / "data", mode="read") as store:
        kept = {(check.name, check.at) for check in store.checks()}
    assert {(line["name"], line["at"]) for line in before} <= kept, "a check that was told is not on disk"

    with replay(tmp_path, port, max(at for _, at in kept)) as process:
        after = told(process)
    assert process.returncode == 0
    news = [(line["name"], line["at"], line["news"]) for line in [*before, *after] if line["news"]]
    assert [item for item, times in Counter(news).items() if times > 1] == []
    assert Counter(line["name"] for line in after if line["news"] == "first") == Counter()

    with Store.open(tmp_path / "data", mode="read") as store:
        histories = {page.name: store.history(page.name, limit=10_000)[::-1] for page in pages}
    for page in pages:
        assert_one_story(page, histories[page.name], [item for item in news if item[0] == page.name])


def assert_one_story(page: ArchivedPage, history: list[Version], news: list[tuple[str, float, str]]) -> None:
    """Every version differs from the one before it and was told exactly once; the labelled changes are among them."""
    fingerprints = [version.record.fingerprint for version in history if version.record]
    assert all(a != b for a, b in pairwise(fingerprints)), page.name
    versions = [(version.at, version.outcome.value) for version in history]
    told_of = [(at, kind) for _, at, kind in sorted(news, key=lambda item: item[1])]
    # A kill between the disk and the terminal leaves at most one version untold.
    assert set(told_of) <= set(versions), page.name
    assert len(versions) - len(told_of) <= 1, page.name
    labelled = sum(snapshot.changed is True for snapshot in page.snapshots)
    changed = sum(version.outcome is Outcome.CHANGED for version in history)
    assert (changed > 0) == (labelled > 0), page.name
