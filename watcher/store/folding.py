"""Compaction beside a running engine: in a subprocess, and back into memory in slices."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from typing import Final

from watcher.store import lines
from watcher.store.compaction import compact_files
from watcher.store.errors import explain
from watcher.store.fold import Fold
from watcher.store.index import PLACES
from watcher.store.journal import Journal
from watcher.store.layout import JOURNAL, SNAPSHOT, Layout, file_id
from watcher.store.opening import tidy
from watcher.store.reader import Reader

LEAST: Final = 64 << 20
MOST_SEGMENTS: Final = 64
SLICE: Final = 2000


def is_due(layout: Layout, sizes: dict[int, int], base: int) -> bool:
    """Whether the segments above the snapshot are worth folding: max(64 MB, half the snapshot), or many files."""
    snapshot = layout.fs.size(layout.snapshot(base)) if base else 0
    return sum(sizes.values()) > max(LEAST, snapshot // 2) or len(sizes) > MOST_SEGMENTS


def run_here(layout: Layout, base: int, upto: int, store_id: str, at: float) -> None:
    """Fold in this thread. Raises StoreFull, StoreFailed or StoreReadOnly; the store is then as it was."""
    try:
        compact_files(layout, base, upto, store_id, at)
    except OSError as error:
        raise explain(error, error.filename or layout.root, "compact") from error


async def run_aside(layout: Layout, base: int, upto: int, store_id: str, at: float) -> None:
    """Fold in a subprocess, so that no check waits for the interpreter. Raises as :func:`run_here`."""
    arguments = ("-m", "watcher.store.compaction", layout.root, str(base), str(upto), store_id, repr(at))
    path = os.pathsep.join(p for p in sys.path if p)
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env={**os.environ, "PYTHONPATH": path}, stderr=asyncio.subprocess.PIPE
    )
    try:
        _, said = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        code = process.returncode if process.returncode > 0 else 5
        raise explain(OSError(code, said.decode(errors="replace")), layout.root, "compact")


def adopt(layout: Layout, fold: Fold, reader: Reader, upto: int) -> Iterator[None]:
    """Point every row at snapshot ``upto`` instead of what it replaced; yields between slices.

    Raises StoreFailed; some rows then point here and some there, and both places are still good.
    """
    try:
        yield from _adopt(layout, fold, reader, upto)
    except OSError as error:
        raise explain(error, error.filename or layout.snapshot(upto), "read") from error


def _adopt(layout: Layout, fold: Fold, reader: Reader, upto: int) -> Iterator[None]:
    file = file_id(SNAPSHOT, upto)
    reader.hold(file)
    newest = file_id(JOURNAL, upto)
    with layout.fs.reader(layout.snapshot(upto)) as stream:
        for count, (offset, raw) in enumerate(lines.scan(stream, [])):
            if raw[6:7] == b"s":
                _repoint(fold, lines.unescape(lines.raw_key(raw)), (file, offset, len(raw)), newest)
            if count % SLICE == SLICE - 1:
                yield


def _repoint(fold: Fold, name: str, place: tuple[int, int, int], newest: int) -> None:
    packed = fold.rows.get(name)
    if packed is None:
        return
    places = PLACES.unpack_from(packed)
    full, delta = places[:3], places[3:]
    if _folded(full[0], newest):
        full = place
    if _folded(delta[0], newest):
        delta = (0, 0, 0)
    fold.rows[name] = PLACES.pack(*full, *delta) + packed[PLACES.size :]


def _folded(file: int, newest: int) -> bool:
    """Whether a place lies in a segment that was folded, or in any snapshot before."""
    return file % 2 == SNAPSHOT or file <= newest


def finish(layout: Layout, journal: Journal, reader: Reader, upto: int) -> None:
    """Unlink what the snapshot replaced. Raises StoreFailed and the like; what is left goes at the next start."""
    journal.forget(upto)
    live = {file_id(JOURNAL, number) for number in journal.sizes}
    reader.release(frozenset(live | {file_id(SNAPSHOT, upto)}))
    try:
        tidy(layout, upto)
    except OSError as error:
        raise explain(error, error.filename or layout.root, "clean up") from error
