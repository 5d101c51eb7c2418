"""Reading single lines by their place."""

from __future__ import annotations

import msgspec

from watcher.core.state import UrlState
from watcher.store import lines
from watcher.store.codec import decode_delta, decode_state, named_in, state_of
from watcher.store.drafts import Base
from watcher.store.index import PLACES, Place, base_of, places, url_of
from watcher.store.layout import Layout
from watcher.store.mirror import WIRE


class _Named(msgspec.Struct, gc=False):
    """The cold fields named since, in an ``s`` line that is a fold."""

    d: tuple[str, ...] = ()


_decode_named = msgspec.json.Decoder(_Named).decode


class Reader:
    """Keeps files open while rows point into them: an unlinked file stays readable for whoever holds it."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._fds: dict[int, int] = {}

    def line(self, place: Place) -> bytes | None:
        """The line at ``place``; None if it is no longer what was written there. Raises OSError."""
        return self._at(*place)

    def _at(self, file: int, offset: int, size: int) -> bytes | None:
        fd = self._fds.get(file)
        if fd is None:
            fd = self._fds[file] = self._layout.fs.open_read(self._layout.path_of(file))
        raw = self._layout.fs.pread(fd, size, offset)
        return raw if lines.intact(raw) else None

    def state(self, name: str, packed: bytes) -> UrlState | None:
        """The whole state behind a row: at most two lines. Raises OSError."""
        file, offset, size, file_on_top, offset_on_top, size_on_top = PLACES.unpack_from(packed)
        full = self._at(file, offset, size) if file else None
        delta = self._at(file_on_top, offset_on_top, size_on_top) if file_on_top else None
        change = decode_delta(delta) if delta is not None else None
        if full is not None:
            return state_of(decode_state(full), change)
        if change is None:
            return None
        # Its s line is lost: what the attempt says is still the best that is known.
        url = url_of(name, packed)
        return state_of(decode_state(lines.line(b"s", name, {"url": url})), change)

    def base(self, packed: bytes) -> Base | None:
        """What the next ``a`` line of this row's watch can build on. Raises OSError."""
        at, on_top = places(packed)
        full = self.line(at) if at else None
        if full is None:
            return None
        decoded = decode_state(full)
        named = frozenset(WIRE[w] for w in _decode_named(full).d if w in WIRE)
        if on_top is not None:
            delta = self.line(on_top)
            if delta is None:
                return None
            named |= named_in(decode_delta(delta))
        return Base(state_of(decoded), base_of(packed), named)

    def hold(self, file: int) -> None:
        """Open a file now, before it can be unlinked. Raises OSError."""
        if file not in self._fds:
            self._fds[file] = self._layout.fs.open_read(self._layout.path_of(file))

    def release(self, keep: frozenset[int] = frozenset()) -> None:
        """Close every file but those to ``keep``."""
        for file in [f for f in self._fds if f not in keep]:
            self._layout.fs.close(self._fds.pop(file))
