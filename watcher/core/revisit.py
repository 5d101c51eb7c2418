"""Who is checked first when a host's budget is short, and who is due at all (SCHEDULE section 0)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import Protocol

import msgspec

from watcher.core.model import Policy
from watcher.core.phrase import DAY

FORCE_AFTER = 30 * DAY
LONGEST_DELAY = 100 * DAY
"""Seconds. No policy, back-off or probe plans further ahead (a gone page is last probed after 90 days, jittered)."""

CLOCK_SLACK = 60.0


class RevisitCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who wants a check: a due watch, or a URL that another source has found and nobody has fetched.

    ``interval`` in seconds; ``last_fetched_at`` is None for what was never asked for.
    """

    name: str
    host: str
    due_at: float
    interval: float
    unchanged_streak: int = 0
    last_fetched_at: float | None = None
    priority: float = 1.0
    force_after: float = FORCE_AFTER
    policy: Policy = Policy.ADAPTIVE


def change_likelihood(unchanged_streak: int, overdue: float, interval: float) -> float:
    """``min(1, 1/(1+streak) x (1 + overdue/interval))``, seconds; ``overdue`` never counts as negative."""
    late = max(overdue, 0.0) / interval if interval > 0 else 0.0
    return min(1.0, (1 + late) / (1 + unchanged_streak))


def score(candidate: RevisitCandidate, now: float) -> float:
    """What a check of ``candidate`` is worth beside the others of its host: likelihood times priority.

    An ``estimated`` watch is ranked by its value against its price, which grows as the square of the time
    waited (SCHEDULE section 2: ``V = rate x waited^2 / 2``), brought to the same range from 0 to 1.
    """
    if candidate.policy is Policy.ESTIMATED and candidate.last_fetched_at is not None and candidate.interval > 0:
        bought = (max(now - candidate.last_fetched_at, 0.0) / candidate.interval) ** 2
        return candidate.priority * bought / (1 + bought)
    likelihood = change_likelihood(candidate.unchanged_streak, now - candidate.due_at, candidate.interval)
    return candidate.priority * likelihood


def must_check(candidate: RevisitCandidate, now: float) -> bool:
    """Whether ``candidate`` was last fetched so long ago (30 days) that it is checked whatever its score."""
    return candidate.last_fetched_at is not None and now - candidate.last_fetched_at >= candidate.force_after


def select_revisits(
    candidates: Iterable[RevisitCandidate], budgets: Mapping[str, int], now: float
) -> list[RevisitCandidate]:
    """Spend each host's budget (checks) on its best candidates, best first; a host without a budget gets none.

    What :func:`must_check` names goes first, longest unfetched first. Ties go to the longest overdue, then to the name.
    """
    by_host: dict[str, list[RevisitCandidate]] = {}
    for candidate in candidates:
        by_host.setdefault(candidate.host, []).append(candidate)
    chosen: list[RevisitCandidate] = []
    for host, rivals in by_host.items():
        budget = max(budgets.get(host, 0), 0)
        chosen.extend(heapq.nsmallest(budget, rivals, key=lambda c: _rank(c, now)))
    return chosen


class Source(Protocol):
    """Whatever wants URLs checked: the due watches, and later feeds, sitemaps or links that name new ones.

    All sources compete under the same budgets, so a flood of discoveries cannot starve the watches nor the reverse.
    """

    def propose(self, now: float) -> Iterable[RevisitCandidate]:
        """Everybody of this source who wants a check at ``now``. A URL never fetched has no ``last_fetched_at``."""
        ...


def admit(sources: Iterable[Source], budgets: Mapping[str, int], now: float) -> list[RevisitCandidate]:
    """:func:`select_revisits` over all ``sources``; who is proposed twice is taken from the first that names it."""
    proposed: dict[str, RevisitCandidate] = {}
    for source in sources:
        for candidate in source.propose(now):
            proposed.setdefault(candidate.name, candidate)
    return select_revisits(proposed.values(), budgets, now)


def _rank(candidate: RevisitCandidate, now: float) -> tuple[bool, float, float, str]:
    if must_check(candidate, now):
        return False, candidate.last_fetched_at or 0.0, candidate.due_at, candidate.name
    return True, -score(candidate, now), candidate.due_at, candidate.name


def clamp_due(due_at: float, *, now: float, interval: float, last_fetched_at: float | None = None) -> float:
    """A stored due time that a wrong clock cannot have spoiled: where it did, at most one interval from ``now``.

    The clock was wrong if the last check lies in the future, or the due time further off than any plan goes.
    """
    from_the_future = last_fetched_at is not None and last_fetched_at > now + CLOCK_SLACK
    if from_the_future or due_at > now + max(LONGEST_DELAY, interval * 1.1):
        return min(due_at, now + interval)
    return due_at


class DueQueue:
    """Names by due time: a heap whose outdated entries are skipped when they surface, so a tick costs what is due.

    Missed times coalesce by construction: however long nobody looked, a name comes out once.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, str]] = []
        self._due: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._due)

    def push(self, name: str, due_at: float) -> None:
        """(Re)schedule ``name`` at ``due_at``; only its latest time counts."""
        if self._due.get(name) == due_at:
            return
        self._due[name] = due_at
        heapq.heappush(self._heap, (due_at, name))
        if len(self._heap) > 64 and len(self._heap) > 2 * len(self._due):
            self._rebuild()

    def discard(self, name: str) -> None:
        """Take ``name`` off the schedule, if it is on it."""
        self._due.pop(name, None)

    def pop_due(self, now: float) -> list[str]:
        """Take out everything due by ``now``, longest overdue first."""
        heap, due = self._heap, []
        while heap and heap[0][0] <= now:
            at, name = heapq.heappop(heap)
            if self._due.get(name) == at:
                del self._due[name]
                due.append(name)
        return due

    def next_at(self) -> float | None:
        """The earliest due time, or None when nothing is scheduled."""
        heap = self._heap
        while heap and self._due.get(heap[0][1]) != heap[0][0]:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def _rebuild(self) -> None:
        self._heap = [(at, name) for name, at in self._due.items()]
        heapq.heapify(self._heap)
