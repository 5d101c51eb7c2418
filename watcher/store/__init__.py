"""The journal on disk: state, history and audit trail of every watch, and the bodies of its pages."""

from __future__ import annotations

from watcher.store.drafts import Entry
from watcher.store.errors import (
    StoreError,
    StoreFailed,
    StoreFull,
    StoreLocked,
    StoreNetwork,
    StoreReadOnly,
    StoreUnreadable,
)
from watcher.store.fs import FS
from watcher.store.recovery import Problem
from watcher.store.store import Store

__all__ = [
    "FS",
    "Entry",
    "Problem",
    "Store",
    "StoreError",
    "StoreFailed",
    "StoreFull",
    "StoreLocked",
    "StoreNetwork",
    "StoreReadOnly",
    "StoreUnreadable",
]
