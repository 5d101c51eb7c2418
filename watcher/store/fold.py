"""The state as the fold of lines: each line, in the order of the files, moves one row."""

from __future__ import annotations

from itertools import accumulate, repeat
from math import nan

import msgspec

from watcher.core.state import HostState
from watcher.store import lines
from watcher.store.codec import host_of
from watcher.store.index import OUTCOME_CODE, PLACES, ROW, STATUS_CODE

_S, _A, _O, _X, _Y, _H, _QUOTE = b'saoxyh"'
_FULL = b'{"k":"s","w":"'
_HEAD = lines.HEAD
_FUTURE = "future"
_SHAPE = "shape"


class HotLine(msgspec.Struct, gc=False):
    """The members of an ``s`` or ``a`` line that stay in memory; everything else is skipped, not built."""

    w: str
    n: int = 0
    b: int = 0
    url: str = ""
    at: float = nan
    out: str | None = None
    st: int = 0
    status: str = msgspec.field(name="is", default="ok")
    nxt: float | None = 0.0
    ivl: float = 0.0
    same: int = 0
    fail: int = 0
    chg: float | None = None
    read: float | None = None
    paused: bool = False
    lost: bool = False
    v: int = lines.FORMAT


class _Numbered(msgspec.Struct, gc=False):
    n: int = 0
    v: int = lines.FORMAT


class HeaderLine(msgspec.Struct, gc=False, omit_defaults=True):
    """The first line of a segment, snapshot, history or audit file. ``since``/``until``: the checks' times in it."""

    v: int = lines.FORMAT
    store: str = ""
    n: int = 0
    at: float = 0.0
    since: float | None = None
    until: float | None = None


_hot = msgspec.json.Decoder(HotLine).decode
_numbered = msgspec.json.Decoder(_Numbered).decode
decode_header = msgspec.json.Decoder(HeaderLine).decode


class Unfit(Exception):
    """A whole line that does not count: another shape than ours (``shape``), or of a newer format (``future``)."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Fold:
    """What is known after the lines so far. ``rows`` are packed (:mod:`watcher.store.index`).

    ``suspects`` are watches whose newest ``a`` line does not fit their ``s`` line: a line between was
    lost. ``erased`` maps an erased watch to the number of its ``x`` line, while that line still stands.
    ``hot=False`` keeps places only.
    """

    def __init__(self, *, hot: bool = True) -> None:
        self.hot = hot
        self.rows: dict[str, bytes] = {}
        self.hosts: dict[str, HostState] = {}
        self.suspects: set[str] = set()
        self.erased: dict[str, int] = {}
        self.erased_hosts: dict[str, int] = {}
        self.store_id = ""
        self.format = lines.FORMAT
        self.n = 0

    def apply(self, file: int, offset: int, raw: bytes) -> str | None:
        """Take one intact line at its place. Returns the watch it moved, if any; raises :class:`Unfit`."""
        kind = raw[6]
        try:
            if kind in (_S, _A):
                return self._move(file, offset, raw, kind == _S) if self.hot else self._place(file, offset, raw)
            return self._other(raw, kind)
        except msgspec.MsgspecError as error:
            raise Unfit(_SHAPE) from error

    def absorb(self, file: int, offset: int, batch: list[bytes]) -> int:
        """Take consecutive lines of a snapshot that are known to be good. Returns the offset behind them.

        Raises :class:`Unfit`. A start may be a million of these, so ``s`` lines are handled without a call each;
        the snapshot's own first and last lines say how far its numbers go.
        """
        try:
            return (self._absorb if self.hot else self._absorb_places)(file, offset, batch)
        except (msgspec.MsgspecError, ValueError, IndexError) as error:
            raise Unfit(_SHAPE) from error

    def _absorb(self, file: int, offset: int, batch: list[bytes]) -> int:
        rows, decode, pack_row = self.rows, _hot, ROW.pack
        for raw in batch:
            if raw[6] != _S or raw[7] != _QUOTE:
                self.apply(file, offset, raw)
                offset += len(raw)
                continue
            line = decode(raw)
            nxt, chg, read = line.nxt, line.chg, line.read
            row = pack_row(
                file,
                offset,
                len(raw),
                0,
                0,
                0,
                line.n,
                line.b or line.n,
                STATUS_CODE.get(line.status, 0),
                OUTCOME_CODE.get(line.out, 0),
                line.paused,
                line.st,
                line.same,
                line.fail,
                line.ivl,
                nan if nxt is None else nxt,
                line.at,
                nan if chg is None else chg,
                nan if read is None else read,
            )
            rows[line.w] = row + line.url.encode() if line.url else row
            if line.v > lines.FORMAT:
                raise Unfit(_FUTURE)
            if line.lost:
                self.suspects.add(line.w)
            offset += len(raw)
        return offset

    def _absorb_places(self, file: int, offset: int, batch: list[bytes]) -> int:
        # Sorted as bytes: between two `s` lines stand only `s` lines.
        if batch and batch[0].startswith(_FULL) and batch[-1].startswith(_FULL):
            keys = [raw[_HEAD : raw.index(b'"', _HEAD)] for raw in batch]
            if b"\\" not in b"".join(keys):
                sizes = list(map(len, batch))
                offsets = list(accumulate(sizes, initial=offset))
                nowhere = repeat(0)
                packed = map(PLACES.pack, repeat(file), offsets, sizes, nowhere, nowhere, nowhere)
                self.rows.update(zip(map(bytes.decode, keys), packed, strict=False))
                return offsets[-1]
        for raw in batch:
            self.apply(file, offset, raw)
            offset += len(raw)
        return offset

    def _move(self, file: int, offset: int, raw: bytes, full: bool) -> str:
        line = _hot(raw)
        if line.v > lines.FORMAT:
            raise Unfit(_FUTURE)
        name, n = line.w, line.n
        if full:
            base, places, url = line.b or n, (file, offset, len(raw), 0, 0, 0), line.url.encode("utf-8")
            (self.suspects.add if line.lost else self.suspects.discard)(name)
        else:
            base, places, url = self._under(name, line, (file, offset, len(raw)))
        self.rows[name] = self._pack(line, places, base) + url
        if n > self.n:
            self.n = n
        return name

    @staticmethod
    def _pack(line: HotLine, places: tuple[int, int, int, int, int, int], base: int) -> bytes:
        nxt, chg, read = line.nxt, line.chg, line.read
        return ROW.pack(
            *places,
            line.n,
            base,
            STATUS_CODE.get(line.status, 0),
            OUTCOME_CODE.get(line.out, 0),
            line.paused,
            line.st,
            line.same,
            line.fail,
            line.ivl,
            nan if nxt is None else nxt,
            line.at,
            nan if chg is None else chg,
            nan if read is None else read,
        )

    def _under(
        self, name: str, line: HotLine, place: tuple[int, int, int]
    ) -> tuple[int, tuple[int, int, int, int, int, int], bytes]:
        """The base, places and URL of a row an ``a`` line moves; a misfit makes the watch a suspect."""
        packed = self.rows.get(name)
        if packed is None:
            self.suspects.add(name)
            return line.b, (0, 0, 0, *place), line.url.encode("utf-8")
        known = ROW.unpack_from(packed)
        if known[7] != line.b:
            self.suspects.add(name)
        return known[7], (known[0], known[1], known[2], *place), packed[ROW.size :]

    def _place(self, file: int, offset: int, raw: bytes) -> str:
        name = lines.unescape(lines.raw_key(raw))
        if raw[6] == _S:
            self.rows[name] = PLACES.pack(file, offset, len(raw), 0, 0, 0)
        else:
            packed = self.rows.get(name)
            full = PLACES.unpack(packed)[:3] if packed is not None else (0, 0, 0)
            self.rows[name] = PLACES.pack(*full, file, offset, len(raw))
        return name

    def _other(self, raw: bytes, kind: int) -> str | None:
        if kind == _H:
            head = decode_header(raw)
            self.store_id = head.store or self.store_id
            self.format = max(self.format, head.v)
            self.n = max(self.n, head.n)
            return None
        line = _numbered(raw)
        if line.v > lines.FORMAT:
            raise Unfit(_FUTURE)
        self.n = max(self.n, line.n)
        if kind == _O:
            host = host_of(raw)
            self.hosts[host.key] = host
        elif kind == _X:
            name = lines.unescape(lines.raw_key(raw))
            self.forget(name)
            self.erased[name] = line.n
            return name
        elif kind == _Y:
            host_key = lines.unescape(lines.raw_key(raw))
            self.hosts.pop(host_key, None)
            self.erased_hosts[host_key] = line.n
        return None

    def forget(self, name: str) -> None:
        """Drop a watch."""
        self.rows.pop(name, None)
        self.suspects.discard(name)
