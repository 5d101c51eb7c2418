"""Quiet hours: a span of the wall clock, over midnight and across clock changes."""

from __future__ import annotations

from datetime import datetime, time, tzinfo
from itertools import count

from watcher.core.phrase import MINUTE


def is_quiet(quiet: str | None, zone: tzinfo | None, at: float) -> bool:
    """Whether the wall clock of ``zone`` (None: this machine's) stands within ``quiet`` at the instant ``at``.

    ``quiet`` is written ``22:00-07:00``: from the first minute on, until the last one begins. A span that ends
    where it starts is empty.
    """
    if not quiet:
        return False
    start, _, end = quiet.partition("-")
    return _within(_minutes(start), _minutes(end), zone, at)


def quiet_until(quiet: str | None, zone: tzinfo | None, at: float) -> float | None:
    """The instant at which the quiet hours that hold ``at`` are over; None where ``at`` is not quiet.

    The wall clock alone decides. So an hour that comes twice is quiet twice, and an end that a clock change
    leaps over is the moment of the leap.
    """
    if not quiet or not is_quiet(quiet, zone, at):
        return None
    start, _, end = quiet.partition("-")
    first, last = _minutes(start), _minutes(end)
    whole = at - at % MINUTE
    # Minute by minute, as no arithmetic on wall clocks survives every clock change; a day has 1,440 of them.
    return next(t for n in count(1) if not _within(first, last, zone, t := whole + n * MINUTE))


def _minutes(text: str) -> int:
    clock = time.fromisoformat(text.strip())
    return clock.hour * 60 + clock.minute


def _within(first: int, last: int, zone: tzinfo | None, at: float) -> bool:
    wall = datetime.fromtimestamp(at, zone)
    minute = wall.hour * 60 + wall.minute
    return first <= minute < last if first <= last else minute >= first or minute < last
