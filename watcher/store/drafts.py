"""From what the engine hands over to lines, and from lines on disk to rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from watcher.core.history import VERSIONS, Check
from watcher.core.model import Record
from watcher.core.state import HostState, UrlState
from watcher.store import lines
from watcher.store.codec import delta_line, full_line, host_line, lone_line
from watcher.store.fold import Fold
from watcher.store.index import PLACES, pack
from watcher.store.layout import JOURNAL, file_id

_encode_exchange = msgspec.json.Encoder().encode


class Entry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What goes into the journal as one write: a check, the state it led to, and the hosts it taught us about.

    ``version`` makes the state a row of history; None decides by the check's outcome. ``retention``
    is the class that row is kept under.
    """

    state: UrlState | None = None
    check: Check | None = None
    hosts: tuple[HostState, ...] = ()
    version: bool | None = None
    retention: str = "default"

    @property
    def is_version(self) -> bool:
        if self.version is not None:
            return self.version
        return self.check is not None and self.check.outcome in VERSIONS and not self.check.silent


class Base(msgspec.Struct, frozen=True, gc=False):
    """What a watch's next ``a`` line builds on: the state and number of its ``s`` line, the cold fields named since."""

    state: UrlState
    number: int
    named: frozenset[str]


class Draft(msgspec.Struct, gc=False):
    """An entry as lines. ``at`` is the index of its state line, ``base`` what that line leaves to build on."""

    entry: Entry
    lines: list[bytes]
    n: int = 0
    at: int = -1
    full: bool = False
    base: Base | None = None

    @property
    def size(self) -> int:
        return sum(map(len, self.lines))


class Desk:
    """Writes drafts and settles them into memory once they are durable. Belongs to one thread."""

    REMEMBERED = 4096

    def __init__(self, fold: Fold, read_base: Callable[[str], Base | None]) -> None:
        self._fold = fold
        self._read_base = read_base
        self._bases: dict[str, Base] = {}

    def draft(self, entry: Entry, ahead: dict[str, Base]) -> Draft:
        """The lines of ``entry``. ``ahead`` holds what earlier drafts of the same batch leave to build on.

        Raises ValueError for values that strict JSON cannot hold.
        """
        draft = Draft(entry, [])
        check, state = entry.check, entry.state
        earlier = check.exchanges[:-1] if check is not None else ()
        draft.n = self._fold.n + len(earlier) + len(entry.hosts) + 1
        if check is not None:
            for exchange in earlier:
                head = b'{"n":%d,"of":%d,' % (self._next(), draft.n)
                raw = msgspec.Raw(head + _encode_exchange(exchange)[1:])
                draft.lines.append(lines.line(b"e", check.name, raw))
        for host in entry.hosts:
            draft.lines.append(host_line(host, self._next()))
        if state is not None:
            self._next()
            self._state_line(draft, state, ahead)
        elif check is not None:
            draft.lines.append(lone_line(check, self._next()))
        return draft

    def _next(self) -> int:
        self._fold.n += 1
        return self._fold.n

    def _state_line(self, draft: Draft, state: UrlState, ahead: dict[str, Base]) -> None:
        entry, name, version = draft.entry, state.name, draft.entry.is_version
        base = None if version else ahead.get(name) or self._base(name)
        if base is None or state.url != base.state.url or not _same(state.record, base.state.record):
            raw = full_line(state, draft.n, version, entry.retention, entry.check)
            draft.full, draft.base = True, Base(state, draft.n, frozenset())
        else:
            raw, named = delta_line(state, draft.n, base.state, base.number, base.named, entry.check)
            draft.base = Base(base.state, base.number, named)
        ahead[name] = draft.base
        draft.at = len(draft.lines)
        draft.lines.append(raw)

    def _base(self, name: str) -> Base | None:
        if name in self._fold.suspects or name not in self._fold.rows:
            return None
        return self._bases.get(name) or self._read_base(name)

    def settle(self, drafts: Sequence[Draft], segment: int, offset: int) -> None:
        """Let drafts count: their batch is durable at ``offset`` of ``segment``."""
        file = file_id(JOURNAL, segment)
        for draft in drafts:
            entry = draft.entry
            if entry.state is not None and draft.base is not None:
                before = sum(map(len, draft.lines[: draft.at])) if draft.at else 0
                self._move(draft, entry.state, draft.base, (file, offset + before, len(draft.lines[draft.at])))
            for host in entry.hosts:
                self._fold.hosts[host.key] = host
            offset += draft.size

    def _move(self, draft: Draft, state: UrlState, base: Base, place: tuple[int, int, int]) -> None:
        name, rows, bases = state.name, self._fold.rows, self._bases
        if draft.full:
            places: tuple[int, ...] = (*place, 0, 0, 0)
            self._fold.suspects.discard(name)
        else:
            places = (*PLACES.unpack_from(rows[name])[:3], *place)
        rows[name] = pack(places, draft.n, base.number, state)
        if bases.pop(name, None) is None and len(bases) >= self.REMEMBERED:
            del bases[next(iter(bases))]
        bases[name] = base

    def drop(self, name: str) -> None:
        """Remember nothing of a watch any more."""
        self._bases.pop(name, None)


def _same(one: Record | None, other: Record | None) -> bool:
    return one is other or one == other
