"""A watch's own history as a page to replay policies on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from watcher.core.history import Check
from watcher.core.model import Outcome, Watch
from watcher.core.phrase import DAY
from watcher.core.simulate.traces import WARM_WEEKS, WEEKS, Page

SHORTEST = DAY
"""Seconds of history below which a watch says nothing about policies."""

LOOKS = (Outcome.FIRST, Outcome.NOT_MODIFIED, Outcome.UNCHANGED, Outcome.CHANGED, Outcome.RETURNED)
CHANGES = (Outcome.CHANGED, Outcome.RETURNED)


def pages_of(checks: Iterable[Check], watches: Mapping[str, Watch]) -> list[Page]:
    """The watches that were looked at for a day or more, each over its own time.

    A change counts at the instant the server named (Last-Modified) where it lies between the two checks, else in
    the middle between them: what happened unseen in a gap is unknown to every replay. Silent checks do not count.
    """
    looks: dict[str, list[Check]] = {}
    for check in checks:
        if not check.silent and check.outcome in LOOKS:
            looks.setdefault(check.name, []).append(check)
    return [
        _page(name, seen, watches[name])
        for name, seen in looks.items()
        if name in watches and seen[-1].at - seen[0].at >= SHORTEST
    ]


def _page(name: str, looks: list[Check], watch: Watch) -> Page:
    start, end = looks[0].at, looks[-1].at
    changes = sorted(_moment(check) for check in looks[1:] if check.outcome in CHANGES)
    return Page(
        key=name,
        host=urlsplit(watch.url).hostname or watch.url,
        type=watch.type,
        start=start,
        end=end,
        warm_until=start + (end - start) * WARM_WEEKS / WEEKS,
        changes=tuple(changes),
        previous=start,
    )


def _moment(check: Check) -> float:
    gap = check.gap or 0.0
    modified = check.modified_at
    return modified if modified is not None and check.at - gap < modified <= check.at else check.at - gap / 2
