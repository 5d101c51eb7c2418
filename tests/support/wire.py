"""Scripted answers as bytes: what a response described in JSON looks like on the wire.

The description is the one of the replay cases: ``status``, ``headers`` (a list means several field lines),
``body`` or ``body_b64`` or ``raw_b64`` or ``generate``, ``behaviour``, ``drip``.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator, Mapping
from email.utils import formatdate
from http.client import responses
from typing import Any

Spec = Mapping[str, Any]

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0, "y": 31_536_000.0}
SIZES = {"": 1, "B": 1, "KB": 1_000, "MB": 1_000_000, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
CHUNK = 1 << 20


class Unsupported(Exception):
    """A description this server does not know how to play; the message names what is missing."""


def seconds(text: str) -> float:
    """``+2h11m``, ``-1d``, ``100ms`` as seconds."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w|y)", text)
    if not parts or "".join(n + u for n, u in parts) != text.strip().lstrip("+-"):
        raise Unsupported(f"not a duration: {text!r}")
    total = sum(float(number) * UNITS[unit] for number, unit in parts)
    return -total if text.strip().startswith("-") else total


def size(text: str | int) -> int:
    """``600MiB`` as bytes."""
    if isinstance(text, int):
        return text
    match = re.fullmatch(r"(\d+)\s*([A-Za-z]*)", text.strip())
    if match is None or match[2] not in SIZES:
        raise Unsupported(f"not a size: {text!r}")
    return int(match[1]) * SIZES[match[2]]


def fill(text: str, names: Mapping[str, str], at: float) -> str:
    """Fill in ``{base}``, ``{host}`` ... from ``names``, and ``{httpdate:+2h}`` relative to ``at`` (unix seconds)."""
    text = re.sub(r"\{httpdate:([^}]*)\}", lambda m: formatdate(at + seconds(m[1]), usegmt=True), text)
    return re.sub(r"\{(\w+)\}", lambda m: names.get(m[1], m[0]), text)


def header_lines(spec: Spec, names: Mapping[str, str], at: float) -> list[tuple[bytes, bytes]]:
    """The response's own field lines, in order; strings are latin-1 unless ``headers_encoding`` says otherwise."""
    encoding = spec.get("headers_encoding", "latin-1")
    found = []
    for name, value in spec.get("headers", {}).items():
        for one in value if isinstance(value, list) else [value]:
            found.append((name.encode("ascii"), fill(str(one), names, at).encode(encoding)))
    return found


def body_of(spec: Spec, names: Mapping[str, str], at: float) -> bytes:
    """The body's bytes as sent, content codings applied (bodies that are too big to hold come from :func:`stream`)."""
    if "body_b64" in spec:
        return base64.b64decode(spec["body_b64"])
    if "body" in spec:
        return fill(spec["body"], names, at).encode(spec.get("body_encoding", "utf-8"))
    return b""


def head(spec: Spec, names: Mapping[str, str], at: float, length: int | None) -> bytes:
    """Status line and header section; Date and Content-Length are added unless the description gives them."""
    status = int(spec.get("status", 200))
    lines = header_lines(spec, names, at)
    given = {name.lower() for name, _ in lines}
    if b"date" not in given:
        lines.append((b"Date", formatdate(at, usegmt=True).encode("ascii")))
    bodiless = status in (204, 304) or status < 200
    if length is not None and not bodiless and not given & {b"content-length", b"transfer-encoding"}:
        lines.append((b"Content-Length", str(length).encode("ascii")))
    lines.append((b"Connection", b"keep-alive" if spec.get("keep_alive") else b"close"))
    start = f"HTTP/1.1 {status} {spec.get('reason') or responses.get(status, 'Unknown')}\r\n".encode("latin-1")
    return start + b"".join(name + b": " + value + b"\r\n" for name, value in lines) + b"\r\n"


def raw_of(spec: Spec, names: Mapping[str, str], at: float) -> bytes:
    """A whole message as given, for ``behaviour: raw``."""
    if "raw_b64" in spec:
        return base64.b64decode(spec["raw_b64"])
    return fill(spec.get("raw", spec.get("body", "")), names, at).encode("latin-1")


def stream(generate: Mapping[str, Any]) -> Iterator[bytes]:
    """The pieces of a generated body, made as they are sent."""
    kind = generate.get("kind")
    if kind == "gzip-zeros":
        return _gzip_zeros(size(generate["decoded_size"]))
    if kind == "zeros":
        return iter([bytes(CHUNK)] * (size(generate["size"]) // CHUNK))
    if kind == "robots":
        return _robots(str(generate.get("lines", "")))
    raise Unsupported(f"generated body of kind {kind!r}")


def _gzip_zeros(decoded: int) -> Iterator[bytes]:
    """One gzip member of ``decoded`` zero bytes (a multiple of 1 MiB): one flushed block sent again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(CHUNK)) + packer.flush(zlib.Z_FULL_FLUSH)
    yield b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    check = 0
    for _ in range(decoded // CHUNK):
        check = zlib.crc32(bytes(CHUNK), check)
        yield block
    yield packer.flush() + check.to_bytes(4, "little") + (decoded % (1 << 32)).to_bytes(4, "little")


def _robots(told: str) -> Iterator[bytes]:
    """A long robots.txt as the case tells it: N numbered ``Disallow`` lines, or comment lines without end."""
    if "endless" in told or "comment lines" in told:
        yield b"User-agent: *\n"
        line = b"# " + b"x" * 77 + b"\n"
        while True:
            yield line * 1_000
    count = re.search(r"([\d,]+) lines '([^']*%0?\d*d[^']*)'", told)
    last = re.findall(r"'([^']*)'", told)
    if count is None:
        raise Unsupported(f"generated robots.txt: {told!r}")
    yield b"User-agent: *\n"
    numbered = (count[2] % number for number in range(int(count[1].replace(",", ""))))
    yield "".join(f"{line}\n" for line in numbered).encode()
    yield f"{last[-1]}\n".encode()
