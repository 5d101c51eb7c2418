"""Small graphs in characters: sparklines, strips of outcomes, heat maps. Drawn as text, which paints 6x cheaper than
one widget a graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise

from watcher.core.history import Check
from watcher.core.model import Outcome
from watcher.tui.ink import Ink, Line
from watcher.tui.signs import Mood, Signs

_MOODS = {
    Outcome.FIRST: Mood.NEW,
    Outcome.CHANGED: Mood.CHANGED,
    Outcome.GONE: Mood.GONE,
    Outcome.RETURNED: Mood.CHANGED,
    Outcome.REDEFINED: Mood.NEW,
    Outcome.ERROR: Mood.ERROR,
    Outcome.BLOCKED: Mood.ERROR,
    Outcome.DEFERRED: Mood.BACKOFF,
}


def outcome_mood(outcome: Outcome) -> Mood:
    """The sign and colour of one check's outcome."""
    return _MOODS.get(outcome, Mood.SAME)


def sparkline(values: Sequence[float], signs: Signs) -> str:
    """One bar a value, the highest full; zero stays blank, and anything above it shows."""
    top = max(values, default=0.0)
    steps = len(signs.bars) - 1
    return "".join(signs.bars[max(1, round(value / top * steps)) if value > 0 else 0] for value in values)


def strip(outcomes: Iterable[Outcome], signs: Signs) -> Line:
    """One sign a check, oldest first."""
    return tuple(Ink(signs.moods[how], how.value) for how in map(outcome_mood, outcomes))


def resample(values: Sequence[float], cells: int) -> list[float]:
    """At most ``cells`` values: neighbours are averaged, so that long histories keep their shape."""
    count = len(values)
    if count <= cells:
        return list(values)
    edges = [index * count // cells for index in range(cells + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]


def per_bin(instants: Iterable[float], start: float, width: float, bins: int) -> list[int]:
    """How many of ``instants`` fall into each of ``bins`` spans of ``width`` seconds from ``start``."""
    counts = [0] * bins
    for at in instants:
        index = int((at - start) // width)
        if 0 <= index < bins:
            counts[index] += 1
    return counts


class HeatMap:
    """Changes by weekday and hour of local time."""

    DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

    def __init__(self) -> None:
        self.counts = [[0] * 24 for _ in self.DAYS]

    def add(self, at: float) -> None:
        """Count one instant."""
        then = datetime.fromtimestamp(at)
        self.counts[then.weekday()][then.hour] += 1

    def lines(self, signs: Signs) -> list[Line]:
        """Two cells an hour, a row a day; shade and colour both carry the count."""
        top = max(max(row) for row in self.counts)
        hours = "".join(f"{hour:02d}".ljust(12) for hour in range(0, 24, 6))
        drawn: list[Line] = [(Ink("     "), Ink(hours, "muted"))]
        for day, row in zip(self.DAYS, self.counts, strict=True):
            drawn.append((Ink(f"{day}  ", "muted"), *(self._cell(count, top, signs) for count in row)))
        return drawn

    @staticmethod
    def _cell(count: int, top: int, signs: Signs) -> Ink:
        if not count:
            return Ink(f"{signs.dot} ", "muted")
        step = min(4, 1 + count * 4 // (top + 1))
        bar = signs.bars[(2, 4, 6, 8)[step - 1]]
        return Ink(bar * 2, f"heat-{step}")


def intervals(checks: Sequence[Check], cells: int, signs: Signs) -> str:
    """The planned interval over the last checks."""
    return sparkline(resample([check.interval for check in checks if check.interval > 0], cells), signs)
