"""The week's rhythm of a page: in which hours its changes fall (SCHEDULE sections 2 and 5).

48 bins: the 24 hours of a weekday and those of a weekend day, in UTC.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from watcher.core.phrase import HOUR

WEEK_HOURS = 168
BINS = 48
BIN_OF = tuple((24 if hour >= 120 else 0) + hour % 24 for hour in range(WEEK_HOURS))
EPOCH_HOUR = 72
"""Unix time began on a Thursday: this many hours into the week."""

LONGEST_GAP = 12 * HOUR
"""Seconds. A change found after a longer gap does not say in which hours it happened."""

SHRINK = 10.0
"""How many changes it takes to believe a page's own hours as much as its host's."""

KEPT_HOURS = 16.0 * WEEK_HOURS
"""Hours of exposure at which everything older comes to weigh half."""

SCALE = 256.0
LAYOUT = struct.Struct(f"<{2 * BINS}H")
FLAT: Sequence[float] = (1.0,) * BINS

Sums = Sequence[float]
"""Changes seen per bin, then hours of exposure per bin."""


def hour_of_week(at: float) -> int:
    """The hour of ``at`` (unix seconds) in its week, Monday 00:00 UTC being 0."""
    return (int(at // HOUR) + EPOCH_HOUR) % WEEK_HOURS


def unpacked(packed: bytes) -> list[float]:
    """The sums held in ``packed``."""
    return [count / SCALE for count in LAYOUT.unpack(packed)] if packed else [0.0] * (2 * BINS)


def packed(sums: Sums) -> bytes:
    """``sums`` in 192 bytes, because they are journaled with each check; to 1/256, below 256 a bin."""
    return LAYOUT.pack(*[min(int(total * SCALE + 0.5), 65_535) for total in sums])


def learned(
    known: bytes, *, at: float, gap: float, changed: bool, exact_at: float | None = None, base: Sums = FLAT
) -> bytes:
    """``known`` and one more check, ``gap`` seconds after the one before.

    A change counts in the hour of ``exact_at``, else in the hours of the gap, in the shares in which the shape
    known so far expects it there.
    """
    sums = unpacked(known)
    first = hour_of_week(at - gap)
    bins = [BIN_OF[(first + n) % WEEK_HOURS] for n in range(max(math.ceil(gap / HOUR), 1))]
    if exact_at is not None:
        sums[BIN_OF[hour_of_week(exact_at)]] += 1
    elif changed:
        shape = shape_of(sums, base)
        total = sum([shape[place] for place in bins])
        for place in bins:
            sums[place] += shape[place] / total
    exposure = gap / HOUR / len(bins)
    for place in bins:
        sums[BINS + place] += exposure
    if sum(sums[BINS:]) > KEPT_HOURS:
        sums = [part / 2 for part in sums]
    return packed(sums)


def shape_of(sums: Sums, base: Sums = FLAT) -> Sums:
    """How much richer in changes than the average each bin is, shrunk towards ``base``; its mean over a week is 1."""
    exposure = sum(sums[BINS:])
    if not exposure:
        return base
    flat = sum(sums[:BINS]) / exposure
    prior = SHRINK / BINS
    raw = [(sums[n] + prior * base[n]) / (flat * sums[BINS + n] + prior) for n in range(BINS)]
    mean = (5 * sum(raw[:24]) + 2 * sum(raw[24:])) / WEEK_HOURS
    return [part / mean for part in raw]


def busiest(shape: Sums, hours: int = 4) -> tuple[int, int, float]:
    """The ``hours`` in a row of a weekday that hold most of its changes: first hour, hour after the last, their share.

    SCHEDULE section 5 shows them where they hold more than half.
    """
    day = shape[:24]
    total = sum(day)
    starts = [sum([day[(start + n) % 24] for n in range(hours)]) for start in range(24)]
    best = max(range(24), key=starts.__getitem__)
    return best, (best + hours) % 24, starts[best] / total if total else 0.0
