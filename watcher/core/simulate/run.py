"""Run policies over pages at one request budget, so that their staleness can be compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from watcher.core.model import Cadence, Policy
from watcher.core.phrase import DAY, HOUR
from watcher.core.simulate.bounds import clairvoyant, oracle, periodic
from watcher.core.simulate.budget import replay_budgeted
from watcher.core.simulate.measure import Measured, Outcome, judge, summed
from watcher.core.simulate.replay import replay
from watcher.core.simulate.traces import Page

SEEDS: Mapping[str, float] = {"index": 6 * HOUR, "listing": DAY, "detail": 3 * DAY, "archive": 30 * DAY}
"""The page types' seed intervals (SCHEDULE section 0)."""

POLICIES = ("fixed", "adaptive", "estimated", "oracle", "clairvoyant")
LEAST = 900.0
TOLERANCE = 0.01
"""Budgets this close together count as equal: two runs at nearly the same price differ by as much."""

SAMPLE = 5
"""A price is first sought on every so-manieth page."""

NEAR = 0.05
"""A sample this close to the budget has said what it can."""

TRIES = 5
SLOPE = -1.8
"""How the logarithm of the price moves with that of the requests, about."""

PRICES = ((0.25, 8.3), (0.5, 2.75), (1.0, 0.6), (2.0, 0.13), (4.0, 0.034))
"""Checks a page and day, and about the price in hours that leads there: where the search begins."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of work for one process: one cadence over some hosts' pages (numbers into the list of hosts)."""

    cadence: Cadence
    hosts: tuple[int, ...]
    seeds: Mapping[str, float]
    every: int = 1
    seed: int = 0


Map = Callable[[Sequence[Job]], Iterable[list[Outcome]]]
"""Runs jobs, one process or many, and yields each one's outcomes."""

Progress = Callable[[str, float], None]
"""Told what is being run and how far it is (0 to 1)."""


def by_host(pages: Iterable[Page]) -> list[list[Page]]:
    """The pages of each host together, the biggest host first."""
    hosts: dict[str, list[Page]] = {}
    for page in pages:
        hosts.setdefault(page.host, []).append(page)
    return sorted(hosts.values(), key=len, reverse=True)


def work(hosts: Sequence[Sequence[Page]], job: Job) -> list[Outcome]:
    """Do ``job``: replay its pages and judge the checks."""
    outcomes: list[Outcome] = []
    for number in job.hosts:
        # One page of a small host in so many: a phase of its own keeps the sample in proportion.
        pages = hosts[number][number % job.every :: job.every]
        checks = replay(pages, job.cadence, job.seeds, job.seed)
        outcomes.extend(judge(page, times) for page, times in zip(pages, checks, strict=True))
    return outcomes


class Simulation:
    """The pages, the budget (checks a page and day) and what everything is measured against."""

    def __init__(
        self,
        pages: Sequence[Page],
        checks_per_day: float,
        *,
        rhythm: bool = True,
        seed: int = 0,
        seeds: Mapping[str, float] = SEEDS,
        run_jobs: Map | None = None,
        progress: Progress = lambda what, share: None,
    ) -> None:
        """``run_jobs`` spreads the work over processes that know ``hosts``; without it this process does it."""
        self.hosts = by_host(pages)
        self._pages = [page for host in self.hosts for page in host]
        self._budget = checks_per_day
        self._rhythm = rhythm
        self._seed = seed
        self._seeds = dict(seeds)
        self._run_jobs: Map = run_jobs or (lambda jobs: (work(self.hosts, job) for job in jobs))
        self._progress = progress
        self._oracle = self._judged("oracle", oracle(self._pages, checks_per_day, seed))

    def run(self, policy: str) -> Measured:
        """One policy's result. Raises ValueError for a policy there is not."""
        self._progress(policy, 0.0)
        if policy == "oracle":
            found = self._oracle
        elif policy == "clairvoyant":
            found = self._judged(policy, clairvoyant(self._pages, self._budget))
        elif policy == "fixed":
            found = self._judged(policy, [periodic(page, DAY / self._budget, self._seed) for page in self._pages])
        elif policy == "adaptive":
            cadence = Cadence(policy=Policy.ADAPTIVE)
            found = self._judged(policy, replay_budgeted(self._pages, cadence, self._seeds, self._budget, self._seed))
        elif policy == "estimated":
            found = self._estimated()
        else:
            raise ValueError(f'"{policy}" is no policy; there are {", ".join(POLICIES)}')
        self._progress(policy, 1.0)
        return found

    def _judged(self, policy: str, checks: Sequence[Sequence[float]]) -> Measured:
        outcomes = [judge(page, times) for page, times in zip(self._pages, checks, strict=True)]
        return self._compared(policy, outcomes)

    def _compared(self, policy: str, outcomes: Iterable[Outcome]) -> Measured:
        found = summed(policy, outcomes)
        reference = found.stale if policy == "oracle" else self._oracle.stale
        return msgspec.structs.replace(found, stale_ratio_to_oracle=found.stale / reference if reference else None)

    def _estimated(self) -> Measured:
        """The price at which the pages ask for just the budget: sought on a sample, then on all of them."""
        every = SAMPLE if len(self._pages) >= 40 * SAMPLE else 1
        price, slope = _first_price(self._budget), SLOPE
        before: tuple[float, float] | None = None
        best: tuple[float, Measured] | None = None
        for attempt in range(TRIES):
            found = self._priced(price, every)
            off = math.log(max(found.checks_per_page_day, 1e-9) / self._budget)
            if before is not None and abs(off - before[1]) > 0.02:
                slope = min(max((math.log(price) - before[0]) / (off - before[1]), 2 * SLOPE), SLOPE / 2)
            if every == 1 and (best is None or abs(off) < best[0]):
                best = abs(off), found
            before = math.log(price), off
            if every == 1 and abs(off) <= TOLERANCE:
                break
            if every > 1 and (abs(off) <= NEAR or attempt == 1):
                every, before = 1, None
            price *= math.exp(-off * slope)
        assert best is not None  # the last tries are on all pages
        return best[1]

    def _priced(self, price: float, every: int) -> Measured:
        cadence = Cadence(
            policy=Policy.ESTIMATED, minimum=LEAST, maximum=30 * DAY, price=price * HOUR, rhythm=self._rhythm
        )
        jobs = [
            Job(cadence=cadence, hosts=(number,), seeds=self._seeds, every=every, seed=self._seed)
            for number in range(len(self.hosts))
        ]
        outcomes: list[Outcome] = []
        total = len(self._pages) // every
        for part in self._run_jobs(jobs):
            outcomes.extend(part)
            self._progress(f"estimated, price {price:.2g} h", min(len(outcomes) / max(total, 1), 1.0))
        return self._compared("estimated", outcomes)


def _first_price(budget: float) -> float:
    """Between the known prices, on straight lines in logarithms, and beyond them as the last line goes."""
    points = [(math.log(rate), math.log(price)) for rate, price in PRICES]
    x = math.log(budget)
    place = min(max(sum(x > at for at, _ in points), 1), len(points) - 1)
    (x0, y0), (x1, y1) = points[place - 1], points[place]
    return math.exp(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
