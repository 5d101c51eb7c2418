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


def line(kind: str, key: str, fields: object) -> bytes:
    """A keyed line. The key is ASCII-escaped, so that it can be found, sorted and compared as bytes.

    Raises ValueError for what strict JSON cannot hold (lone surrogates, NaN).
    """
    return seal(b'{"k":"%b","w":%b' % (kind.encode(), json.dumps(key).encode()), _encode(fields))


def header(fields: object) -> bytes:
    """The first line of a file."""
    return seal(HEADER, _encode(fields))


def end(lines: int, n: int) -> bytes:
    """The last line of a snapshot or a history file: how many keyed lines came before, and the last sequence number."""
    return seal(END, b'{"lines":%d,"n":%d}' % (lines, n))


def intact(raw: bytes) -> bool:
    """Whether ``raw`` is one whole line as it was written. Bytes are compared, so ``A`` is not ``a``."""
    return (
        raw[-11:-3] == b"%08x" % crc32(raw[:-SUFFIX])
        and raw[-SUFFIX:-11] == b',"c":"'
        and raw[-3:] == b'"}\n'
        and raw[:6] == RESUME
    )


def key_end(raw: bytes) -> int:
    """Where the quote that closes the key stands."""
    at = raw.index(b'"', HEAD)
    while raw[at - 1] == 0x5C:
        slashes = at - len(raw[:at].rstrip(b"\\"))
        if slashes % 2 == 0:
            break
        at = raw.index(b'"', at + 1)
    return at


def raw_key(raw: bytes) -> bytes:
    """The key of a keyed line, still escaped: what files are sorted by."""
    return raw[HEAD : key_end(raw)]


def unescape(key: bytes) -> str:
    """The key as text."""
    return str(json.loads(b'"%b"' % key)) if b"\\" in key else key.decode("ascii")


def escape(key: str) -> bytes:
    """The key as it stands in a line, without its quotes."""
    return json.dumps(key)[1:-1].encode()


def scan(raws: Iterable[bytes], bad: list[Bad], offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, line) for every good line; what is neither good nor blank is appended to ``bad``, run by run.

    Bytes are split at line feeds first, so damage costs the lines it touches and no other. A good line
    glued to junk (a hole left by a power loss) is still found.
    """
    for raw in raws:
        if intact(raw):
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
