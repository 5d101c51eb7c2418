"""Few files instead of many: small neighbours among history and audit files become one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from heapq import merge
from typing import Final

import msgspec

from watcher.store import lines
from watcher.store.fold import HeaderLine, decode_header
from watcher.store.history import audit_header, audit_lines
from watcher.store.layout import Layout
from watcher.store.lines import Bad
from watcher.store.opening import drop
from watcher.store.recovery import good_lines, keep_aside
from watcher.store.sealed import write_audit, write_history

SMALL: Final = 16 << 20
MANY: Final = 32


def merge_small(layout: Layout, upto: int) -> None:
    """Where more than :data:`MANY` small files lie in one directory, merge neighbours. Raises OSError.

    The result takes the place of the newest of them by one rename; a crash before the others are unlinked
    leaves rows twice, which readers tell by their numbers.
    """
    for folder in layout.history_folders():
        for run in _runs(layout, [os.path.join(folder, f"{n:06d}.jsonl") for n in layout.numbers(folder) if n <= upto]):
            rows = [history_rows(layout, path) for path in run]
            write_history(layout, run[-1], _once(merge(*rows, key=_order)))
            drop(layout, run[:-1])
    for run in _runs(layout, [layout.audit_file(n) for n in layout.numbers(layout.audit) if n <= upto]):
        heads = [head for path in run if (head := audit_header(layout, path)) is not None]
        write_audit(layout, run[-1], _span(heads), _rising(line for path in run for line in audit_lines(layout, path)))
        drop(layout, run[:-1])


def _runs(layout: Layout, paths: list[str]) -> list[list[str]]:
    small = [layout.fs.size(path) < SMALL for path in paths]
    if sum(small) <= MANY:
        return []
    runs: list[list[str]] = [[]]
    for path, fits in zip(paths, small, strict=True):
        if fits:
            runs[-1].append(path)
        else:
            runs.append([])
    return [run for run in runs if len(run) > 1]


def history_rows(layout: Layout, path: str) -> Iterator[bytes]:
    """The rows of a history file; what is damaged is copied to the quarantine when they have been read."""
    bad: list[Bad] = []
    for _, raw in good_lines(layout, path, bad):
        if not raw.startswith((lines.HEADER, lines.END)):
            yield raw
    for piece in bad:
        keep_aside(layout, path, piece)


def _order(raw: bytes) -> tuple[bytes, int]:
    return raw[: lines.key_end(raw) + 1], decode_header(raw).n


def _once(rows: Iterable[bytes]) -> Iterator[bytes]:
    last = None
    for raw in rows:
        if (order := _order(raw)) != last:
            last = order
            yield raw


def _rising(raws: Iterable[bytes]) -> Iterator[bytes]:
    last = -1
    for raw in raws:
        if not raw.startswith(lines.HEADER):
            n = msgspec.json.decode(raw, type=HeaderLine).n
            if n > last:
                last = n
                yield raw


def _span(heads: list[HeaderLine]) -> HeaderLine:
    since = [head.since for head in heads if head.since is not None]
    until = [head.until for head in heads if head.until is not None]
    return HeaderLine(since=min(since, default=None), until=max(until, default=None))
