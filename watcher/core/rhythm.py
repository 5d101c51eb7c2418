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

SCALE = 256
FULL = 65_535
KEPT = 16 * WEEK_HOURS * SCALE
"""Exposure (16 weeks) at which everything older comes to weigh half."""

LAYOUT = struct.Struct(f"<{2 * BINS}H")
"""192 bytes, because they are journaled with each check."""

FLAT: Sequence[float] = (1.0,) * BINS

Sums = Sequence[float]
"""Changes seen per bin, then hours of exposure per bin, each in units of 1/256; or one number a bin (a shape)."""

NOTHING = (0,) * (2 * BINS)


def hour_of_week(at: float) -> int:
    """The hour of ``at`` (unix seconds) in its week, Monday 00:00 UTC being 0."""
    return (int(at // HOUR) + EPOCH_HOUR) % WEEK_HOURS


def unpacked(packed: bytes) -> Sequence[int]:
    """The sums held in ``packed``."""
    return LAYOUT.unpack(packed) if packed else NOTHING


def learned(
    known: bytes, *, at: float, gap: float, changed: bool, exact_at: float | None = None, base: Sums = FLAT
) -> bytes:
    """``known`` and one more check, ``gap`` seconds after the one before.

    A change counts in the hour of ``exact_at``, else in the hours of the gap, in the shares in which the shape
    known so far expects it there.
    """
    sums = list(unpacked(known))
    first = hour_of_week(at - gap)
    bins = [BIN_OF[(first + n) % WEEK_HOURS] for n in range(max(math.ceil(gap / HOUR), 1))]
    if exact_at is not None:
        sums[BIN_OF[hour_of_week(exact_at)]] += SCALE
    elif changed:
        shape = shape_of(sums, base)
        unit = SCALE / (sum([shape[place] for place in bins]) or 1.0)
        for place in bins:
            sums[place] += round(shape[place] * unit)
    exposure = round(gap / HOUR / len(bins) * SCALE)
    for place in bins:
        sums[BINS + place] += exposure
    if sum(sums[BINS:]) > KEPT or max(sums) > FULL:
        sums = [part // 2 for part in sums]
    return LAYOUT.pack(*sums)


def shape_of(sums: Sums, base: Sums = FLAT) -> Sums:
    """How much richer in changes than the average each bin is, shrunk towards ``base``; its mean over a week is 1."""
    exposure = sum(sums[BINS:])
    if not exposure:
        return base
    flat = sum(sums[:BINS]) / exposure
    prior = SHRINK / BINS * SCALE
    raw = [(sums[n] + prior * base[n]) / (flat * sums[BINS + n] + prior) for n in range(BINS)]
    mean = (5 * sum(raw[:24]) + 2 * sum(raw[24:])) / WEEK_HOURS
    return [part / mean for part in raw]


def busiest(shape: Sums, hours: int = 4) -> tuple[int, int, float]:
    """The ``hours`` in a row of a weekday that hold most of its changes: first hour, hour after the last, their share.

    SCHEDULE section 5 shows them where they hold more than half.
    """
    day = [*shape[:24], *shape[: hours - 1]]
    starts = [sum(day[start : start + hours]) for start in range(24)]
    most = max(starts)
    best = starts.index(most)
    total = sum(shape[:24])
    return best, (best + hours) % 24, most / total if total else 0.0
