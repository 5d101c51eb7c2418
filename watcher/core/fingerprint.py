"""What makes two records the same: normalised text, canonical JSON, and the hash over both.

The rules are version 1 and frozen: the golden vectors of ``tests/core/test_fingerprint.py`` pin them, and a
change of any rule changes :data:`VERSION`, the prefix of every fingerprint, so that old ones are never compared.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from json.encoder import encode_basestring

from watcher.core.model import Record, Value

VERSION = 1
PLAIN_DIGITS = 40
"""Numbers up to this many digits are written out; longer ones in powers of ten, so ``1e999999`` stays short."""

_CONTROLS = [c for c in (*range(0x20), *range(0x7F, 0xA0)) if chr(c) not in "\t\n\v\f\r\x85"]
# ZWJ and ZWNJ are absent on purpose: in an emoji or a Persian word they are content.
_INVISIBLE = "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
_DROPPED = re.compile(f"[{''.join(map(chr, _CONTROLS))}{_INVISIBLE}]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def drop_invisible(text: str) -> str:
    """``text`` without control and invisible characters, NFC, lone surrogates as U+FFFD; white space as it was.

    NFC (UAX #15), never NFKC: ² and 2, ½ and 1/2 are different contents.
    """
    if not text.isprintable():
        text = _SURROGATE.sub("\ufffd", _DROPPED.sub("", text))
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def normalise(text: str) -> str:
    """The form in which texts are stored, compared and hashed.

    Control and invisible characters are dropped, every run of Unicode white space is one space, the ends are
    trimmed, the rest is NFC. Case, quotes and dashes are content. Idempotent.
    """
    plain = text.isascii()
    if not plain:
        text = text.replace("\xa0", " ")
    if text.isprintable():  # then a space is its only white space, and nothing in it is invisible
        if "  " in text or text != text.strip():
            text = " ".join(text.split())
        return text if plain else unicodedata.normalize("NFC", text)
    return " ".join(drop_invisible(text).split())


def _number(value: int | Decimal) -> str:
    """One spelling per numeric value: ``1.50``, ``1.5`` and ``15e-1`` are all ``1.5``; ``-0`` is ``0``."""
    if isinstance(value, int) and abs(value) < 10**PLAIN_DIGITS:
        return str(value)
    sign, digits, exponent = Decimal(value).as_tuple()
    if not isinstance(exponent, int):  # NaN and infinity are no values of JSON (RFC 8259 section 6)
        return "null"
    text = "".join(map(str, digits)).lstrip("0")
    stripped = text.rstrip("0")
    exponent += len(text) - len(stripped)
    if not stripped:
        return "0"
    minus = "-" if sign else ""
    if 0 <= exponent <= PLAIN_DIGITS - len(stripped):
        return minus + stripped + "0" * exponent
    if -PLAIN_DIGITS <= exponent < 0:
        padded = stripped.rjust(1 - exponent, "0")
        return f"{minus}{padded[:exponent]}.{padded[exponent:]}"
    return f"{minus}{stripped}e{exponent}"


def _float(value: float) -> str:
    return _number(Decimal(repr(value))) if math.isfinite(value) else "null"


def _text(value: str) -> str:
    return encode_basestring(normalise(value))


def _canonical(value: Value) -> str:
    if isinstance(value, str):  # by far the most common
        return _text(value)
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | Decimal():
            return _number(value)
        case float():
            return _float(value)
        case Mapping():
            pairs = sorted((_text(str(key)), _canonical(item)) for key, item in value.items())
            return "{" + ",".join(f"{key}:{item}" for key, item in pairs) + "}"
        case list() | tuple():
            if set(map(type, value)) == {str}:  # the blocks of a page, by the thousand
                return f"[{','.join(map(encode_basestring, map(normalise, value)))}]"
            return f"[{','.join(map(_canonical, value))}]"
    raise TypeError(f"a record cannot hold a {type(value).__name__}")


def canonical(value: Value) -> bytes:
    """``value`` as the one UTF-8 JSON text that all equal values share.

    Keys sorted, no blanks, texts normalised, numbers by value (``1`` and ``1.0`` are equal, ``1`` and ``"1"`` are
    not), list order kept. ``null``, ``""``, ``0``, ``false`` and ``[]`` are five different values.

    Raises:
        TypeError: a value of a type no record holds.
    """
    return _canonical(value).encode()


def digest(value: Value) -> str:
    """SHA-256 over the canonical form, with the version of the rules before it: ``1:<64 hex digits>``."""
    return f"{VERSION}:{hashlib.sha256(canonical(value)).hexdigest()}"


def change_fingerprint(record: Record) -> str:
    """The fingerprint of the record's tracked fields; two records with the same one have not changed."""
    return digest(record.tracked())


def content_hash(text: str) -> str:
    """SHA-256 (hex) of the normalised text: the same for two texts that differ in layout only (for deduplication)."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()


def block_hash(block: Value) -> str:
    """64 bits (16 hex digits) that name a block of content among the blocks of one page."""
    return hashlib.blake2b(canonical(block), digest_size=8).hexdigest()
