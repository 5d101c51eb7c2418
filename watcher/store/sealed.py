"""What becomes of sealed segments: rows of history by class, the audit trail packed, everything erased left out."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from mmap import mmap

import msgspec

from watcher.store import lines
from watcher.store.fold import HeaderLine
from watcher.store.fs import write_whole
from watcher.store.layout import Layout
from watcher.store.lines import Bad
from watcher.store.raws import history_line, without
from watcher.store.recovery import good_lines, keep_aside

CHUNK = 1 << 20
GZIP_LEVEL = 4
_INDEXED, _FULL, _DELTA, _QUOTE = b"sacoe", b"so", ord("a"), ord('"')
Spot = tuple[int, int, int]
"""Segment, offset, length."""


class _CheckAt(msgspec.Struct, gc=False):
    at: float | None = None


class _SealedLine(msgspec.Struct, gc=False):
    """The members of a line that decide where it goes."""

    n: int = 0
    v: int = lines.FORMAT
    at: float | None = None
    ver: bool = False
    cls: str = "default"
    check: _CheckAt | None = None


_decode = msgspec.json.Decoder(_SealedLine).decode


class Sealed:
    """An index over sealed segments, as bytes and places. Use as a context manager: it maps the files.

    ``full`` and ``delta`` hold, by the prefix of a snapshot's line, the place of the newest ``s`` or ``o`` line
    and of the newest ``a`` line after it; ``gone`` the prefixes that an erasure takes out of it.
    """

    def __init__(self, layout: Layout, numbers: list[int]) -> None:
        self._layout = layout
        self._views: dict[int, mmap] = {}
        self._numbers = numbers
        self._erased: dict[bytes, int] = {}
        self.full: dict[bytes, Spot] = {}
        self.delta: dict[bytes, Spot] = {}
        self.rows: dict[str, list[tuple[bytes, int, Spot]]] = {}
        self.gone: set[bytes] = set()
        self.n = 0
        self.since: float | None = None
        self.until: float | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Sealed:
        with self._stack:
            for number in self._numbers:
                path = self._layout.segment(number)
                if size := self._layout.fs.size(path):
                    self._views[number] = self._stack.enter_context(self._layout.fs.map(path, size))
            self._find_erased()
            for number in self._views:
                self._index(number)
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def line(self, spot: Spot) -> bytes:
        number, offset, size = spot
        return self._views[number][offset : offset + size]

    def _find_erased(self) -> None:
        """Erasures first: they also reach back to the lines before them."""
        for view in self._views.values():
            for kind, target in ((b"x", b"s"), (b"y", b"o")):
                at = view.find(b'{"k":"%b","w":"' % kind)
                while at >= 0:
                    raw = view[at : view.find(b"\n", at) + 1]
                    if lines.intact(raw):
                        self._erased[lines.prefix(target, lines.raw_key(raw))] = _decode(raw).n
                    at = view.find(b'{"k":"%b","w":"' % kind, at + 1)
        self.gone = set(self._erased)

    def _index(self, number: int) -> None:
        bad: list[Bad] = []
        for offset, raw in self._scan(number, bad):
            kind = raw[6]
            if kind not in _INDEXED or raw[7] != _QUOTE:
                continue
            try:
                row = _decode(raw)
            except msgspec.MsgspecError:
                bad.append(Bad(offset, raw, "shape"))
                continue
            if row.v > lines.FORMAT:
                bad.append(Bad(offset, raw, "future"))
                continue
            self._file(kind, raw, row, (number, offset, len(raw)))
        for piece in bad:
            if not keep_aside(self._layout, self._layout.segment(number), piece):
                raise OSError(28, os.strerror(28), self._layout.quarantine)

    def _file(self, kind: int, raw: bytes, row: _SealedLine, spot: Spot) -> None:
        n = row.n
        if n > self.n:
            self.n = n
        key = raw[: lines.key_end(raw) + 1] if kind in _FULL else _prefix(raw)
        if self._erased and n < self._erased.get(key, -1):
            return
        if kind in _FULL:
            self.full[key] = spot
            self.delta.pop(key, None)
            if row.ver:
                self.rows.setdefault(row.cls, []).append((key, n, spot))
        elif kind == _DELTA:
            self.delta[key] = spot
        if row.check is not None:
            at = row.check.at if row.check.at is not None else row.at
            if at is not None:
                self.since = at if self.since is None or at < self.since else self.since
                self.until = at if self.until is None or at > self.until else self.until

    def _scan(self, number: int, bad: list[Bad]) -> Iterator[tuple[int, bytes]]:
        return good_lines(self._layout, self._layout.segment(number), bad)

    def write_history(self, number: int) -> None:
        """Every version as one file a class. Raises OSError."""
        for retention, rows in self.rows.items():
            rows.sort()
            made = (history_line(self.line(spot)) for _, _, spot in rows)
            write_history(self._layout, self._layout.history_file(retention, number), made)

    def write_audit(self, number: int) -> None:
        """Every line but the states' records, which history keeps under its own rules. Raises OSError."""
        head = HeaderLine(since=self.since, until=self.until)
        write_audit(self._layout, self._layout.audit_file(number), head, self._audit_lines())

    def _audit_lines(self) -> Iterator[bytes]:
        for number in self._views:
            for _, raw in self._scan(number, []):
                if raw.startswith((lines.HEADER, lines.END)) or raw[6:7] in b"xy":
                    continue
                if self._erased and _decode(raw).n < self._erased.get(_prefix(raw), -1):
                    continue
                yield without(raw, "rec") if raw[6:7] == b"s" else raw


def _prefix(raw: bytes) -> bytes:
    """The prefix of the snapshot's line that a line of any kind moves."""
    return b'{"k":"%b%b' % (b"o" if raw[6:7] == b"o" else b"s", raw[7 : lines.key_end(raw) + 1])


def write_history(layout: Layout, path: str, rows: Iterable[bytes]) -> None:
    """A history file: header, rows sorted by key and number, end. Raises OSError."""
    layout.fs.mkdir(os.path.dirname(path))
    write_whole(layout.fs, path, in_chunks(_framed(rows)))


def _framed(rows: Iterable[bytes]) -> Iterator[bytes]:
    yield lines.header(HeaderLine())
    count = 0
    for row in rows:
        count += 1
        yield row
    yield lines.end(count)


def write_audit(layout: Layout, path: str, head: HeaderLine, rows: Iterable[bytes]) -> None:
    """A gzip file (RFC 1952) of lines, header first. Raises OSError."""
    write_whole(layout.fs, path, _packed(in_chunks(_headed(head, rows))))


def _headed(head: HeaderLine, rows: Iterable[bytes]) -> Iterator[bytes]:
    yield lines.header(head)
    yield from rows


def _packed(chunks: Iterable[bytes]) -> Iterator[bytes]:
    sink = io.BytesIO()
    with gzip.GzipFile(fileobj=sink, mode="wb", compresslevel=GZIP_LEVEL, mtime=0) as packer:
        for chunk in chunks:
            packer.write(chunk)
            yield sink.getvalue()
            sink.seek(0)
            sink.truncate()
    yield sink.getvalue()


def in_chunks(rows: Iterable[bytes], size: int = CHUNK) -> Iterator[bytes]:
    """Lines joined into writes of about ``size`` bytes."""
    held: list[bytes] = []
    count = 0
    for row in rows:
        held.append(row)
        count += len(row)
        if count >= size:
            yield b"".join(held)
            held.clear()
            count = 0
    if held:
        yield b"".join(held)
