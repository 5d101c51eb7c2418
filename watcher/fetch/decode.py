"""Content codings taken off while the body streams, within bounds (CONDUCT rules 36 and 37).

A limit laid over a library's own decoding is no limit: one megabyte of gzip can hold a gigabyte, and it is in memory
before the first piece is handed out. Here no step makes more than 64 KiB.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence

STEP = 64 * 1024
CODINGS = 2
"""Layers of coding taken off; more is an attack or a mistake."""

_GZIP = ("gzip", "x-gzip")
_COMPRESSED = ("br", "zstd", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip")
_NONE = ("", "identity")
_CONTROL = bytes(b for b in range(0x20) if b not in b"\t\n\x0c\r\x1b")


class DecodeError(Exception):
    """The body is not what its Content-Encoding says, or not all of it came; ``str()`` is one clause."""


class TooLarge(Exception):
    """The body is over a limit; ``str()`` is one clause."""


class _Gzip:
    """One or more members, one after the other; zero padding and foreign bytes after the last are ignored."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(31)
        self._rest = b""
        self._after = False
        self.begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        self.begun = self.begun or bool(data)
        data = self._rest + data
        self._rest = b""
        while data and not self._after:
            if self._member.eof:
                if len(data) < 2 and data == b"\x1f":
                    self._rest = data
                    return
                if not data.startswith(b"\x1f\x8b"):
                    self._after = True
                    return
                self._member = zlib.decompressobj(31)
            yield self._member.decompress(data, STEP)
            data = self._member.unused_data if self._member.eof else self._member.unconsumed_tail

    @property
    def complete(self) -> bool:
        return self._member.eof


class _Deflate:
    """zlib's format, or bare deflate as some servers send it (RFC 9110 section 8.4.1.2, note)."""

    def __init__(self) -> None:
        self._stream: zlib._Decompress | None = None
        self._head = b""
        self.begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        self.begun = self.begun or bool(data)
        if self._stream is None:
            self._head += data
            if len(self._head) < 2:
                return
            data = self._head
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._stream = zlib.decompressobj(15 if wrapped else -15)
        while data and not self._stream.eof:
            yield self._stream.decompress(data, STEP)
            data = self._stream.unconsumed_tail

    @property
    def complete(self) -> bool:
        return self._stream is not None and self._stream.eof


class Body:
    """Takes the pieces of one body off the wire and gives its bytes; counts both sides.

    ``most`` bounds each layer's decoded bytes, ``most_wire`` the bytes received.
    """

    def __init__(self, encodings: Iterable[bytes], *, most: int, most_wire: int) -> None:
        names = [n.strip().lower() for line in encodings for n in line.decode("latin-1").split(",")]
        self.codings = [name for name in names if name not in _NONE]
        self._most = most
        self._most_wire = most_wire
        self._made = 0
        self._kept = bytearray()
        self.wire = 0
        self._unknown = any(name not in (*_GZIP, "deflate") for name in self.codings)
        self._layers: list[_Gzip | _Deflate] = []
        if not self._unknown:
            if len(self.codings) > CODINGS:
                raise DecodeError(f"the body has {len(self.codings)} content codings on top of each other")
            self._layers = [_Gzip() if name in _GZIP else _Deflate() for name in reversed(self.codings)]

    def announced(self, lengths: Sequence[bytes]) -> None:
        """Refuse a body whose Content-Length is already over the limit. Raises TooLarge."""
        for length in lengths:
            if length.isdigit() and int(length[:20]) > min(self._most, self._most_wire):
                raise TooLarge(f"the body is announced with {int(length[:20]):,} bytes")

    def feed(self, piece: bytes) -> None:
        """Take one piece. Raises DecodeError, TooLarge."""
        self.wire += len(piece)
        if self.wire > self._most_wire:
            raise TooLarge(f"the body is over {_size(self._most_wire)} on the wire")
        try:
            self._through(piece, 0)
        except zlib.error as error:
            raise DecodeError(f"the body is not valid {self.codings[0]} ({str(error).split(': ')[-1]})") from None

    def so_far(self, most: int) -> bytes:
        """The first ``most`` bytes, for a body that is read only so far."""
        return bytes(self._kept[:most])

    def finish(self) -> bytes:
        """The whole body. Raises DecodeError when an end marker is missing or the coding is one we cannot take off."""
        if any(layer.begun and not layer.complete for layer in self._layers):
            raise DecodeError(f"the {self.codings[-1]} body is cut short")
        # A name nobody knows ("utf-8", "none") is passed over, as the Fetch standard does, if what came is text.
        if self._unknown and (set(self.codings) & {*_COMPRESSED, *_GZIP, "deflate"} or not _is_text(self._kept)):
            raise DecodeError(f"the body is in the coding {', '.join(self.codings)!s:.60}, which was not asked for")
        return bytes(self._kept)

    def _through(self, data: bytes, depth: int) -> None:
        if depth == len(self._layers):
            self._kept += data
            if len(self._kept) > self._most:
                raise TooLarge(f"the body is over {_size(self._most)}")
            return
        for part in self._layers[depth].feed(data):
            self._made += len(part)
            if self._made > self._most * (depth + 1):
                raise TooLarge(f"the body is over {_size(self._most)} once unpacked")
            if part:
                self._through(part, depth + 1)


def _is_text(body: bytearray) -> bool:
    head = bytes(body[:1445])
    return len(head.translate(None, _CONTROL)) == len(head)


def _size(limit: int) -> str:
    return f"{limit / (1 << 20):g} MiB"
