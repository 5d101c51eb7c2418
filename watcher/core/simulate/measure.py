"""What a schedule of checks was worth: staleness, delays and captures of one page, and of all of them together."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from watcher.core.phrase import DAY, HOUR
from watcher.core.simulate.traces import Page

LAST_DELAYS = 14 * DAY
"""Changes of the last two weeks are left out of the delays: their detection may lie beyond the window."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One page's part: checks and changes found after the warm-up, share of time stale, seconds to notice each change.

    ``longest_gap`` (seconds) is the longest time the page went unchecked.
    """

    checks: int
    found: int
    days: float
    stale: float
    delays: tuple[float, ...]
    captured: int
    longest_gap: float


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A policy's result, as ``watcher simulate --json`` prints it; ``stale`` and ``captured`` are shares of one."""

    policy: str
    checks_per_page_day: float
    stale: float
    stale_ratio_to_oracle: float | None
    delay_p50_h: float | None
    delay_p90_h: float | None
    captured: float | None
    hits: float | None = None
    pages: int = 0
    longest_gap_d: float = 0.0


def judge(page: Page, checks: Sequence[float]) -> Outcome:
    """Hold ``checks`` (sorted instants, the first look included) against what ``page`` really did."""
    warm, end, changes = page.warm_until, page.end, page.changes
    stale, found, captured = 0.0, 0, 0
    delays: list[float] = []
    detected_before = -1.0
    for number, change in enumerate(changes):
        place = bisect_left(checks, change)
        detected = checks[place] if place < len(checks) else end
        if detected != detected_before:
            stale += max(0.0, detected - max(change, warm))
            found += place < len(checks) and detected >= warm
            detected_before = detected
        if warm <= change < end - LAST_DELAYS:
            delays.append(detected - change)
            overwritten = changes[number + 1] if number + 1 < len(changes) else end + 1
            captured += place < len(checks) and detected < overwritten
    gaps = [b - a for a, b in pairwise((*checks, end))]
    return Outcome(
        checks=len(checks) - bisect_left(checks, warm),
        found=found,
        days=(end - warm) / DAY,
        stale=stale / (end - warm),
        delays=tuple(delays),
        captured=captured,
        longest_gap=max(gaps, default=end - page.start),
    )


def summed(policy: str, outcomes: Iterable[Outcome], oracle_stale: float | None = None) -> Measured:
    """All pages together, each weighing the same (SCHEDULE section 3)."""
    parts = list(outcomes)
    checks = sum(part.checks for part in parts)
    stale = sum(part.stale for part in parts) / len(parts)
    moved = [part for part in parts if part.delays]
    weighted = sorted((delay, 1 / len(part.delays)) for part in moved for delay in part.delays)
    return Measured(
        policy=policy,
        checks_per_page_day=checks / sum(part.days for part in parts),
        stale=stale,
        stale_ratio_to_oracle=stale / oracle_stale if oracle_stale else None,
        delay_p50_h=_quantile(weighted, 0.5),
        delay_p90_h=_quantile(weighted, 0.9),
        captured=sum(part.captured / len(part.delays) for part in moved) / len(moved) if moved else None,
        hits=sum(part.found for part in parts) / checks if checks else None,
        pages=len(parts),
        longest_gap_d=max(part.longest_gap for part in parts) / DAY,
    )


def _quantile(weighted: Sequence[tuple[float, float]], share: float) -> float | None:
    """The weighted quantile in hours, interpolated between the middles of the weights."""
    if not weighted:
        return None
    goal = share * sum(weight for _, weight in weighted)
    passed = 0.0
    before: tuple[float, float] | None = None
    for delay, weight in weighted:
        middle = passed + weight / 2
        if middle >= goal:
            if before is None:
                return delay / HOUR
            at, low = before
            return (low + (delay - low) * (goal - at) / (middle - at)) / HOUR
        before = middle, delay
        passed += weight
    return weighted[-1][0] / HOUR
