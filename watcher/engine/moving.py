"""Pages that moved for good: a 301 or 308 is believed once it stood for two days (CONDUCT rule 22)."""

from __future__ import annotations

import msgspec

from watcher.core.exchange import Visit
from watcher.core.model import Watch
from watcher.core.phrase import DAY
from watcher.core.state import Moved

BELIEVED = 3
"""Consecutive checks with the same target ..."""

STOOD = 2 * DAY
"""... spanning at least this, before requests start at the target. The user's file is never rewritten."""

PROBED = 30 * DAY


def destination(watch: Watch, moved: Moved | None, now: float) -> str:
    """Where a check starts: at the watch's own URL, or at the place it settled, save for a probe every 30 days."""
    if moved is None or not moved.settled or now - moved.probed_at >= PROBED:
        return watch.url
    return moved.target


def moving(moved: Moved | None, watch: Watch, visit: Visit, at: float) -> Moved | None:
    """What is believed after ``visit``. A target that changes, or a chain that is not all permanent, starts anew."""
    response = visit.response
    if response is None or response.status not in (200, 304):
        return moved
    asked_source = not (moved and moved.settled) or at - moved.probed_at >= PROBED
    if not asked_source:
        return moved
    if not visit.permanent:
        return None
    if moved is None or moved.target != response.url:
        return Moved(target=response.url, since_at=at, probed_at=at)
    times = moved.times + 1
    settled = moved.settled or (times >= BELIEVED and at - moved.since_at >= STOOD)
    return msgspec.structs.replace(moved, times=times, settled=settled, probed_at=at)
