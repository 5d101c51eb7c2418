"""Compaction: sealed segments become history, audit trail and the next snapshot, streaming, in any process.

The order is the protocol: history and audit first, then the snapshot, whose rename is the commit; only after it
has been read back does anybody unlink what it replaces. Outputs above the newest snapshot's number count for
nothing, so an interrupted compaction is simply done again.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import msgspec

from watcher.store import lines
from watcher.store.fold import HeaderLine
from watcher.store.fs import FS, write_whole
from watcher.store.layout import Layout
from watcher.store.lines import Bad
from watcher.store.opening import drop, unfinished
from watcher.store.raws import fold, snapshot_line
from watcher.store.recovery import ends_well, keep_aside
from watcher.store.sealed import Sealed, in_chunks
from watcher.store.thrift import merge_small


class CompactionFailed(OSError):
    """The new snapshot did not read back as it was written."""


def compact_files(layout: Layout, base: int, upto: int, store_id: str, at: float) -> None:
    """Fold the segments in (``base``, ``upto``] into snapshot ``upto``; nothing is unlinked that still counts.

    Raises OSError; the store is then as it was.
    """
    # A snapshot above base is one whose compaction was cut off after its rename; what it rests on goes after it.
    drop(layout, [layout.snapshot(n) for n in layout.numbers(layout.state) if n > base])
    drop(layout, unfinished(layout, base))
    numbers = [n for n in layout.numbers(layout.journal) if base < n <= upto]
    with Sealed(layout, numbers) as sealed:
        sealed.write_history(upto)
        sealed.write_audit(upto)
        path = layout.snapshot(upto)
        write_whole(layout.fs, path, in_chunks(_snapshot(layout, base, sealed, store_id, at)))
    try:
        verify(layout.fs, path)
    except OSError:
        with contextlib.suppress(OSError):
            layout.fs.unlink(path)
        raise
    merge_small(layout, upto)


def _snapshot(layout: Layout, base: int, sealed: Sealed, store_id: str, at: float) -> Iterator[bytes]:
    """The lines of the new snapshot: hosts, then watches, each sorted by escaped key; one line a key."""
    count, n = 0, sealed.n
    old_n, rows = _merged(layout, base, sealed)
    yield lines.header(HeaderLine(store=store_id, n=max(n, old_n), at=at))
    for row in rows:
        count += 1
        yield row
    yield lines.end(count, max(n, old_n))


def _merged(layout: Layout, base: int, sealed: Sealed) -> tuple[int, Iterator[bytes]]:
    updates = sorted(sealed.full.keys() | sealed.delta.keys())
    if not base:
        return 0, (_line_for(key, None, sealed) for key in updates)
    return _last_n(layout.fs, layout.snapshot(base)), _merge(layout, layout.snapshot(base), updates, sealed)


def _merge(layout: Layout, path: str, updates: list[bytes], sealed: Sealed) -> Iterator[bytes]:
    bad: list[Bad] = []
    gone, position, count = sealed.gone, 0, len(updates)
    following = updates[0] if updates else None
    with layout.fs.reader(path) as stream:
        for _, raw in lines.scan(stream, bad):
            if raw.startswith((lines.HEADER, lines.END)):
                continue
            key = raw[6:7] + raw[lines.HEAD : lines.key_end(raw)]
            while following is not None and following < key:
                yield _line_for(following, None, sealed)
                position += 1
                following = updates[position] if position < count else None
            if following == key:
                yield _line_for(key, None if key in gone else raw, sealed)
                position += 1
                following = updates[position] if position < count else None
            elif not gone or key not in gone:
                yield raw
    for key in updates[position:]:
        yield _line_for(key, None, sealed)
    for piece in bad:
        keep_aside(layout, path, piece)


def _line_for(key: bytes, old: bytes | None, sealed: Sealed) -> bytes:
    """The snapshot's line for one updated key; ``old`` is the line in the snapshot before."""
    spot, change = sealed.full.get(key), sealed.delta.get(key)
    full = old if spot is None else sealed.line(spot)
    if change is not None:
        return fold(full, sealed.line(change))
    assert full is not None
    return snapshot_line(full) if full[6:7] == b"s" else full


def _last_n(fs: FS, path: str) -> int:
    size = fs.size(path)
    fd = fs.open_read(path)
    try:
        tail = fs.pread(fd, 256, max(0, size - 256))
    finally:
        fs.close(fd)
    last = tail[tail.rfind(lines.END) :]
    return msgspec.json.decode(last, type=HeaderLine).n if lines.intact(last) else 0


def verify(fs: FS, path: str) -> None:
    """Read a snapshot back, every checksum. Raises CompactionFailed."""
    bad: list[Bad] = []
    with fs.reader(path) as stream:
        for _ in lines.scan(stream, bad):
            pass
    if bad or not ends_well(fs, path):
        raise CompactionFailed(5, "the new snapshot does not read back as written", path)


def main(arguments: list[str]) -> int:
    """``python -m watcher.store.compaction ROOT BASE UPTO STORE_ID AT``: the work of a writer that holds the lock.

    Exits with the errno of what failed.
    """
    root, base, upto, store_id, at = arguments
    try:
        compact_files(Layout(FS(), root), int(base), int(upto), store_id, float(at))
    except OSError as error:
        print(error, file=sys.stderr)
        return error.errno or 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
