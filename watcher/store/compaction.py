"""Compaction: sealed segments become history, audit trail and the next snapshot, streaming, in any process.

The order is the protocol: history and audit first, then the snapshot, whose rename is the commit; only after it
has been read back does anybody unlink what it replaces. Outputs above the newest snapshot's number count for
nothing, so an interrupted compaction is simply done again.
"""

from __future__ import annotations

import contextlib
import sys
from bisect import bisect_left
from collections.abc import Iterator
from zlib import crc32

from watcher.store import lines
from watcher.store.fold import HeaderLine, decode_header
from watcher.store.fs import FS, write_whole
from watcher.store.layout import Layout
from watcher.store.lines import BATCH, Bad
from watcher.store.opening import drop, unfinished
from watcher.store.raws import fold, snapshot_line
from watcher.store.recovery import keep_aside, last_line
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
        write_whole(layout.fs, path, _snapshot(layout, base, sealed, store_id, at))
    try:
        verify(layout.fs, path)
    except OSError:
        with contextlib.suppress(OSError):
            layout.fs.unlink(path)
        raise
    merge_small(layout, upto)


def _snapshot(layout: Layout, base: int, sealed: Sealed, store_id: str, at: float) -> Iterator[bytes]:
    """The lines of the new snapshot: hosts, then watches, each sorted by escaped key; one line a key."""
    old_n, rows = _merged(layout, base, sealed)
    n, count = max(sealed.n, old_n), 0
    head = lines.header(HeaderLine(store=store_id, n=n, at=at))
    crc = crc32(head)
    yield head
    for chunk in in_chunks(rows):
        count += chunk.count(b"\n")
        crc = crc32(chunk, crc)
        yield chunk
    yield lines.end(count, n, crc)


def _merged(layout: Layout, base: int, sealed: Sealed) -> tuple[int, Iterator[bytes]]:
    """The old snapshot's last number, and the new one's lines joined as they come."""
    prefixes = sorted(sealed.full.keys() | sealed.delta.keys() | sealed.gone)
    if not base:
        return 0, (_line_for(prefix, None, sealed) for prefix in prefixes)
    path = layout.snapshot(base)
    last = last_line(layout.fs, path)
    whole = last is not None and _is_whole(layout.fs, path)
    batches = _batches(layout, path, whole)
    return decode_header(last).n if last is not None else 0, _merge(batches, prefixes, sealed)


def _batches(layout: Layout, path: str, whole: bool) -> Iterator[list[bytes]]:
    """The keyed lines of a snapshot; where its checksum does not hold, only those that are good by themselves."""
    bad: list[Bad] = []
    offset = 0
    with layout.fs.reader(path) as stream:
        while batch := stream.readlines(BATCH):
            size = sum(map(len, batch))
            if not whole:
                batch = [raw for _, raw in lines.scan(batch, bad, offset)]
            offset += size
            yield [raw for raw in batch if raw[6:7] in b"so"] if not whole or offset == size else batch
    for piece in bad:
        keep_aside(layout, path, piece)


def _merge(batches: Iterator[list[bytes]], prefixes: list[bytes], sealed: Sealed) -> Iterator[bytes]:
    """Both are sorted as bytes, so whole stretches of untouched lines pass unlooked at."""
    at = 0
    for batch in batches:
        if batch and batch[-1].startswith(lines.END):
            batch.pop()
        low = 0
        while at < len(prefixes) and batch and prefixes[at] <= batch[-1]:
            prefix = prefixes[at]
            high = bisect_left(batch, prefix, low)
            yield from batch[low:high]
            known = batch[high].startswith(prefix)
            low = high + known
            at += 1
            if prefix in sealed.full or prefix in sealed.delta:
                yield _line_for(prefix, batch[high] if known and prefix not in sealed.gone else None, sealed)
        yield from batch[low:]
    for prefix in prefixes[at:]:
        if prefix in sealed.full or prefix in sealed.delta:
            yield _line_for(prefix, None, sealed)


def _line_for(prefix: bytes, old: bytes | None, sealed: Sealed) -> bytes:
    """The snapshot's line for one updated key; ``old`` is the line in the snapshot before."""
    spot, change = sealed.full.get(prefix), sealed.delta.get(prefix)
    full = old if spot is None else sealed.line(spot)
    if change is not None:
        return fold(full, sealed.line(change))
    assert full is not None
    return snapshot_line(full) if full[6:7] == b"s" else full


def verify(fs: FS, path: str) -> None:
    """Read a snapshot back, every byte. Raises CompactionFailed."""
    if not _is_whole(fs, path):
        raise CompactionFailed(5, "the new snapshot does not read back as written", path)


def _is_whole(fs: FS, path: str) -> bool:
    last = last_line(fs, path)
    if last is None:
        return False
    left, crc = fs.size(path) - len(last), 0
    with fs.reader(path) as stream:
        while left > 0 and (chunk := stream.read(min(left, BATCH))):
            crc = crc32(chunk, crc)
            left -= len(chunk)
    return left == 0 and lines.whole_crc(last) == crc


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
