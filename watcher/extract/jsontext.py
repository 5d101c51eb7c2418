"""JSON read exactly: RFC 8259 and nothing laxer, every digit kept, no key twice."""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any

from watcher.core.fingerprint import drop_invisible
from watcher.core.model import Value
from watcher.extract.errors import ExtractError

MAX_DEPTH = 200
"""Arrays and objects nested deeper than this are refused (RFC 8259 section 9 lets a receiver set the limit)."""
LONG = 1_000
"""Digits, or decimal exponent, from which a number is kept as text, as it was written: no reader of the store would
take it for a number."""

_PREFIX = re.compile(r"\s*(?:\)\]\}',?|while\s*\(\s*1\s*\)\s*;|for\s*\(\s*;\s*;\s*\)\s*;)\s*")
_JSONP = re.compile(r"\s*(?:/\*.*?\*/\s*)?[A-Za-z_$][\w$.]*\s*\(\s*(?=[\[{])(.*)\)\s*;?\s*", re.S)
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Twice(ValueError):
    """An object that has one key two times."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Twice(f"the key `{drop_invisible(twice)[:60]}` stands twice in one object")
    return result


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= LONG else digits


def _fraction(digits: str) -> Decimal | str:
    number = Decimal(digits)
    return number if len(digits) <= LONG and abs(number.adjusted()) <= LONG else digits


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _storable(value: Any, depth: int = 0) -> Value:
    """``value`` with lone surrogates replaced: they exist in JSON texts and in no UTF-8 file."""
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    match value:
        case str():
            return _SURROGATE.sub("\ufffd", value)
        case list():
            return [_storable(item, depth + 1) for item in value]
        case dict():
            return {_SURROGATE.sub("\ufffd", key): _storable(item, depth + 1) for key, item in value.items()}
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_fraction, parse_int=_integer, parse_constant=_refuse
)


def strip_prefix(text: str) -> str:
    """``text`` without a byte order mark, an anti-hijacking prefix such as ``)]}'``, or a JSONP call around it."""
    text = text.removeprefix("\ufeff")
    if text[:1] in ("{", "["):
        return text
    wrapped = _JSONP.fullmatch(text)
    if wrapped:
        return wrapped[1]
    prefix = _PREFIX.match(text)
    return text[prefix.end() :] if prefix else text


def parse_json(text: str) -> Value:
    """The value of a JSON text: integers as int, other numbers as Decimal, absurdly long ones as text.

    Raises:
        ExtractError: ``broken:json``; not JSON, a key twice in an object (RFC 8259 section 4 calls what
            receivers make of it unpredictable), or nested too deeply.
    """
    try:
        return _storable(_DECODER.decode(strip_prefix(text)))
    except json.JSONDecodeError as error:
        sentence = f"not JSON: {error.msg[0].lower()}{error.msg[1:]} at line {error.lineno}, column {error.colno}"
    except RecursionError:
        sentence = f"not usable JSON: nested deeper than {MAX_DEPTH} levels"
    except (ValueError, InvalidOperation) as error:
        sentence = f"not usable JSON: {error}"
    raise ExtractError("broken:json", sentence)
