"""Checks counted for the numbers screen: over time and by hour of the week; and policies tried on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import msgspec

from watcher.core.history import Check
from watcher.core.model import Cadence, Outcome, Policy, Watch
from watcher.core.simulate.measure import Measured, judge, summed
from watcher.core.simulate.measure import Outcome as Replayed
from watcher.core.simulate.replay import replay
from watcher.core.simulate.traces import Page
from watcher.tui.graphs import HeatMap

BINS = 48
"""Bars of the graphs over time."""
SAMPLE = 20_000
"""Latencies kept for the percentiles."""
SHORTEST = 86_400.0
"""Seconds of history below which a page says nothing about policies."""
CHANGES = (Outcome.CHANGED, Outcome.RETURNED)
FAILURES = (Outcome.ERROR, Outcome.BLOCKED)


@dataclass
class Tally:
    """What the numbers screen draws of the checks from ``start`` to ``end``, beside :mod:`watcher.core.metrics`.

    ``kept`` are the checks without their exchanges, for the metrics to be taken of.
    """

    start: float
    end: float
    kept: list[Check] = field(default_factory=list)
    changes: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    heat: HeatMap = field(default_factory=HeatMap)
    latencies: list[float] = field(default_factory=list)
    checks_over_time: Counter[int] = field(default_factory=Counter)
    changes_over_time: Counter[int] = field(default_factory=Counter)

    @property
    def width(self) -> float:
        """Seconds of one bar over time."""
        return max(1.0, (self.end - self.start) / BINS)

    def add(self, check: Check) -> None:
        """Count one check; silent ones count nowhere."""
        if check.silent:
            return
        self.kept.append(msgspec.structs.replace(check, exchanges=()))
        index = min(BINS - 1, max(0, int((check.at - self.start) / self.width)))
        self.checks_over_time[index] += 1
        self.failures[check.name] += check.outcome in FAILURES
        if check.outcome in CHANGES:
            self.changes[check.name] += 1
            self.changes_over_time[index] += 1
            self.heat.add(check.at)
        if check.exchanges and len(self.latencies) < SAMPLE:
            self.latencies.append(sum(exchange.total for exchange in check.exchanges))

    def over_time(self, counts: Counter[int]) -> list[float]:
        """The bars of ``counts``."""
        return [float(counts[index]) for index in range(BINS)]

    def percentile(self, share: float) -> float | None:
        """A percentile of the latencies, in seconds."""
        if not self.latencies:
            return None
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def page_of(watch: Watch, checks: Sequence[Check], end: float) -> Page | None:
    """The history of one watch as a page that policies can be replayed on; None where it is too short.

    A change counts at the instant the server named (Last-Modified), where it lies between two checks, else when it
    was found: what happened unseen between two checks is unknown to every replay.
    """
    real = [check for check in checks if not check.silent]
    if not real or end - real[0].at < SHORTEST:
        return None
    start = real[0].at
    changes = tuple(sorted(_moment(check) for check in real[1:] if check.outcome in CHANGES))
    return Page(
        key=watch.name,
        host=urlsplit(watch.url).hostname or watch.url,
        type=watch.type,
        start=start,
        end=end,
        warm_until=start,
        changes=changes,
        previous=start,
    )


def _moment(check: Check) -> float:
    since = check.at - (check.gap or 0.0)
    return check.modified_at if check.modified_at is not None and since < check.modified_at <= check.at else check.at


POLICIES = (Policy.ADAPTIVE, Policy.ESTIMATED, Policy.FIXED)


class Trial:
    """What every policy would have cost on a history, page by page so that a screen stays alive meanwhile."""

    def __init__(self) -> None:
        self._outcomes: dict[Policy, list[Replayed]] = {policy: [] for policy in POLICIES}
        self.pages = 0

    def add(self, page: Page, cadence: Cadence) -> None:
        """Replay every policy on one page."""
        self.pages += 1
        seeds = {page.type: cadence.interval * cadence.weight}
        for policy in POLICIES:
            own = _under(cadence, policy)
            self._outcomes[policy].append(judge(page, replay([page], own, seeds)[0]))

    def results(self) -> list[Measured]:
        """One line a policy; none when there was nothing to replay."""
        return [summed(policy.value, outcomes) for policy, outcomes in self._outcomes.items() if outcomes]


def _under(cadence: Cadence, policy: Policy) -> Cadence:
    return msgspec.structs.replace(cadence, policy=policy)


def top(counts: Counter[str], most: int) -> list[tuple[str, int]]:
    """The names with the highest counts; those with none are left out."""
    return [(name, count) for name, count in counts.most_common(most) if count]
