"""Expiry: rows of history older than their class allows, audit files, and the bodies only they spoke of."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping
from urllib.parse import unquote

import msgspec

from watcher.store import lines
from watcher.store.fold import Fold
from watcher.store.history import Past, audit_header
from watcher.store.layout import Layout
from watcher.store.opening import drop
from watcher.store.sealed import write_history
from watcher.store.thrift import history_rows

AUDIT = "audit"
Keep = Mapping[str, float | None]


class Expired(msgspec.Struct, frozen=True, kw_only=True):
    """What went: rows of history, whole files, unspoken-of bodies, and watches no longer configured."""

    rows: int = 0
    files: int = 0
    bodies: int = 0
    watches: int = 0


class _Row(msgspec.Struct, gc=False):
    n: int = 0
    at: float = 0.0


_decode = msgspec.json.Decoder(_Row).decode


class Expiry:
    """One pass of expiry at ``now`` over sealed files.

    A row is kept as long as its watch's class says (``keep``: seconds, None or no entry: for ever); rows of
    watches that are not ``live`` by the class they were written under. The newest version of a live watch stays.
    """

    def __init__(
        self, layout: Layout, past: Past, now: float, keep: Keep, class_of: Callable[[str], str], live: Container[str]
    ) -> None:
        self._layout = layout
        self._past = past
        self._now = now
        self._keep = keep
        self._class_of = class_of
        self._live = live
        self._newest: dict[str, int] = {}

    def history(self) -> tuple[int, int]:
        """Expire rows. Returns (rows, whole files) removed. Raises OSError."""
        rows = files = 0
        if all(seconds is None for seconds in self._keep.values()):
            return 0, 0
        for folder in self._layout.history_folders():
            retention = unquote(os.path.basename(folder))
            for number in self._layout.numbers(folder):
                path = os.path.join(folder, f"{number:06d}.jsonl")
                kept, count = [], 0
                for raw in history_rows(self._layout, path):
                    count += 1
                    if not self._is_expired(raw, retention):
                        kept.append(raw)
                if kept and len(kept) < count:
                    write_history(self._layout, path, kept)
                elif not kept:
                    drop(self._layout, [path])
                    files += 1
                rows += count - len(kept)
        return rows, files

    def _is_expired(self, raw: bytes, retention: str) -> bool:
        name, row = lines.unescape(lines.raw_key(raw)), _decode(raw)
        live = name in self._live
        seconds = self._keep.get(self._class_of(name) if live else retention)
        if seconds is None or row.at >= self._now - seconds:
            return False
        return not live or row.n != self._newest_of(name)

    def _newest_of(self, name: str) -> int:
        if name not in self._newest:
            newest = next(self._past.versions(name), None)
            self._newest[name] = newest.seq if newest is not None else 0
        return self._newest[name]

    def audit(self) -> int:
        """Unlink audit files older than the class ``audit`` allows, else than every class does. Raises OSError."""
        spans = [self._keep[AUDIT]] if AUDIT in self._keep else list(self._keep.values())
        finite = [s for s in spans if s is not None]
        if not spans or len(finite) < len(spans):
            return 0
        limit = self._now - max(finite)
        old = []
        for number in self._layout.numbers(self._layout.audit):
            head = audit_header(self._layout, self._layout.audit_file(number))
            if head is not None and head.until is not None and head.until < limit:
                old.append(self._layout.audit_file(number))
        drop(self._layout, old)
        return len(old)

    def orphans(self, fold: Fold, read_class: Callable[[str], tuple[str, float]]) -> list[str]:
        """Watches no longer configured whose last sign of life is older than the class they were kept under allows."""
        gone = []
        for name in fold.rows:
            if name not in self._live:
                retention, at = read_class(name)
                seconds = self._keep.get(retention)
                if seconds is not None and at < self._now - seconds:
                    gone.append(name)
        return gone

    def is_pressing(self, oldest: float | None) -> bool:
        """Whether versions in the live journal, begun at ``oldest``, must be sealed to expire. Raises OSError."""
        finite = [seconds for seconds in self._keep.values() if seconds is not None]
        late = oldest is not None and bool(finite) and oldest < self._now - min(finite)
        return late and self._past.has_live_versions()
