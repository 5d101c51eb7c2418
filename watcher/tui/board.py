"""The list behind the list: which watches are shown, in which order, and how many stand how.

Plain lists and dictionaries. An update of one watch costs the same however many there are; only loading,
another filter and another order look at all of them.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice
from operator import length_hint
from typing import Any, NamedTuple, Protocol

from watcher.core.model import Watch
from watcher.core.state import Summary
from watcher.engine.handle import Handle
from watcher.tui.signs import Mood
from watcher.tui.view import Row, mood


class Matcher(Protocol):
    """A parsed filter."""

    def matches(self, watch: Watch, summary: Summary, now: float) -> bool: ...


class Sort(NamedTuple):
    """An order of the list. ``key`` gives something comparable; equal keys stay in the order of the configuration."""

    name: str
    title: str
    key: Callable[[str, Summary], Any]


_SEVERITY = {how: rank for rank, how in enumerate((Mood.ERROR, Mood.CHANGED, Mood.GONE, Mood.BACKOFF, Mood.NEW))}

SORTS = (
    Sort("config", "order of the configuration", lambda name, summary: 0),
    Sort("state", "state, worst first", lambda name, summary: _SEVERITY.get(mood(summary), 9)),
    Sort("changed", "last change, newest first", lambda name, summary: -(summary.last_changed_at or 0.0)),
    Sort("due", "next check", lambda name, summary: _due(summary)),
    Sort("page", "name", lambda name, summary: name.casefold()),
    Sort("every", "interval", lambda name, summary: summary.check_interval),
    Sort("streak", "streak", lambda name, summary: -(summary.unchanged_streak - summary.failures)),
)


def _due(summary: Summary) -> float:
    return float("inf") if summary.paused or summary.next_check_at is None else summary.next_check_at


AT_ONCE = 1_000
"""Watches counted while the list is loaded."""


class Placed(NamedTuple):
    """Where a watch stands in the order."""

    key: Any
    rank: int
    name: str


class Board:
    """The watches as the list shows them. :meth:`load` first; :meth:`touch` after every change."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._names: Sequence[str] = ()
        self._ranks: dict[str, int] = {}
        self._moods: dict[str, Mood] = {}
        self._unseen: set[str] = set()
        self._placed: dict[str, Placed] = {}
        self._order: list[Placed] | None = None
        self._uncounted: Iterator[str] = iter(())
        self.counted = True
        self._due: list[tuple[float, str]] = []
        self._matcher: Matcher | None = None
        self.sort = SORTS[0]
        self.reverse = False
        self.counts: Counter[Mood] = Counter()
        self.marked: set[str] = set()

    def __len__(self) -> int:
        return len(self._names) if self._order is None else len(self._order)

    @property
    def total(self) -> int:
        """How many watches there are, shown or not."""
        return len(self._ranks)

    @property
    def unseen(self) -> int:
        """How many watches have a change nobody looked at."""
        return len(self._unseen)

    @property
    def filtered(self) -> bool:
        """Whether a filter is active."""
        return self._matcher is not None

    def load(self) -> None:
        """Look at the watches anew: after a start and after the configuration changed.

        A short list is counted at once; the rest of a long one by :meth:`take_stock`, until ``counted``.
        """
        self._names = self._handle.names()
        self._ranks = dict(zip(self._names, range(len(self._names)), strict=True))
        self.marked &= self._ranks.keys()
        self._unseen.clear()
        self.counts.clear()
        self._moods, self._due = {}, []
        self._uncounted, self.counted = iter(self._names), False
        self.take_stock(AT_ONCE)
        self._arrange()

    def take_stock(self, most: int) -> bool:
        """Count how up to ``most`` more watches stand; whether there are still more."""
        for name in islice(self._uncounted, most):
            summary = self._handle.summary(name) if name not in self._moods else None
            if summary is not None:
                self._count(name, summary)
        self.counted = length_hint(self._uncounted) == 0
        return not self.counted

    def use_filter(self, matcher: Matcher | None) -> None:
        """Show only what ``matcher`` matches; None shows all."""
        self._matcher = matcher
        self._arrange()

    def use_sort(self, sort: Sort, reverse: bool = False) -> None:
        """Show in another order."""
        self.sort, self.reverse = sort, reverse
        self._arrange()

    def touch(self, names: Iterable[str]) -> None:
        """Take in that these watches moved."""
        for name in names:
            summary = self._handle.summary(name)
            if summary is not None and name in self._ranks:
                self._count(name, summary)
                self._place(name, summary)

    def next_due(self) -> float | None:
        """When the next check is due, of all watches."""
        while self._due:
            at, name = self._due[0]
            summary = self._handle.summary(name) if name in self._ranks else None
            if summary is not None and not summary.paused and summary.next_check_at == at:
                return at
            heappop(self._due)
        return None

    def row(self, index: int, running: frozenset[str]) -> Row | None:
        """The row at ``index``, or None past the end or for a watch that is no longer there."""
        name = self.name(index)
        summary = None if name is None else self._handle.summary(name)
        if name is None or summary is None:
            return None
        return Row(name, summary, self._handle.watch(name), name in running, name in self.marked)

    def name(self, index: int) -> str | None:
        """The watch at ``index``."""
        if not 0 <= index < len(self):
            return None
        at = len(self) - 1 - index if self.reverse else index
        return self._names[at] if self._order is None else self._order[at].name

    def index(self, name: str) -> int | None:
        """Where ``name`` is shown, or None."""
        if self._order is None:
            at = self._ranks.get(name)
        else:
            placed = self._placed.get(name)
            at = None if placed is None else bisect_left(self._order, placed)
        return None if at is None else len(self) - 1 - at if self.reverse else at

    def shown(self) -> Iterator[str]:
        """The names shown, from the top."""
        names = self._names if self._order is None else [placed.name for placed in self._order]
        return reversed(names) if self.reverse else iter(names)

    def next_unseen(self, index: int, step: int) -> int | None:
        """The nearest row with an unseen change after ``index`` in direction ``step``, around the end."""
        found = sorted(at for at in map(self.index, self._unseen) if at is not None)
        if not found:
            return None
        if step > 0:
            return next((at for at in found if at > index), found[0])
        return next((at for at in reversed(found) if at < index), found[-1])

    def selected(self, cursor: int) -> list[str]:
        """What an action is about: the marked watches, else the one under the cursor."""
        if self.marked:
            return [name for name in self.shown() if name in self.marked] or sorted(self.marked)
        name = self.name(cursor)
        return [] if name is None else [name]

    def _count(self, name: str, summary: Summary) -> None:
        """Note how one watch stands, in place of how it stood."""
        before, after = self._moods.get(name), mood(summary)
        if before is not after:
            self._moods[name] = after
            self.counts[after] += 1
            if before is not None:
                self.counts[before] -= 1
        if summary.unseen:
            self._unseen.add(name)
        else:
            self._unseen.discard(name)
        if not summary.paused and summary.next_check_at is not None:
            heappush(self._due, (summary.next_check_at, name))
            if len(self._due) > 2 * len(self._ranks) + AT_ONCE:
                self._drop_stale_dues()

    def _drop_stale_dues(self) -> None:
        """Entries that checks left behind are dropped in one go, now and then, so that they never pile up."""
        fresh = []
        for name in self._moods:
            summary = self._handle.summary(name)
            if summary is not None and not summary.paused and summary.next_check_at is not None:
                fresh.append((summary.next_check_at, name))
        heapify(fresh)
        self._due = fresh

    def _arrange(self) -> None:
        """Put the watches in order. In the configuration's own order, unfiltered, there is nothing to do or to keep."""
        self._placed = {}
        if self._matcher is None and self.sort is SORTS[0]:
            self._order = None
            return
        now, key = self._handle.now(), self.sort.key
        self._order = []
        for name, rank in self._ranks.items():
            summary = self._handle.summary(name)
            if summary is not None and self._matches(name, summary, now):
                placed = self._placed[name] = Placed(key(name, summary), rank, name)
                self._order.append(placed)
        self._order.sort()

    def _matches(self, name: str, summary: Summary, now: float) -> bool:
        watch = self._handle.watch(name)
        return self._matcher is None or (watch is not None and self._matcher.matches(watch, summary, now))

    def _place(self, name: str, summary: Summary) -> None:
        if self._order is None:
            return
        before = self._placed.get(name)
        fits = self._matches(name, summary, self._handle.now())
        after = Placed(self.sort.key(name, summary), self._ranks[name], name) if fits else None
        if after == before:
            return
        if before is not None:
            del self._order[bisect_left(self._order, before)]
            del self._placed[name]
        if after is not None:
            insort(self._order, after)
            self._placed[name] = after
