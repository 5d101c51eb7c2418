"""When to ask again. Pure: every policy is a function of the cadence, the interval so far and one observation."""

from __future__ import annotations

import math

import msgspec

from watcher.core.estimate import value, wait_for
from watcher.core.evidence import ALONE, Evidence, Surroundings, has_rhythm, learn
from watcher.core.model import Cadence, Policy
from watcher.core.phrase import HOUR, MINUTE, often, span
from watcher.core.rhythm import busiest, shape_of, unpacked
from watcher.core.timing import best_wait

__all__ = ["LATEST_JITTER", "Evidence", "Plan", "clamp", "plan"]

LATEST_JITTER = 0.1

RHYTHM_PRICE = 2 * HOUR
"""Seconds. Where checks are dearer they are too rare to learn hours from or to gain by them (SCHEDULE section 4)."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The next check: the interval (seconds), when it is due, one sentence why, and the evidence so far."""

    interval: float
    due_at: float
    reason: str
    evidence: Evidence = Evidence()


def clamp(interval: float, cadence: Cadence, floor: float) -> float:
    """Bring ``interval`` (seconds) within the cadence's weighted bounds; ``floor`` (the host's) always wins."""
    low, high = cadence.minimum * cadence.weight, cadence.maximum * cadence.weight
    return max(min(max(interval, low), high), floor)


def plan(
    cadence: Cadence,
    *,
    at: float,
    interval: float,
    evidence: Evidence,
    changed: bool | None,
    gap: float | None,
    modified_at: float | None = None,
    floor: float = 0.0,
    first: bool = False,
    jitter: float = 0.0,
    streak: int = 0,
    around: Surroundings = ALONE,
) -> Plan:
    """The next check after a successful one ``at``, by the cadence's policy.

    ``interval`` is the one that led here and ``gap`` the seconds since the last success; ``changed`` is None
    where the answer teaches nothing. ``floor`` is the host's crawl delay times its watches, ``first`` asks for
    the seed, ``jitter`` (0 to 0.1) makes the check later by that share, ``streak`` counts unchanged checks in
    a row, ``around`` is what the host's other watches suggest. Every policy writes the same evidence.
    Raises :class:`watcher.core.cron.CronError`.
    """
    known = learn(evidence, at=at, gap=gap, changed=changed, modified_at=modified_at, around=around)
    late = 1 + min(max(jitter, 0.0), LATEST_JITTER)
    if cadence.policy is Policy.CRON:
        return _timetable(cadence, at, floor, late, known)
    if cadence.policy is Policy.FIXED:
        steady = max(cadence.interval * cadence.weight, cadence.minimum * cadence.weight, floor)
        reason = _held(floor) if steady == floor > 0 else f"every {span(steady)}, as configured"
        return Plan(interval=steady, due_at=at + steady * late, reason=reason, evidence=known)
    if first:
        seed = clamp(cadence.interval * cadence.weight, cadence, floor)
        chosen, reason = seed, f"first check; the next after the seed interval of {span(seed)}"
    elif cadence.policy is Policy.ESTIMATED:
        chosen, reason = _worth(cadence, known, floor, at, around)
    else:
        chosen, reason = _doubled(cadence, interval, changed, floor, streak)
    due = at + chosen * late
    if due > (latest := at + max(cadence.force_after, floor)):
        due, reason = latest, f"{reason}; checked at least every {span(cadence.force_after)}"
    return Plan(interval=chosen, due_at=due, reason=reason, evidence=known)


def _doubled(cadence: Cadence, interval: float, changed: bool | None, floor: float, streak: int) -> tuple[float, str]:
    """The seed rule: twice as long after an unchanged check, half as long after a change, within the bounds."""
    if changed is None:
        chosen = clamp(interval, cadence, floor)
        return chosen, f"again after {span(chosen)}; the answer taught nothing"
    chosen = clamp(interval / 2 if changed else interval * 2, cadence, floor)
    if chosen == floor > cadence.minimum * cadence.weight:
        return chosen, _held(floor)
    if changed:
        least = span(cadence.minimum * cadence.weight)
        moved = "halved to" if chosen < interval else "stays at"
        return chosen, f"{moved} {span(chosen)} after a change; min {least}"
    since = f"after {streak} unchanged checks" if streak > 1 else "after an unchanged check"
    moved = "doubled to" if chosen > interval else "stays at"
    return chosen, f"{moved} {span(chosen)} {since}; max {span(cadence.maximum * cadence.weight)}"


def _worth(cadence: Cadence, known: Evidence, floor: float, at: float, around: Surroundings) -> tuple[float, str]:
    """Wait until a check buys at least its price in hours of fresh copy; with a rhythm, until the hour for it."""
    price = cadence.price / HOUR
    least = max(cadence.minimum * cadence.weight, floor)
    rate = known.rate_among(around)
    often_so = f"changes {often(rate)}"
    if cadence.rhythm and cadence.price <= RHYTHM_PRICE and has_rhythm(known, at, around):
        shape = shape_of(unpacked(known.rhythm), around.shape)
        # The wait grows as the root of the price, so this is what multiplies it by the weight.
        wait = best_wait(rate, shape, price * cadence.weight**2, at, least / HOUR) * HOUR
        start, end, share = busiest(shape)
        if share > 0.5:
            often_so = f"{often_so}, mostly {start:02}–{end:02} UTC"
    else:
        wait = wait_for(rate, price) * HOUR * cadence.weight
    chosen = max(min(max(wait, least), cadence.maximum * cadence.weight, cadence.force_after), floor)
    if chosen == floor > wait:
        return chosen, _held(floor)
    if math.isinf(wait):
        return chosen, f"{often_so}; a check never buys its price of {span(cadence.price)}, so every {span(chosen)}"
    bought = span(value(rate, chosen / HOUR) * HOUR)
    return chosen, f"{often_so}; a check in {span(chosen)} buys {bought} of fresh copy; price {span(cadence.price)}"


def _timetable(cadence: Cadence, at: float, floor: float, late: float, known: Evidence) -> Plan:
    """The next time of the timetable that the host's floor allows; jitter costs it a minute at most."""
    from watcher.core.cron import next_time  # here, because few need it and it costs every start

    expression = cadence.cron or ""
    due = next_time(expression, at + max(floor - 1, 0.0), cadence.timezone)
    reason = f'next time of "{expression}" in {cadence.timezone or "UTC"}'
    due_at = due + min((due - at) * (late - 1), MINUTE)
    return Plan(interval=due - at, due_at=due_at, reason=reason, evidence=known)


def _held(floor: float) -> str:
    return f"every {span(floor)}: the crawl delay its host asks for, times its watches there"
