"""Opening a store: the newest whole snapshot, then every journal segment above it, line by line.

Every good line counts, wherever damage stands (zero runs and holes are normal after a power loss), and
nothing is dropped without a copy in ``quarantine/``. A reader does all of it except the copying and cutting.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from zlib import crc32

import msgspec

from watcher.store import lines
from watcher.store.fold import Fold, Unfit
from watcher.store.fs import FS, write_whole
from watcher.store.layout import JOURNAL, SNAPSHOT, Layout, file_id
from watcher.store.lines import Bad

WHY = {
    "torn": "an interrupted write, cut off the end",
    "damaged": "damaged bytes, skipped",
    "shape": "a line of a shape this version does not know, skipped",
    "future": "a line written by a newer version, skipped",
}


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something wrong with the store. ``kind`` is stable, ``message`` one sentence for the user."""

    kind: str
    file: str
    message: str
    line: int | None = None
    repairable: bool = False


class Loaded(msgspec.Struct, kw_only=True):
    """What opening found: the fold, the snapshot it began with (0: none), the segments above it with their sizes."""

    fold: Fold
    base: int = 0
    sizes: dict[int, int] = {}
    problems: list[Problem] = []


class _Found(msgspec.Struct):
    """What one file turned out to hold besides good lines. ``end`` is where its last good line ends."""

    bad: list[Bad]
    end: int = 0
    count: int = 0
    closed: bool = False


def load(layout: Layout, *, write: bool, hot: bool = True) -> Loaded:
    """Read the whole state. ``write`` (under the lock) also quarantines what is bad and cuts torn tails.

    Raises OSError for directories or files that cannot be read, FileNotFoundError included: a reader beside
    a compacting writer tries again.
    """
    loaded = Loaded(fold=Fold(hot=hot), sizes={}, problems=[])
    _load_snapshot(layout, loaded, write)
    for number in layout.numbers(layout.journal):
        if number > loaded.base:
            path = layout.segment(number)
            found = _read(layout.fs, path, file_id(JOURNAL, number), loaded.fold)
            loaded.sizes[number] = found.end
            _settle(layout, path, found, loaded, write=write, tail=True)
    return loaded


def _load_snapshot(layout: Layout, loaded: Loaded, write: bool) -> None:
    numbers = layout.numbers(layout.state)
    for number in reversed(numbers):
        if ends_well(layout.fs, layout.snapshot(number)):
            break
        message = f"{layout.short(layout.snapshot(number))} has no proper end and was passed over"
        loaded.problems.append(
            Problem(kind="snapshot", file=layout.short(layout.snapshot(number)), message=message, repairable=True)
        )
    else:
        if not numbers:
            return
        number = numbers[-1]
    path = layout.snapshot(number)
    loaded.base = number
    try:
        if _read_whole(layout.fs, path, file_id(SNAPSHOT, number), loaded.fold):
            return
    except Unfit:
        # Some line needs a closer look.
        pass
    loaded.fold = Fold(hot=loaded.fold.hot)
    found = _read(layout.fs, path, file_id(SNAPSHOT, number), loaded.fold)
    _settle(layout, path, found, loaded, write=write, tail=False)


def last_line(fs: FS, path: str) -> bytes | None:
    """The ``end`` line of a snapshot or history file, if it is there and good."""
    size = fs.size(path)
    fd = fs.open_read(path)
    try:
        tail = fs.pread(fd, 256, max(0, size - 256))
    finally:
        fs.close(fd)
    last = tail[tail.rfind(lines.END) :]
    return last if last.startswith(lines.END) and lines.intact(last) else None


def ends_well(fs: FS, path: str) -> bool:
    """Whether a snapshot or history file ends in a good ``end`` line: all of it was written."""
    return last_line(fs, path) is not None


def _read_whole(fs: FS, path: str, file: int, fold: Fold) -> bool:
    """Fold a snapshot in, if the checksum over all of it holds; False means: look at every line instead."""
    crc, offset, batch = 0, 0, [b""]
    with fs.reader(path) as stream:
        while batch := stream.readlines(lines.BATCH):
            if batch[-1].startswith(lines.END):
                last = batch.pop()
                crc = crc32(b"".join(batch), crc)
                fold.absorb(file, offset, batch)
                return lines.intact(last) and lines.whole_crc(last) == crc and not stream.read(1)
            crc = crc32(b"".join(batch), crc)
            offset = fold.absorb(file, offset, batch)
    return False


def _read(fs: FS, path: str, file: int, fold: Fold) -> _Found:
    found = _Found([])
    unfit: list[Bad] = []
    with fs.reader(path) as stream:
        for offset, raw in lines.scan(stream, found.bad):
            try:
                fold.apply(file, offset, raw)
            except Unfit as error:
                unfit.append(Bad(offset, raw, error.reason))
            found.end = offset + len(raw)
    found.bad = sorted(found.bad + unfit, key=lambda bad: bad.offset)
    return found


def _settle(layout: Layout, path: str, found: _Found, loaded: Loaded, *, write: bool, tail: bool) -> None:
    """Report, copy aside and cut what ``_read`` found bad."""
    for bad in found.bad:
        if tail and bad.offset >= found.end and bad.reason == "damaged":
            bad.reason = "torn"
        number = _line_number(layout.fs, path, bad.offset)
        name = layout.short(path)
        kept = keep_aside(layout, path, bad) if write else False
        message = f"{name}, line {number}: {WHY[bad.reason]} ({len(bad.data)} bytes" + (
            ", kept in quarantine)" if kept else ")"
        )
        loaded.problems.append(Problem(kind=bad.reason, file=name, line=number, message=message))
        if bad.reason == "torn" and kept:
            try:
                layout.fs.truncate(path, found.end)
            except OSError:
                # Nothing is ever appended to an old segment, so an uncut tail does no harm.
                continue


def _line_number(fs: FS, path: str, offset: int) -> int:
    number, left = 1, offset
    with fs.reader(path) as stream:
        while left > 0 and (chunk := stream.read(min(left, 1 << 20))):
            number += chunk.count(b"\n")
            left -= len(chunk)
    return number


def quarantine_name(layout: Layout, path: str, bad: Bad) -> str:
    """``journal.000042.jsonl.1234.torn``: from which file, at which offset, and why."""
    place = layout.short(path).replace(os.sep, ".")
    return os.path.join(layout.quarantine, f"{place}.{bad.offset}.{bad.reason}")


def keep_aside(layout: Layout, path: str, bad: Bad) -> bool:
    """Copy bad bytes to the quarantine, durably. False where even that is impossible (a full disk)."""
    target = quarantine_name(layout, path, bad)
    try:
        if not layout.fs.exists(target):
            write_whole(layout.fs, target, [bad.data])
    except OSError:
        return False
    return True


def good_lines(layout: Layout, path: str, bad: list[Bad]) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of every good line of a file."""
    with layout.fs.reader(path) as stream:
        yield from lines.scan(stream, bad)
