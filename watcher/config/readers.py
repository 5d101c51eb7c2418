"""One value of the file, checked: each reader takes what TOML gave and returns what the program uses, or a Mistake."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from watcher.config.problems import did_you_mean
from watcher.config.units import parse_duration, parse_size
from watcher.core.model import Secret
from watcher.core.urls import UrlError, parse_url

Reader: TypeAlias = Callable[[Any], Any]
Schema: TypeAlias = Mapping[str, Reader]

DURATIONS = 'write it like "90s", "15m", "6h", "3d", "2w" or "1h30m"'
BY_REFERENCE = 'write "env:NAME" or "command:..." and keep the secret out of this file'
_KINDS = {str: "text", bool: "true or false", int: "a whole number", float: "a number", list: "a list", dict: "a table"}


class Mistake(ValueError):
    """A value that cannot be used: what is wrong, read on after the key, and what to do."""

    def __init__(self, message: str, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.suggestion = suggestion


def kind(value: Any) -> str:
    """What a TOML value is, in the words of a message."""
    return _KINDS.get(type(value), "a date or time")


def wrong_type(wanted: str, value: Any, suggestion: str | None = None) -> Mistake:
    """The mistake of giving ``value`` where ``wanted`` belongs."""
    return Mistake(f"must be {wanted}, not {kind(value)}", suggestion)


def text(value: Any) -> str:
    """Non-empty text on one line, blanks at the ends removed."""
    if not isinstance(value, str):
        raise wrong_type("text", value, 'put it in quotes: "..."' if isinstance(value, int | float) else None)
    stripped = value.strip()
    if not stripped:
        raise Mistake("must not be empty")
    if not stripped.isprintable():
        raise Mistake("must not contain line ends or control characters")
    return stripped


def free_text(value: Any) -> str:
    """Any text, line ends and all."""
    if not isinstance(value, str):
        raise wrong_type("text", value)
    return value


def boolean(value: Any) -> bool:
    """``true`` or ``false``."""
    if not isinstance(value, bool):
        word = str(value).lower()
        raise wrong_type("true or false", value, f"write {word} without quotes" if word in ("true", "false") else None)
    return value


def whole(least: int, most: int) -> Reader:
    """A whole number from ``least`` to ``most``."""

    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise wrong_type("a whole number", value)
        if not least <= value <= most:
            raise Mistake(f"must be from {least} to {most}, not {value}")
        return value

    return read


def positive(value: Any) -> float:
    """A number above zero."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise wrong_type("a number", value)
    if not 0 < value <= 1e6:
        raise Mistake(f"must be above 0 and at most 1000000, not {value}")
    return float(value)


def pause(value: Any) -> float:
    """A duration, zero allowed (seconds)."""
    if not isinstance(value, str):
        raise wrong_type("a duration", value, f'write "{value}s"' if type(value) is int else DURATIONS)
    try:
        return parse_duration(value.strip())
    except ValueError as error:
        raise Mistake(str(error), DURATIONS) from None


def duration(value: Any) -> float:
    """A duration above zero (seconds)."""
    seconds = pause(value)
    if seconds <= 0:
        raise Mistake("must be longer than 0s")
    return seconds


def keep(value: Any) -> float | None:
    """How long history is kept: a duration, or ``forever`` (None)."""
    return None if value == "forever" else duration(value)


def size(value: Any) -> int:
    """A size above zero (bytes); a bare whole number is bytes."""
    if type(value) is int and value > 0:
        return value
    if not isinstance(value, str):
        raise wrong_type("a size", value, 'write it like "500kB" or "5MiB"')
    try:
        found = parse_size(value.strip())
    except ValueError as error:
        raise Mistake(str(error), 'write it like "500kB" or "5MiB"') from None
    if not found:
        raise Mistake("must be larger than 0B")
    return found


def choice(*words: str) -> Reader:
    """One of ``words``."""

    def read(value: Any) -> str:
        if value not in words:
            shown = repr(value) if isinstance(value, str) else kind(value)
            raise Mistake(f"must be one of {', '.join(words)}, not {shown}", _near(value, words))
        return str(value)

    return read


def _near(value: Any, words: Iterable[str]) -> str | None:
    found = did_you_mean(value, words) if isinstance(value, str) else None
    return found if found and found.startswith("did") else None


def texts(value: Any) -> tuple[str, ...]:
    """A list of non-empty texts."""
    if isinstance(value, str):
        raise wrong_type("a list of texts", value, f'write ["{value}"]' if value.isprintable() else None)
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise Mistake("must be a list of texts, none of them empty", 'write it like ["one", "two"]')
    return tuple(value)


def argv(value: Any) -> tuple[str, ...]:
    """A command as a list: the program, then its arguments. No shell reads it."""
    if isinstance(value, str) and value.split():
        shown = ", ".join(f'"{word}"' for word in value.split())
        raise Mistake("must be a list: the program, then each argument", f"write [{shown}]")
    found = texts(value)
    if not found:
        raise Mistake("must name a program")
    return found


def url(value: Any) -> str:
    """An http(s) URL, normalised as it will be asked for, without userinfo."""
    try:
        return parse_url(free_text(value)).full
    except UrlError as error:
        raise Mistake(str(error)) from None


def zone(value: Any) -> str:
    """An IANA time zone, such as ``Europe/Paris``."""
    name = text(value)
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        advice = did_you_mean(name, zoneinfo.available_timezones()) or 'write it like "Europe/Paris" or "UTC"'
        raise Mistake(f"{name!r} is not a known time zone", advice) from None
    return name


def quiet(value: Any) -> str:
    """Quiet hours, ``22:00-07:00``."""
    found = text(value)
    hour = r"([01]\d|2[0-3]):[0-5]\d"
    if not re.fullmatch(f"{hour}-{hour}", found):
        raise Mistake(f"{found!r} is not a span of hours", 'write it like "22:00-07:00"')
    return found


def secret_or_text(value: Any) -> str | Secret:
    """Text, or a reference to a secret: ``env:NAME`` or ``command:...``."""
    found = free_text(value)
    where, colon, what = found.partition(":")
    if not colon or where not in ("env", "command"):
        return found
    if not what.strip():
        raise Mistake(f"nothing stands after {where}:", BY_REFERENCE)
    if where == "env" and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", what):
        raise Mistake(f"{what!r} is not the name of an environment variable", BY_REFERENCE)
    return Secret(found)


def secret(value: Any) -> Secret:
    """A reference to a secret; the secret itself in the file is a mistake, and is not repeated in the message."""
    found = secret_or_text(value)
    if not isinstance(found, Secret):
        raise Mistake("a secret must not stand in this file", BY_REFERENCE)
    return found
