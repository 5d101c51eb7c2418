"""Change traces as pages to replay: one window a page, shifted by whole weeks so that the hour of the week is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from watcher.core.phrase import DAY, HOUR, WEEK

WEEKS = 20
WARM_WEEKS = 4
MONDAY = 4 * DAY
"""1970-01-05, the first Monday of unix time."""

SAME_CHANGE = 72.0
"""Seconds. Several commits inside so short a time are one visible change."""

STRATA = ((0, 0, 250), (1, 2, 400), (3, 9, 400), (10, 49, 400), (50, 199, 400), (200, 10**9, 400))
"""Changes per window (least, most) and how many such windows are taken at most."""

Outages = Mapping[str, Iterable[tuple[float, float]]]


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One page over one window: when it ``changes`` (unix seconds, sorted), and when it last had before ``start``.

    What happens before ``warm_until`` trains the policies and is not measured.
    """

    key: str
    host: str
    type: str
    start: float
    end: float
    warm_until: float
    changes: tuple[float, ...]
    previous: float
    robot: bool = False


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a trace file: a page, its source, and the instants at which it changed."""

    page: str
    type: str
    source: str
    changes: tuple[float, ...]
    start: float
    end: float
    auto: bool = False


def chance(text: str) -> float:
    """A number in [0, 1) that ``text`` always gets: choices that are random and yet repeat."""
    return int(hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12], 16) / 16.0**12


def windows(traces: Iterable[Trace], outages: Outages | None = None, weeks: int = WEEKS) -> list[Page]:
    """A window of ``weeks`` of every trace long enough; up to four disjoint ones of the scarce fast pages."""
    found: list[Page] = []
    for trace in traces:
        found.extend(_windows(trace, list((outages or {}).get(trace.source, ())), weeks * WEEK))
    return found


def _windows(trace: Trace, outages: list[tuple[float, float]], length: float) -> Iterable[Page]:
    room = trace.end - trace.start - length - WEEK
    if room < 0:
        return
    key = f"{trace.source}/{trace.page}"
    lifetime = max(trace.end - trace.start, 1)
    fast = len(trace.changes) / lifetime * length >= 50
    wanted = int(min(4, lifetime // (length + WEEK))) if fast else 1
    used: list[float] = []
    for attempt in range(6 * wanted):
        if len(used) >= wanted:
            return
        start = trace.start + WEEK * (room > WEEK) + int(chance(f"{key}{attempt}") * max(room - WEEK, 0))
        start = start - (start - MONDAY) % WEEK + WEEK
        if start + length > trace.end:
            start -= WEEK
        lost = sum(max(0.0, min(b, start + length) - max(a, start)) for a, b in outages)
        if start < trace.start or lost > 0.1 * length or any(abs(start - other) < length for other in used):
            continue
        used.append(start)
        yield _cut(trace, f"{key}@{start:.0f}", start, start + length)


def _cut(trace: Trace, key: str, start: float, end: float) -> Page:
    changes: list[float] = []
    latest = -SAME_CHANGE
    previous = trace.start
    for at in trace.changes:
        if at <= start:
            previous = at
        elif at < end:
            if not changes or at - latest > SAME_CHANGE:
                changes.append(float(at))
            latest = at
    return Page(
        key=key,
        host=trace.source,
        type=trace.type,
        start=start,
        end=end,
        warm_until=start + (end - start) * WARM_WEEKS / WEEKS,
        changes=tuple(changes),
        previous=float(previous),
        robot=trace.auto,
    )


def stratified(pages: Iterable[Page], *, seed: int = 0) -> list[Page]:
    """``pages`` in a random but repeatable order, with no more of each speed than :data:`STRATA` says."""
    mark = "o" if seed == 0 else f"o{seed}"
    shuffled = sorted(pages, key=lambda page: chance(mark + page.key))
    picked: list[Page] = []
    for least, most, cap in STRATA:
        picked.extend([page for page in shuffled if least <= len(page.changes) <= most][:cap])
    return picked


def part(pages: Iterable[Page], name: str) -> list[Page]:
    """``tune``: the quarter of the pages that choices may be made on; ``test``: the others; ``all``."""
    if name == "all":
        return list(pages)
    return [p for p in pages if (chance("s" + p.key.rpartition("@")[0]) < 0.25) == (name == "tune")]


CADENCES: Mapping[str, float] = {
    "OpenTermsArchive": 12,
    "ambanum": 12,
    "simonw/help-scraper": 24,
    "simonw/sf-tree-history": 24,
    "simonw/cdc-vaccination-history": 24,
    "simonw/package-stats": 6,
    "endoflife-date/release-data": 6,
    "lord-alfred/ipranges": 7,
    "ScoopInstaller/Extras": 4,
    "zoph-io/MAMIP": 2,
    "jdx/mise-versions": 6,
    "cisagov/dotgov-data": 24,
    "rust-lang/rustup-components-history": 24,
    "aazw/github-trending-feeds": 24,
}
"""Hours between the visits of the robots that recorded the traces, by source or its owner (measured by hand)."""


def off_the_grid(page: Page, *, seed: int = 0) -> Page:
    """``page`` with each change a robot dated moved back by up to the robot's cadence.

    A robot sees changes when it runs; without its timetable no rhythm can be learned from it.
    """
    cadence = CADENCES.get(page.host) or CADENCES.get(page.host.split("/")[0]) or (0.5 if page.robot else 0.0)
    if not cadence:
        return page
    moved = sorted(at - cadence * HOUR * chance(f"j{seed}/{page.key}/{n}") for n, at in enumerate(page.changes))
    return msgspec.structs.replace(page, changes=tuple(at for at in moved if at > page.start))


def read_traces(lines: Iterable[bytes]) -> Iterable[Trace]:
    """The traces in ``lines`` of JSON. Raises ValueError naming the line that is none."""
    decoder = msgspec.json.Decoder(Trace, strict=False)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield decoder.decode(line)
        except msgspec.MsgspecError as error:
            raise ValueError(f"line {number} is no trace: {error}") from None


def read_outages(text: bytes) -> dict[str, Any]:
    """What an ``outages.json`` says: per source, when its robot was down."""
    return msgspec.json.decode(text, type=dict[str, list[tuple[float, float]]])
