"""What a check is worth, and so when to make it (SCHEDULE sections 2 and 5). Rates are per hour, values in hours.

Sources: the index form of Cho & Garcia-Molina's freshness optimum (TODS 28(4), 2003).
"""

from __future__ import annotations

import math

SMALL = 1e-4


def value(rate: float, waited: float) -> float:
    """Hours of up-to-date copy that a check buys at the margin, ``waited`` hours after the last one.

    ``(1 - (1 + x)e^-x) / rate`` with ``x = rate * waited``: rises with ``waited``, never above ``1 / rate``.
    """
    x = rate * waited
    if x < SMALL:
        return x * waited / 2
    return (1 - (1 + x) * math.exp(-x)) / rate


def stale_chance(rate: float, waited: float) -> float:
    """The chance that the page has changed ``waited`` hours after the last check."""
    return -math.expm1(-rate * waited)


def wait_for(rate: float, price: float) -> float:
    """Hours until a check is worth ``price`` hours; infinite where it never is (``rate * price >= 1``)."""
    y = rate * price
    if y >= 1:
        return math.inf
    target = -math.log1p(-y)
    x = math.sqrt(2 * y) + target
    for _ in range(50):
        # Newton on x - ln(1+x) = target, which is convex: from anywhere it comes down on the root.
        step = (x - math.log1p(x) - target) * (1 + x) / x
        x -= step
        if abs(step) < 1e-9 * x:
            break
    return x / rate
