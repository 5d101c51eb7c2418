"""Replay one policy over pages: the shipped :func:`watcher.core.schedule.plan` decides every check."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Mapping, Sequence

import msgspec

from watcher.core.evidence import ALONE, Evidence, Surroundings
from watcher.core.model import Cadence, Policy
from watcher.core.neighbours import Neighbours
from watcher.core.phrase import DAY
from watcher.core.schedule import plan
from watcher.core.simulate.traces import Page, chance


class Watched:
    """A page as a replay knows it: what was seen, and when to look again."""

    __slots__ = ("at", "cadence", "changes", "checks", "page", "planned", "seen", "streak")

    def __init__(self, page: Page, cadence: Cadence, seeds: Mapping[str, float]) -> None:
        seed = seeds.get(page.type, DAY)
        self.page = page
        self.changes = page.changes
        self.at = page.start
        self.checks = [page.start]
        self.seen = bisect_right(page.changes, page.start)
        self.streak = 0
        # A page type whose seed lies beyond the bound (an archive's) has a bound of its own.
        self.cadence = msgspec.structs.replace(cadence, maximum=max(cadence.maximum, seed))
        own = msgspec.structs.replace(self.cadence, interval=seed)
        self.planned = plan(own, at=page.start, interval=seed, evidence=Evidence(), changed=None, gap=None, first=True)

    def first_due(self, seed: int) -> float:
        """The end of the first interval, cut short at random, so that pages do not march in step."""
        return self.page.start + (self.planned.due_at - self.page.start) * chance(f"first{seed}/{self.page.key}")

    def look(self, at: float, around: Surroundings = ALONE) -> float:
        """Check the page at ``at``, and return when it is due again."""
        seen = bisect_right(self.changes, at)
        changed = seen > self.seen
        self.streak = 0 if changed else self.streak + 1
        self.planned = plan(
            self.cadence,
            at=at,
            interval=self.planned.interval,
            evidence=self.planned.evidence,
            changed=changed,
            gap=at - self.at,
            streak=self.streak,
            around=around,
        )
        self.at, self.seen = at, seen
        self.checks.append(at)
        return self.planned.due_at


def replay(pages: Sequence[Page], cadence: Cadence, seeds: Mapping[str, float], seed: int = 0) -> list[list[float]]:
    """The checks that ``cadence`` makes of each page; ``seeds`` are the seed intervals of the page types (seconds).

    The pages of one host belong into one call: what they have in common is learned from all of them.
    """
    shared = Neighbours() if cadence.policy is Policy.ESTIMATED else None
    watched = [Watched(page, cadence, seeds) for page in pages]
    due = [(one.first_due(seed), number) for number, one in enumerate(watched)]
    heapq.heapify(due)
    while due:
        at, number = due[0]
        one = watched[number]
        host, key = one.page.host, one.page.key
        if at >= one.page.end:
            heapq.heappop(due)
        elif shared is None:
            heapq.heapreplace(due, (one.look(at), number))
        else:
            heapq.heapreplace(due, (one.look(at, shared.around(host, key)), number))
            shared.put(host, key, one.planned.evidence)
    return [one.checks for one in watched]
