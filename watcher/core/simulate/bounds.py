"""What nobody could do better: the oracle, who knows every page's true mean rate, and the clairvoyant."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from watcher.core.estimate import wait_for
from watcher.core.phrase import DAY, HOUR
from watcher.core.simulate.traces import Page, chance

SHORTEST = 900.0


def oracle(pages: Sequence[Page], checks_per_day: float, seed: int = 0) -> list[list[float]]:
    """Periodic checks at the optimal rates for the true mean rates (Cho & Garcia-Molina, TODS 2003)."""
    rates = [len(page.changes) / (page.end - page.start) * HOUR for page in pages]
    goal = checks_per_day * len(pages) / 24
    low, high = 1e-9, 1e6
    for _ in range(70):
        price = (low * high) ** 0.5
        if sum(1 / wait_for(rate, price) for rate in rates if rate) > goal:
            low = price
        else:
            high = price
    waits = [max(wait_for(rate, high) * HOUR, SHORTEST) if rate else float("inf") for rate in rates]
    return [periodic(page, wait, seed) for page, wait in zip(pages, waits, strict=True)]


def periodic(page: Page, interval: float, seed: int = 0) -> list[float]:
    """A look at the start, then one every ``interval`` seconds from a phase of the page's own."""
    checks = [page.start]
    at = page.start + chance(f"phase{seed}/{page.key}") * interval
    while at < page.end:
        if at > page.start:
            checks.append(at)
        at += interval
    return checks


def clairvoyant(pages: Sequence[Page], checks_per_day: float) -> list[list[float]]:
    """A check right after each of the changes that stand longest: the optimum for who knows the future."""
    gaps: list[tuple[float, int, float]] = []
    for number, page in enumerate(pages):
        for change, following in pairwise((*page.changes, page.end)):
            lasts = max(following, page.warm_until) - max(change, page.warm_until)
            gaps.append((lasts, number, change))
    days = sum(page.end - page.warm_until for page in pages) / DAY
    gaps.sort(reverse=True)
    checks = [[page.start] for page in pages]
    for lasts, number, change in gaps[: int(checks_per_day * days)]:
        if lasts > 0:
            checks[number].append(change)
    return [sorted(times) for times in checks]
