"""The best moment for the next check of a page that has a rhythm.

With a rate that varies over the week the value of a check (:mod:`watcher.core.estimate`) is not enough: a check just
before the busy hours buys a copy that is soon stale, one just after them a copy that lasts. So the next checks are
chosen together, to make the hours of stale copy plus the price of every check least: the shortest path through the
coming hours. The cost of a gap from a to b is ``price + (b - a) - fresh(a, b)`` with
``fresh = e^M(a) (E(b) - E(a))``, M the changes expected so far and E the integral of e^-M. For each a that is a
minimum over lines in ``e^M(a)``, whose lower envelope grows in order: the whole search is linear in the hours.
"""

from __future__ import annotations

import math

from watcher.core.estimate import wait_for
from watcher.core.phrase import HOUR
from watcher.core.rhythm import BIN_OF, WEEK_HOURS, Sums, hour_of_week

QUICK = 4.0
"""Hours. Pages usually checked more often than this are timed to the quarter of an hour, others to the hour."""

SHORT_SIGHT, LONG_SIGHT = 6.0, 48.0
"""Hours looked ahead at least, by the quarter hour and by the hour."""

LONGEST_SIGHT = 720.0
QUICK_GAPS, SLOW_GAPS = 6.0, 4.0
"""How many usual gaps are looked ahead: what lies further off hardly moves the next check."""

MASS_AHEAD = 12.0
"""Expected changes looked ahead at most; far beyond, e^-M would be lost in the rounding of E."""


def best_wait(rate: float, shape: Sums, price: float, at: float, least: float = 0.25) -> float:
    """Hours from ``at`` (unix seconds) to the next check; infinite where none is worth its price.

    ``rate`` in changes an hour, ``price`` in hours of fresh copy, ``least`` the shortest gap of use in hours.
    """
    usual = wait_for(rate, price)
    if usual < QUICK and least <= 0.25:
        step, sight = 0.25, max(SHORT_SIGHT, QUICK_GAPS * usual)
    else:
        step, sight = 1.0, max(LONG_SIGHT, min(SLOW_GAPS * usual, LONGEST_SIGHT))
    times, fresh, growth = _ahead(rate, shape, at, step, sight)
    chosen = _shortest_path(times, fresh, growth, price)
    if chosen == len(times) - 1 and usual > times[-1]:
        return usual
    return times[chosen]


def _ahead(
    rate: float, shape: Sums, at: float, step: float, sight: float
) -> tuple[list[float], list[float], list[float]]:
    """The moments a check may fall on (hours from ``at``), E and e^M at each."""
    hour = hour_of_week(at)
    into = at / HOUR % 1
    passed = int(into / step)
    length = (passed + 1) * step - into
    passed += 1
    waited = mass = area = 0.0
    decay = 1.0
    times, fresh, growth = [0.0], [0.0], [1.0]
    per_hour = round(1 / step)
    while waited < sight and mass < MASS_AHEAD:
        more = rate * shape[BIN_OF[hour]] * length
        mass += more
        before, decay = decay, math.exp(-mass)
        area += (before - decay) / more * length if more > 1e-9 else before * length
        waited += length
        times.append(waited)
        fresh.append(area)
        growth.append(1 / decay)
        length = step
        if passed == per_hour:
            passed = 0
            hour = (hour + 1) % WEEK_HOURS
        passed += 1
    return times, fresh, growth


def _shortest_path(times: list[float], fresh: list[float], growth: list[float], price: float) -> int:
    """The first stop of the cheapest way from the first moment to the last."""
    last = len(times) - 1
    stops, levels, slopes = [last], [times[last]], [-fresh[last]]
    chosen = last
    for start in range(last - 1, -1, -1):
        z = growth[start]
        place = len(stops) - 1
        cost = levels[place] + slopes[place] * z
        while place:
            other = levels[place - 1] + slopes[place - 1] * z
            if other > cost:
                break
            place, cost = place - 1, other
        chosen = stops[place]
        level, slope = price + z * fresh[start] + cost, -fresh[start]
        while len(stops) > 1 and (level - levels[-2]) * (slopes[-2] - slopes[-1]) >= (levels[-1] - levels[-2]) * (
            slopes[-2] - slope
        ):
            stops.pop()
            levels.pop()
            slopes.pop()
        stops.append(start)
        levels.append(level)
        slopes.append(slope)
    return chosen
