"""The journal's answers about the past: versions newest first, the record in force at an instant, the checks."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from heapq import merge
from mmap import mmap

import msgspec

from watcher.core.exchange import Exchange
from watcher.core.history import AsOf, Check, Known, Version
from watcher.core.model import Outcome
from watcher.store import lines
from watcher.store.codec import check_of, decode_check, decode_exchange, decode_state, record_of
from watcher.store.fold import HeaderLine, decode_header
from watcher.store.layout import Layout
from watcher.store.lines import Bad


class _ExchangeLine(msgspec.Struct, gc=False):
    """Which check an ``e`` line belongs to."""

    of: int = 0


_decode_of = msgspec.json.Decoder(_ExchangeLine).decode
_CONFIRMS = frozenset({Outcome.NOT_MODIFIED, Outcome.UNCHANGED})
_VERSION = b'"ver":true'


class Past:
    """Reads history, audit and live segments. ``sizes`` are the live segments with their acknowledged bytes;
    their owner keeps them up to date."""

    def __init__(self, layout: Layout, sizes: dict[int, int]) -> None:
        self._layout = layout
        self.sizes = sizes

    def versions(self, name: str) -> Iterator[Version]:
        """Every version of ``name``, newest first, files read only as far as the caller goes on asking."""
        key = lines.escape(name)
        last = None
        for stream in (self._live(key), merge(*self._sealed(key), key=lambda row: -row[0])):
            for n, raw in stream:
                if n != last and (version := _version(n, raw)) is not None:
                    last = n
                    yield version

    def _live(self, key: bytes) -> Iterator[tuple[int, bytes]]:
        needle = lines.prefix(b"s", key)
        for number in sorted(self.sizes, reverse=True):
            size = self.sizes[number]
            if size:
                with self._layout.fs.map(self._layout.segment(number), size) as view:
                    found = [raw for raw in _find(view, needle) if _VERSION in raw]
                for raw in reversed(found):
                    yield _n(raw), raw

    def has_live_versions(self) -> bool:
        """Whether any version is still in a live segment. Raises OSError."""
        for number, size in self.sizes.items():
            with self._layout.fs.map(self._layout.segment(number), size) as view:
                if view.find(_VERSION) >= 0:
                    return True
        return False

    def _sealed(self, key: bytes) -> list[Iterator[tuple[int, bytes]]]:
        return [self._class(folder, key) for folder in self._layout.history_folders()]

    def _class(self, folder: str, key: bytes) -> Iterator[tuple[int, bytes]]:
        layout = self._layout
        lowest = None
        for number in reversed(layout.numbers(folder)):
            # Beside its own segment, a file belongs to a compaction that was not finished.
            if number not in self.sizes:
                for raw in reversed(rows_of(layout, os.path.join(folder, f"{number:06d}.jsonl"), key)):
                    # A merge that was interrupted leaves rows twice.
                    if lowest is None or _n(raw) < lowest:
                        lowest = _n(raw)
                        yield lowest, raw

    def history(self, name: str, limit: int, before: float | None) -> list[Version]:
        """At most ``limit`` versions, newest first, those at or after ``before`` left out."""
        found: list[Version] = []
        for version in self.versions(name):
            if len(found) >= limit:
                break
            if before is None or version.at < before:
                found.append(version)
        return found

    def as_of(self, name: str, at: float) -> AsOf:
        """What was known of ``name`` at ``at``."""
        version = next((v for v in self.versions(name) if v.at <= at), None)
        if version is None:
            return AsOf(known=Known.UNKNOWN)
        gone = version.outcome is Outcome.GONE
        confirming = {Outcome.GONE} if gone else _CONFIRMS
        seen = (c.at for c in self.checks(name, version.at, at) if c.outcome in confirming and c.at <= at)
        return AsOf(
            known=Known.GONE if gone else Known.IN_FORCE,
            version=version,
            unchanged_since=version.at,
            confirmed_at=max(seen, default=version.at),
        )

    def checks(
        self, name: str | None = None, since: float | None = None, until: float | None = None
    ) -> Iterator[Check]:
        """The checks in the order of the journal, those outside [since, until] left out."""
        last = 0
        for stream in self._streams(since, until):
            for n, check in checks_in(stream, name):
                if n <= last:
                    continue
                last = n
                if (since is None or check.at >= since) and (until is None or check.at <= until):
                    yield check

    def checks_after(self, n: int, base: int) -> Iterator[Check]:
        """The checks whose lines are numbered above ``n``; snapshot ``base`` holds none of them."""
        last = n
        for stream in self._streams(None, None, base):
            for number, check in checks_in(stream):
                if number > last:
                    last = number
                    yield check

    def _streams(self, since: float | None, until: float | None, base: int = 0) -> Iterator[Iterator[bytes]]:
        layout = self._layout
        for number in layout.numbers(layout.audit):
            path = layout.audit_file(number)
            if number > base and number not in self.sizes and within(audit_header(layout, path), since, until):
                yield audit_lines(layout, path)
        for number in sorted(self.sizes):
            yield self._segment(number)

    def _segment(self, number: int) -> Iterator[bytes]:
        size = self.sizes[number]
        with self._layout.fs.reader(self._layout.segment(number)) as stream:
            for offset, raw in lines.scan(stream, []):
                if offset >= size:
                    return
                yield raw


def _n(raw: bytes) -> int:
    return decode_header(raw).n


def _version(n: int, raw: bytes) -> Version | None:
    try:
        row = decode_state(raw)
    except msgspec.MsgspecError:
        return None
    if row.outcome is None:
        return None
    record = record_of(row)
    if record is not None:
        record = msgspec.structs.replace(record, values=record.public())
    at = row.last_fetched_at or 0.0
    return Version(name=row.name, at=at, outcome=row.outcome, record=record, body=row.body, seq=n)


def _find(view: mmap, needle: bytes) -> Iterator[bytes]:
    at = view.find(needle)
    while at >= 0:
        stop = view.find(b"\n", at) + 1
        raw = view[at:stop] if stop else b""
        if lines.intact(raw):
            yield raw
        at = view.find(needle, at + 1)


def rows_of(layout: Layout, path: str, key: bytes) -> list[bytes]:
    """The rows of one watch in a history file, found by bisection; oldest first."""
    size = layout.fs.size(path)
    if not size:
        return []
    with layout.fs.map(path, size) as view:
        needle = lines.prefix(b"s", key)
        at = _bisect(view, needle)
        found = []
        while at is not None and at < len(view):
            stop = view.find(b"\n", at) + 1 or len(view)
            raw = view[at:stop]
            if lines.intact(raw):
                if not raw.startswith(needle):
                    break
                found.append(raw)
            at = stop
        if at is None:
            found = list(_find(view, needle))
    return found


def _bisect(view: mmap, needle: bytes) -> int | None:
    """The offset of the first row that is not below ``needle``; None where damage makes that unknowable."""
    low, high = 0, len(view)
    while low < high:
        start = view.rfind(b"\n", low, (low + high) // 2) + 1 or low
        stop = view.find(b"\n", start) + 1 or len(view)
        raw = view[start:stop]
        if not lines.intact(raw):
            return None
        if raw < needle and not raw.startswith(lines.END):
            low = stop
        else:
            high = start
    return low


def checks_in(stream: Iterator[bytes], name: str | None = None) -> Iterator[tuple[int, Check]]:
    """The checks that good lines tell of, each with its number and every exchange it made."""
    mark = b',"w":"%b"' % lines.escape(name) if name is not None else b',"w":"'
    before: list[tuple[int, Exchange]] = []
    for raw in stream:
        if not raw.startswith(mark, 8):
            continue
        try:
            if raw.startswith(b'{"k":"e"'):
                before.append((_decode_of(raw).of, decode_exchange(raw)))
            elif b'"check":{' in raw:
                row = decode_check(raw)
                check = check_of(row, tuple(exchange for of, exchange in before if of == row.n))
                before.clear()
                if check is not None:
                    yield row.n, check
        except msgspec.MsgspecError:
            # Counted and reported when the store is opened or examined; an unreadable check is no answer here.
            continue


def audit_lines(layout: Layout, path: str, damage: list[Bad] | None = None) -> Iterator[bytes]:
    """The good lines of an audit file; damage to its packing costs what comes after it."""
    bad: list[Bad] = [] if damage is None else damage
    with layout.fs.reader(path) as packed, gzip.GzipFile(fileobj=packed) as stream:
        try:
            yield from (raw for _, raw in lines.scan(stream, bad))
        except (gzip.BadGzipFile, EOFError, zlib.error):
            bad.append(Bad(0, b"", "damaged"))


def audit_header(layout: Layout, path: str) -> HeaderLine | None:
    """The first line of an audit file, if it can be read."""
    first = next(audit_lines(layout, path), b"")
    return decode_header(first) if first.startswith(lines.HEADER) else None


def within(header: HeaderLine | None, since: float | None, until: float | None) -> bool:
    """Whether a file may hold a check in [since, until]; unknown counts as yes."""
    if header is None or header.since is None or header.until is None:
        return True
    return (since is None or header.until >= since) and (until is None or header.since <= until)
