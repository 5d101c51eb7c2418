"""The list behind the list: which watches are shown, in which order, and how many stand how.

Plain lists and dictionaries. An update of one watch costs the same however many there are; only loading,
another filter and another order look at all of them.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush
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


class Placed(NamedTuple):
    """Where a watch stands in the order."""

    key: Any
    rank: int
    name: str


class Board:
    """The watches as the list shows them. :meth:`load` first; :meth:`touch` after every change."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._ranks: dict[str, int] = {}
        self._moods: dict[str, Mood] = {}
        self._unseen: set[str] = set()
        self._placed: dict[str, Placed] = {}
        self._order: list[Placed] = []
        self._due: list[tuple[float, str]] = []
        self._matcher: Matcher | None = None
        self.sort = SORTS[0]
        self.reverse = False
        self.counts: Counter[Mood] = Counter()
        self.marked: set[str] = set()

    def __len__(self) -> int:
        return len(self._order)

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
        """Look at every watch anew: after a start and after the configuration changed."""
        names = self._handle.names()
        self._ranks = {name: rank for rank, name in enumerate(names)}
        self.marked &= self._ranks.keys()
        self._unseen.clear()
        self._moods, self._due = {}, []
        for name in names:
            summary = self._handle.summary(name)
            if summary is not None:
                self._note(name, summary)
                if not summary.paused and summary.next_check_at is not None:
                    self._due.append((summary.next_check_at, name))
        heapify(self._due)
        self.counts = Counter(self._moods.values())
        self._arrange()

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
            if summary is None or name not in self._ranks:
                continue
            before = self._moods.get(name)
            after = self._note(name, summary)
            if before is not after:
                self.counts[after] += 1
                if before is not None:
                    self.counts[before] -= 1
            self._place(name, summary)
            if not summary.paused and summary.next_check_at is not None:
                heappush(self._due, (summary.next_check_at, name))

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
        if not 0 <= index < len(self._order):
            return None
        return self._order[-1 - index if self.reverse else index].name

    def index(self, name: str) -> int | None:
        """Where ``name`` is shown, or None."""
        placed = self._placed.get(name)
        if placed is None:
            return None
        at = bisect_left(self._order, placed)
        return len(self._order) - 1 - at if self.reverse else at

    def shown(self) -> Iterator[str]:
        """The names shown, from the top."""
        return (placed.name for placed in (reversed(self._order) if self.reverse else self._order))

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

    def _note(self, name: str, summary: Summary) -> Mood:
        how = self._moods[name] = mood(summary)
        if summary.unseen:
            self._unseen.add(name)
        else:
            self._unseen.discard(name)
        return how

    def _arrange(self) -> None:
        now, matcher, key = self._handle.now(), self._matcher, self.sort.key
        order = []
        for name, rank in self._ranks.items():
            summary = self._handle.summary(name)
            if summary is not None and (matcher is None or self._matches(name, summary, now)):
                order.append(Placed(key(name, summary), rank, name))
        order.sort()
        self._order, self._placed = order, {placed.name: placed for placed in order}

    def _matches(self, name: str, summary: Summary, now: float) -> bool:
        watch = self._handle.watch(name)
        return self._matcher is None or (watch is not None and self._matcher.matches(watch, summary, now))

    def _place(self, name: str, summary: Summary) -> None:
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
