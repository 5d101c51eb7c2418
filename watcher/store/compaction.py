"""Compaction: sealed segments become history, audit trail and the next snapshot, streaming, in any process.

The order is the protocol: history and audit first, then the snapshot, whose rename is the commit; only after it
has been read back does anybody unlink what it replaces. Outputs above the newest snapshot's number count for
nothing, so an interrupted compaction is simply done again.
"""

from __future__ import annotations

import contextlib
import gc
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
        write_snapshot(layout, base, upto, sealed, HeaderLine(store=store_id, at=at))
    try:
        verify(layout.fs, path)
    except OSError:
        with contextlib.suppress(OSError):
            layout.fs.unlink(path)
        raise
    merge_small(layout, upto)


def write_snapshot(layout: Layout, base: int, upto: int, sealed: Sealed, head: HeaderLine) -> None:
    """Merge ``sealed`` into snapshot ``base`` (0: none) and write the result. Raises OSError."""
    for whole in (True, False):
        try:
            chunks = _Merge(layout, base, sealed, whole).chunks(head)
            write_whole(layout.fs, layout.snapshot(upto), chunks)
        except _Unsound:
            continue
        return


class _Unsound(Exception):
    """The old snapshot's checksum does not hold: it must be gone through line by line."""


class _Merge:
    """The old snapshot and the sealed segments as one: hosts, then watches, sorted as bytes, one line a key.

    ``whole`` trusts the old snapshot's checksum over all of it, found wrong at its end; else only lines
    that are good by themselves count.
    """

    def __init__(self, layout: Layout, base: int, sealed: Sealed, whole: bool) -> None:
        self._layout = layout
        self._path = layout.snapshot(base) if base else None
        self._sealed = sealed
        self._whole = whole
        self._count = 0

    def chunks(self, head: HeaderLine) -> Iterator[bytes]:
        """The new snapshot, about a megabyte at a time."""
        last = last_line(self._layout.fs, self._path) if self._path else None
        head.n = max(self._sealed.n, decode_header(last).n if last is not None else 0)
        first = lines.header(head)
        crc = crc32(first)
        yield first
        for chunk in in_chunks(self._pieces()):
            crc = crc32(chunk, crc)
            yield chunk
        yield lines.end(self._count, head.n, crc)

    def _pieces(self) -> Iterator[bytes]:
        """Stretches of untouched lines, found by bisection, and between them the lines that moved."""
        sealed, at = self._sealed, 0
        prefixes = sorted(sealed.full.keys() | sealed.delta.keys() | sealed.gone)
        for batch in self._batches():
            low = 0
            while at < len(prefixes) and batch and prefixes[at] <= batch[-1]:
                prefix = prefixes[at]
                high = bisect_left(batch, prefix, low)
                if high > low:
                    yield b"".join(batch[low:high])
                known = batch[high].startswith(prefix)
                self._count += high - low
                low = high + known
                at += 1
                yield self._line(prefix, batch[high] if known and prefix not in sealed.gone else None)
            self._count += len(batch) - low
            yield b"".join(batch[low:])
        for prefix in prefixes[at:]:
            yield self._line(prefix, None)

    def _line(self, prefix: bytes, old: bytes | None) -> bytes:
        """The line for one updated key, if there is any left; ``old`` is the one in the snapshot before."""
        spot, change = self._sealed.full.get(prefix), self._sealed.delta.get(prefix)
        full = old if spot is None else self._sealed.line(spot)
        if change is None and full is None:
            return b""
        self._count += 1
        if change is not None:
            return fold(full, self._sealed.line(change))
        return snapshot_line(full) if full is not None and full[6:7] == b"s" else full or b""

    def _batches(self) -> Iterator[list[bytes]]:
        """The keyed lines of the old snapshot."""
        if self._path is None:
            return
        bad: list[Bad] = []
        offset, crc, last = 0, 0, b""
        with self._layout.fs.reader(self._path) as stream:
            while batch := stream.readlines(BATCH):
                if self._whole:
                    last = batch.pop() if batch[-1].startswith(lines.END) else b""
                    crc = crc32(b"".join(batch), crc)
                    if last and not (lines.intact(last) and lines.whole_crc(last) == crc):
                        raise _Unsound
                    yield batch[1:] if offset == 0 else batch
                    offset = 1
                else:
                    size = sum(map(len, batch))
                    yield [raw for _, raw in lines.scan(batch, bad, offset) if raw[6:7] in b"so"]
                    offset += size
        if self._whole and not last:
            raise _Unsound
        for piece in bad:
            keep_aside(self._layout, self._path, piece)


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
    # Nothing here refers to itself, and the process ends with its work.
    gc.disable()
    try:
        compact_files(Layout(FS(), root), int(base), int(upto), store_id, float(at))
    except OSError as error:
        print(error, file=sys.stderr)
        return error.errno or 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
