"""Replay one policy over pages: the shipped :func:`watcher.core.schedule.plan` decides every check."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from watcher.core.evidence import Evidence
from watcher.core.model import Cadence
from watcher.core.schedule import plan
from watcher.core.simulate.traces import Page, chance


def replay(pages: Sequence[Page], cadence: Cadence, seeds: dict[str, float], seed: int = 0) -> list[list[float]]:
    """The checks that ``cadence`` makes of each page."""
    out = []
    for page in pages:
        own = cadence
        at = page.start
        now = plan(own, at=at, interval=seeds[page.type], evidence=Evidence(), changed=None, gap=None, first=True)
        due = at + min(now.interval, seeds[page.type]) * (0.1 + 0.9 * chance(f"f{seed}/{page.key}"))
        checks = [at]
        changes = page.changes
        seen = bisect_right(changes, at)
        evidence = now.evidence
        interval = now.interval
        end = page.end
        while due < end:
            cur = bisect_right(changes, due)
            now = plan(own, at=due, interval=interval, evidence=evidence, changed=cur > seen, gap=due - at)
            at = due
            checks.append(at)
            seen, due, interval, evidence = cur, now.due_at, now.interval, now.evidence
        out.append(checks)
    return out
