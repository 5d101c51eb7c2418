"""The week's rhythm of a page: in which hours its changes fall, and when a check is best made because of it.

48 bins: the 24 hours of a weekday and those of a weekend day, in UTC. SCHEDULE sections 2 and 5.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

HOUR = 3_600.0
WEEK_HOURS = 168
BINS = 48
WEIGHTS = (5.0,) * 24 + (2.0,) * 24
"""How many hours of a week fall into each bin."""

BIN_OF = tuple((24 if hour >= 120 else 0) + hour % 24 for hour in range(WEEK_HOURS))
EPOCH_HOUR = 72
"""Unix time began on a Thursday: this many hours into the week."""

LONGEST_GAP = 12 * HOUR
"""A change found after a longer gap does not say when it happened."""

SHRINK = 10.0
"""How many changes it takes to believe a page's own hours as much as its host's."""

KEPT_HOURS = 16.0 * WEEK_HOURS
"""Hours of exposure after which everything older weighs half."""

SCALE = 256.0
LAYOUT = struct.Struct("<96H")

FLAT = (1.0,) * BINS


def hour_of_week(at: float) -> int:
    """The hour of ``at`` (unix seconds) in its week, Monday 00:00 UTC being 0."""
    return (int(at // HOUR) + EPOCH_HOUR) % WEEK_HOURS


def unpacked(packed: bytes) -> list[float]:
    """Changes per bin, then hours of exposure per bin."""
    return [count / SCALE for count in LAYOUT.unpack(packed)] if packed else [0.0] * (2 * BINS)


def packed(sums: Sequence[float]) -> bytes:
    """``sums`` in 192 bytes, because they are journaled with each check; to 1/256, at most 256 a bin."""
    return LAYOUT.pack(*[min(int(total * SCALE + 0.5), 65_535) for total in sums])


def learned(sums: list[float], *, at: float, gap: float, changed: bool, shape: Sequence[float]) -> list[float]:
    """``sums`` and one more check: a change counts in the hours since the last one, as ``shape`` expects it there."""
    hours = math.ceil(gap / HOUR)
    first = hour_of_week(at - gap)
    bins = [BIN_OF[(first + n) % WEEK_HOURS] for n in range(max(hours, 1))]
    sums = list(sums)
    exposure = gap / HOUR / len(bins)
    for place in bins:
        sums[BINS + place] += exposure
    if changed:
        total = sum(shape[place] for place in bins)
        for place in bins:
            sums[place] += shape[place] / total
    if sum(sums[BINS:]) > KEPT_HOURS:
        sums = [part / 2 for part in sums]
    return sums


def shape_of(sums: Sequence[float], base: Sequence[float] = FLAT) -> list[float]:
    """How much richer in changes than the average each bin is, shrunk towards ``base``; its mean over a week is 1."""
    total, exposure = sum(sums[:BINS]), sum(sums[BINS:])
    if not exposure:
        return list(base)
    flat = total / exposure
    prior = SHRINK / BINS
    raw = [
        (count + prior * known) / (flat * hours + prior)
        for count, hours, known in zip(sums[:BINS], sums[BINS:], base, strict=True)
    ]
    mean = sum(part * weight for part, weight in zip(raw, WEIGHTS, strict=True)) / WEEK_HOURS
    return [part / mean for part in raw]


def wait_with_rhythm(
    rate: float, shape: Sequence[float], price: float, usual: float, *, at: float, least: float, most: float
) -> tuple[float, float]:
    """Hours from ``at`` until a check is best made, and the hours of fresh copy it then buys.

    ``rate`` changes an hour on average, ``price`` the least value in hours, ``usual`` the usual gap in hours,
    between ``least`` and ``most``. Value as in :mod:`watcher.core.estimate`, with the rate of each hour; a check
    waits while the coming hour is richer than what is already there to be found ("wait for the rush to pass").
    """
    hour = hour_of_week(at)
    waited = 0.0
    step = 1 - at / HOUR % 1
    unseen = stale = 0.0
    while waited < most:
        hazard = rate * shape[BIN_OF[hour]]
        coming = hazard * usual
        mass = unseen + hazard * step
        end = waited + step
        chance = -math.expm1(-mass)
        stale_then = stale - math.expm1(-(unseen + hazard * step / 2)) * step
        bought = end * chance - stale_then
        if end >= least:
            now = -math.expm1(-unseen)
            held = min(1.0, (now + 1e-12) / coming) if coming > 0 else 1.0
            before = (waited * now - stale) * held
            if before >= price and waited >= least:
                return waited, before
            held = min(1.0, (chance + 1e-12) / coming) if coming > 0 else 1.0
            after = bought * held
            if after >= price:
                share = (price - before) / (after - before) if after > before else 1.0
                return max(waited + max(share, 0.0) * step, least), price
        unseen, stale, waited = mass, stale_then, end
        step = 1.0
        hour = (hour + 1) % WEEK_HOURS
    return most, waited * -math.expm1(-unseen) - stale
