"""The line: strict JSON with a fixed prefix that names kind and key, and a fixed suffix that proves it whole.

``{"k":"s","w":"<key>", ... ,"c":"<crc32 of every byte before ,\"c\">"}\\n``

| kind | holds |
|---|---|
| ``h``, ``end`` | first and last line of a file: format, store, ranges and counts |
| ``s`` | the full state of watch ``w`` (``"ver":true``: also a row of its history) |
| ``a`` | an attempt: what differs from the last ``s`` of that watch, and every schedule field |
| ``c`` | a check that moved no state |
| ``e`` | one HTTP exchange more of the check ``of`` |
| ``o`` | the state of host ``w`` |
| ``x``, ``y`` | watch ``w``, host ``w`` erased |
| ``f``, ``g`` | an erasure (salted hash) and an expiry, without the data |
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from zlib import crc32

import msgspec

FORMAT = 1
SUFFIX = 17
HEAD = 14
END = b'{"k":"end"'
HEADER = b'{"k":"h"'
RESUME = b'{"k":"'
BATCH = 1 << 20
"""Bytes of lines read at a time where whole files are gone through."""

_encode = msgspec.json.Encoder(decimal_format="number").encode


class Bad(msgspec.Struct):
    """A run of bytes that is no line: ``offset`` in its file, the bytes, and why."""

    offset: int
    data: bytes
    reason: str


def seal(head: bytes, fields: bytes) -> bytes:
    """``head`` (``{"k":...`` without its end) and the members of the JSON object ``fields``, sealed by a checksum."""
    body = head + b"," + fields[1:-1] if len(fields) > 2 else head
    return b'%b,"c":"%08x"}\n' % (body, crc32(body))


def line(kind: bytes, key: str, fields: object) -> bytes:
    """A keyed line. The key is ASCII-escaped, so that it can be found, sorted and compared as bytes.

    Raises ValueError for what strict JSON cannot hold (lone surrogates, NaN).
    """
    return seal(prefix(kind, escape(key)), _encode(fields))


def keyed(key: str, members: msgspec.Struct) -> bytes:
    """A keyed line from a struct whose first two members are kind and key. Raises ValueError like :func:`line`."""
    raw = _encode(members)
    start = HEAD - 1
    body = raw[:-1] if key.isascii() else b'%b"%b"%b' % (raw[:start], escape(key), raw[start + len(_encode(key)) : -1])
    return b'%b,"c":"%08x"}\n' % (body, crc32(body))


def header(fields: object) -> bytes:
    """The first line of a file."""
    return seal(HEADER, _encode(fields))


def end(lines: int, n: int = 0, crc: int | None = None) -> bytes:
    """The last line of a snapshot or a history file: how many keyed lines came before, the last sequence number.

    ``crc`` is the CRC-32 of everything before it: one look tells that no line needs a look of its own.
    """
    whole = b"" if crc is None else b',"crc":"%08x"' % crc
    return seal(END, b'{"lines":%d,"n":%d%b}' % (lines, n, whole))


def intact(raw: bytes) -> bool:
    """Whether ``raw`` is one whole line as it was written. Bytes are compared, so ``A`` is not ``a``."""
    return raw[-SUFFIX:] == b',"c":"%08x"}\n' % crc32(raw[:-SUFFIX]) and raw[:6] == RESUME


def key_end(raw: bytes) -> int:
    """Where the quote that closes the key stands."""
    at = raw.index(b'"', HEAD)
    while raw[at - 1] == 0x5C:
        slashes = at - len(raw[:at].rstrip(b"\\"))
        if slashes % 2 == 0:
            break
        at = raw.index(b'"', at + 1)
    return at


def prefix(kind: bytes, key: bytes) -> bytes:
    """How every line of ``kind`` with this (escaped) key begins. Files sorted by it are sorted as bytes."""
    return b'{"k":"%b","w":"%b"' % (kind, key)


def raw_key(raw: bytes) -> bytes:
    """The key of a keyed line, still escaped."""
    return raw[HEAD : key_end(raw)]


def unescape(key: bytes) -> str:
    """The key as text."""
    return str(json.loads(b'"%b"' % key)) if b"\\" in key else key.decode("ascii")


def escape(key: str) -> bytes:
    """The key as it stands in a line, without its quotes."""
    return (_encode(key) if key.isascii() else json.dumps(key).encode())[1:-1]


class _End(msgspec.Struct):
    crc: str = ""


_decode_end = msgspec.json.Decoder(_End).decode


def whole_crc(last: bytes) -> int | None:
    """The checksum of a whole file in its (intact) last line, if it has one."""
    crc = _decode_end(last).crc
    return int(crc, 16) if crc else None


def scan(raws: Iterable[bytes], bad: list[Bad], offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, line) for every good line; what is neither good nor blank is appended to ``bad``, run by run.

    Bytes are split at line feeds first, so damage costs the lines it touches and no other. A good line
    glued to junk (a hole left by a power loss) is still found.
    """
    for raw in raws:
        # `intact`, without a call a line.
        if raw[-SUFFIX:] == b',"c":"%08x"}\n' % crc32(raw[:-SUFFIX]) and raw[:6] == RESUME:
            yield offset, raw
        elif raw.strip():
            start = raw.rfind(RESUME)
            whole = start > 0 and intact(raw[start:])
            _note(bad, offset, raw[:start] if whole else raw)
            if whole:
                yield offset + start, raw[start:]
        offset += len(raw)


def _note(bad: list[Bad], offset: int, data: bytes) -> None:
    if bad and bad[-1].reason == "damaged" and bad[-1].offset + len(bad[-1].data) == offset:
        bad[-1].data += data
    else:
        bad.append(Bad(offset, data, "damaged"))
