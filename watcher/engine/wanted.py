"""Whether a change is to be announced: ``notify_when``, judged on typed values."""

from __future__ import annotations

from collections.abc import Iterator

from watcher.core.conditions import Change, compile_condition
from watcher.core.model import Value, Watch
from watcher.core.state import UrlState
from watcher.store import Store

LOOKED_BACK = 1_000
"""Versions that "new low" and "new high" look back over."""


def wanted(watch: Watch, before: UrlState, after: UrlState, store: Store) -> bool:
    """Whether the watch's ``notify_when`` holds for the change from ``before`` to ``after``; without one it does.

    The change itself is recorded and shown either way.
    """
    if not watch.notify_when or before.record is None or after.record is None:
        return True

    def past(field: str) -> Iterator[Value]:
        for version in store.history(watch.name, limit=LOOKED_BACK):
            if version.record is not None and field in version.record.values:
                yield version.record.values[field]

    condition = compile_condition(watch.notify_when, watch.fields)
    return condition.holds(Change(before.record.values, after.record.values, past))
