"""The four numbers (SCHEDULE section 0), each over any window, per host, page type, tag and in all.

*bytes saved*, *downstream saved*, *requests saved* and *freshness*: what the three layers spare, and what that costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from statistics import median
from urllib.parse import urlsplit

import msgspec

from watcher.core.history import Check
from watcher.core.model import Outcome, Watch
from watcher.core.phrase import DAY

BODIES = (Outcome.FIRST, Outcome.UNCHANGED, Outcome.CHANGED, Outcome.RETURNED)
CHANGES = (Outcome.CHANGED, Outcome.RETURNED)
REMOVED = "(removed)"
"""The page type of checks whose watch is no longer configured."""


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """The four numbers of one group of watches over one window, and the counts they are made of.

    Shares are of one and None where there is nothing to share; times are seconds. ``expected`` is the
    counterfactual of ``requests_saved``: the checks that every watch's seed interval would have made.
    ``freshness`` is the median age of the last observation of the pages that did change. ``delay`` is the median
    time from a change to its detection where Last-Modified tells (``delays`` times), ``delay_bound`` the median
    gap it lies in where nothing does (``bounds`` times). ``due`` of ``watches`` are due now, where the caller knows.
    """

    watches: int
    watch_days: float
    checks: int
    not_modified: int
    bodies: int
    unchanged: int
    changes: int
    failures: int
    bytes_wire: int
    expected: float
    freshness: float | None
    delay: float | None
    delays: int
    delay_bound: float | None
    bounds: int
    due: int | None = None

    @property
    def bytes_saved(self) -> float | None:
        """The share of fetches answered 304."""
        return _share(self.not_modified, self.not_modified + self.bodies)

    @property
    def downstream_saved(self) -> float | None:
        """The share of transferred bodies whose fingerprint was unchanged."""
        return _share(self.unchanged, self.bodies)

    @property
    def requests_saved(self) -> float | None:
        """One less the checks made for each that the seed intervals would have made; negative where more were."""
        return 1 - self.checks / self.expected if self.expected else None

    @property
    def validated(self) -> float | None:
        """The share of the answers about unchanged pages that needed no body: how well the hosts' validators work."""
        return _share(self.not_modified, self.not_modified + self.unchanged)

    @property
    def counterfactual(self) -> str:
        """What ``requests_saved`` is measured against, in one sentence."""
        checks = "1 check" if self.checks == 1 else f"{self.checks:,} checks"
        watches, whose = f"{self.watches:,} watches", "their seed intervals"
        if self.watches == 1:
            watches, whose = "1 watch", "its seed interval"
        return f"{checks} of {watches}, where {whose} would have made {self.expected:,.0f}"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers from ``start`` to ``end`` (unix seconds), in all and by group."""

    start: float
    end: float
    total: Numbers
    by_host: dict[str, Numbers]
    by_type: dict[str, Numbers]
    by_tag: dict[str, Numbers]


class _Tally:
    """One watch's checks in a window, counted."""

    def __init__(self, check: Check, start: float) -> None:
        self.first = check.outcome is Outcome.FIRST
        self.since = check.at if self.first else start
        self.checks = self.not_modified = self.bodies = self.unchanged = self.changes = self.failures = 0
        self.bytes_wire = 0
        self.seen_at = check.at
        self.delays: list[float] = []
        self.bounds: list[float] = []

    def add(self, check: Check) -> None:
        outcome = check.outcome
        self.checks += _was_asked(check)
        self.bytes_wire += check.bytes_wire
        self.failures += outcome in (Outcome.ERROR, Outcome.BLOCKED)
        self.not_modified += outcome is Outcome.NOT_MODIFIED
        self.unchanged += outcome is Outcome.UNCHANGED
        self.bodies += outcome in BODIES
        if outcome is Outcome.NOT_MODIFIED or outcome in BODIES:
            self.seen_at = check.at
        if outcome in CHANGES:
            self.changes += 1
            self._time(check)

    def _time(self, check: Check) -> None:
        """A change lies between two checks; Last-Modified says where, if it names an instant between them."""
        if check.gap is None:
            return
        modified = check.modified_at
        if modified is not None and check.at - check.gap < modified <= check.at:
            self.delays.append(check.at - modified)
        else:
            self.bounds.append(check.gap)


def measure(
    checks: Iterable[Check],
    watches: Mapping[str, Watch],
    *,
    start: float,
    end: float,
    due: Iterable[str] | None = None,
) -> Report:
    """Count ``checks`` (any order) that lie in the window from ``start`` to ``end``.

    ``watches`` by name give types, tags and seed intervals; ``due`` names those that are due at ``end``. Silent
    checks (re-extraction runs, redefinitions) count nowhere.
    """
    tallies: dict[str, _Tally] = {}
    hosts: dict[str, str] = {}
    for check in checks:
        if check.silent or not start <= check.at <= end:
            continue
        tally = tallies.get(check.name)
        if tally is None:
            tally = tallies[check.name] = _Tally(check, start)
            hosts[check.name] = urlsplit(check.url).hostname or check.url
        tally.add(check)
    waiting = None if due is None else frozenset(due)

    def numbers(names: Iterable[str]) -> Numbers:
        return _numbers({name: tallies[name] for name in names}, watches, end, waiting)

    def grouped(keys: Callable[[str], Iterable[str]]) -> dict[str, Numbers]:
        groups: dict[str, list[str]] = {}
        for name in tallies:
            for key in keys(name):
                groups.setdefault(key, []).append(name)
        return {key: numbers(names) for key, names in sorted(groups.items())}

    return Report(
        start=start,
        end=end,
        total=numbers(tallies),
        by_host=grouped(lambda name: (hosts[name],)),
        by_type=grouped(lambda name: (watches[name].type if name in watches else REMOVED,)),
        by_tag=grouped(lambda name: dict.fromkeys(watches[name].tags) if name in watches else ()),
    )


def trend(
    checks: Iterable[Check], watches: Mapping[str, Watch], *, start: float, end: float, buckets: int
) -> list[Numbers]:
    """The numbers of all watches over ``buckets`` equal parts of the window, oldest first."""
    width = (end - start) / buckets
    parts: list[list[Check]] = [[] for _ in range(buckets)]
    for check in checks:
        if start <= check.at <= end:
            parts[min(int((check.at - start) / width), buckets - 1)].append(check)
    return [
        measure(part, watches, start=start + n * width, end=start + (n + 1) * width).total
        for n, part in enumerate(parts)
    ]


def _numbers(
    tallies: Mapping[str, _Tally], watches: Mapping[str, Watch], end: float, due: frozenset[str] | None
) -> Numbers:
    every = list(tallies.values())
    ages = [end - tally.seen_at for tally in every if tally.changes]
    delays = [delay for tally in every for delay in tally.delays]
    bounds = [bound for tally in every for bound in tally.bounds]
    expected = 0.0
    for name, tally in tallies.items():
        if (watch := watches.get(name)) is not None:
            # The look that began it all would have been made in any case.
            expected += tally.first + (end - tally.since) / (watch.cadence.interval * watch.cadence.weight)
        else:
            expected += tally.checks
    return Numbers(
        watches=len(every),
        watch_days=sum(end - tally.since for tally in every) / DAY,
        checks=sum(tally.checks for tally in every),
        not_modified=sum(tally.not_modified for tally in every),
        bodies=sum(tally.bodies for tally in every),
        unchanged=sum(tally.unchanged for tally in every),
        changes=sum(tally.changes for tally in every),
        failures=sum(tally.failures for tally in every),
        bytes_wire=sum(tally.bytes_wire for tally in every),
        expected=expected,
        freshness=median(ages) if ages else None,
        delay=median(delays) if delays else None,
        delays=len(delays),
        delay_bound=median(bounds) if bounds else None,
        bounds=len(bounds),
        due=None if due is None else sum(name in due for name in tallies),
    )


def _was_asked(check: Check) -> bool:
    """Whether the page itself was asked for: a hold or a refusal by robots.txt sends nothing."""
    return bool(check.status) or check.outcome not in (Outcome.DEFERRED, Outcome.BLOCKED)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
