"""What a response says about time: HTTP dates, Retry-After, and how long it calls itself fresh (RFC 9110, RFC 9111).

Pure functions over received field lines. A value that means nothing counts as absent, never as an error.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

import msgspec

from watcher.core.exchange import Response
from watcher.core.phrase import DAY

LONGEST_WAIT = 7 * DAY
"""A Retry-After is honoured in full up to here; a typo on their side must not stop a watch for ever."""

LONGEST_FRESH = DAY

_MONTHS = {name: place for place, name in enumerate(b"jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_IMF = re.compile(rb"[a-z]{3}, (\d\d) ([a-z]{3}) (\d{4}) (\d\d):(\d\d):(\d\d) gmt", re.I)
_RFC850 = re.compile(rb"[a-z]{6,9}, (\d\d)-([a-z]{3})-(\d\d) (\d\d):(\d\d):(\d\d) gmt", re.I)
_ASCTIME = re.compile(rb"[a-z]{3} ([a-z]{3}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})", re.I)
_DIGITS = re.compile(rb"[0-9]+")
_DIRECTIVE = re.compile(
    rb"[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:=(?:\"((?:[^\"\\]|\\.)*)\"|([^\s,;\"]*)))?[ \t]*(?:,|$)"
)


def http_date(value: bytes, now: float) -> float | None:
    """An HTTP-date in any of its three forms (RFC 9110 section 5.6.7) as unix seconds, or None.

    ``now`` places the two-digit year of the RFC 850 form: more than 50 years ahead means the century before.
    """
    value = value.strip(b" \t")
    if found := _IMF.fullmatch(value):
        day, month, year, *clock = found.groups()
        return _instant(int(year), month, day, clock)
    if found := _RFC850.fullmatch(value):
        day, month, short, *clock = found.groups()
        this = datetime.fromtimestamp(now, UTC).year
        years = (this - this % 100 + int(short) + century for century in (100, 0, -100))
        return _instant(next(year for year in years if year <= this + 50), month, day, clock)
    if found := _ASCTIME.fullmatch(value):
        month, day, hour, minute, second, year = found.groups()
        return _instant(int(year), month, day, [hour, minute, second])
    return None


def _instant(year: int, month: bytes, day: bytes, clock: list[bytes]) -> float | None:
    hour, minute, second = map(int, clock)
    try:
        # A leap second is the second before it: nothing here depends on it.
        moment = datetime(year, _MONTHS[month.lower()], int(day), hour, minute, min(second, 59), tzinfo=UTC)
    except (ValueError, KeyError):
        return None
    return moment.timestamp() if second <= 60 else None


def _date_of(response: Response) -> float | None:
    lines = response.lines(b"date")
    return http_date(lines[0], response.received_at) if len(lines) == 1 else None


def last_modified(response: Response) -> float | None:
    """The single Last-Modified of a response as unix seconds, or None. For planning only, never sent back."""
    lines = set(response.lines(b"last-modified"))
    return http_date(lines.pop(), response.received_at) if len(lines) == 1 else None


def retry_after(response: Response) -> float | None:
    """Seconds from receipt that the response asks us to stay away, at most seven days, or None (CONDUCT rule 27).

    A date is measured against the response's own Date. Of several lines the longest valid one counts.
    """
    base = _date_of(response)
    waits: list[float] = []
    for line in response.lines(b"retry-after"):
        if _DIGITS.fullmatch(line):
            waits.append(min(float(line[:16]), LONGEST_WAIT))
        elif (date := http_date(line, response.received_at)) is not None:
            waits.append(date - (response.received_at if base is None else base))
    longest = max(waits, default=-1.0)
    return min(longest, LONGEST_WAIT) if longest >= 0 else None


class Freshness(msgspec.Struct, frozen=True, kw_only=True):
    """How long a response is fresh by its own word, all in seconds at receipt; ``lifetime`` None when it says nothing.

    ``stale`` is True when its age is already above its lifetime (CONDUCT rule 29), ``excused`` when it also names
    stale-while-revalidate or stale-if-error: then it says nothing about the page's rate of change.
    """

    lifetime: float | None
    age: float
    stale: bool = False
    excused: bool = False

    def until(self, received_at: float) -> float | None:
        """The instant until which the copy is fresh, at most a day after receipt; None when it is not."""
        if self.lifetime is None or self.lifetime <= self.age:
            return None
        return received_at + min(self.lifetime - self.age, LONGEST_FRESH)


def max_age(response: Response) -> float | None:
    """The lifetime in seconds that Cache-Control gives, or None. It stays true when a 304 repeats no header field."""
    return _by_directives(_directives(response.lines(b"cache-control")))


def freshness(response: Response, stored: float | None = None) -> Freshness:
    """The freshness of a 200 or of a 304 (RFC 9111 section 4.2, as a private client, without heuristics).

    ``no-cache`` and values that mean nothing are a lifetime of zero; of repeated directives the smallest counts.
    ``stored`` is the :func:`max_age` that a 304 without Cache-Control leaves in force (RFC 9111 section 3.2).
    """
    directives = _directives(response.lines(b"cache-control"))
    # Of a list the first member counts (RFC 9111 section 5.1).
    ages = [line.partition(b",")[0].strip(b" \t") for line in response.lines(b"age")]
    age = max([float(text[:16]) for text in ages if _DIGITS.fullmatch(text)], default=0.0)
    lifetime = _by_directives(directives)
    if lifetime is None:
        lifetime = stored if stored is not None and not directives else _by_expires(response)
    stale = lifetime is not None and age > lifetime
    excused = stale and any(name in directives for name in (b"stale-while-revalidate", b"stale-if-error"))
    return Freshness(lifetime=lifetime, age=age, stale=stale, excused=excused)


def _by_directives(directives: dict[bytes, list[bytes | None]]) -> float | None:
    if b"no-cache" in directives:
        return 0.0
    if ages := directives.get(b"max-age"):
        return min(float(age[:16]) if age and _DIGITS.fullmatch(age) else 0.0 for age in ages)
    return None


def _by_expires(response: Response) -> float | None:
    expires = response.lines(b"expires")
    if not expires:
        return None
    base = _date_of(response)
    base = response.received_at if base is None else base
    dates = [http_date(line, response.received_at) for line in expires]
    return max(0.0, min(0.0 if date is None else date - base for date in dates))


def _directives(lines: list[bytes]) -> dict[bytes, list[bytes | None]]:
    found: dict[bytes, list[bytes | None]] = {}
    for line in lines:
        position = 0
        while position < len(line):
            directive = _DIRECTIVE.match(line, position)
            if directive is None:
                # Whatever this is ends at the next comma; a max-age that cannot be read is one that is over.
                broken, comma, _ = line[position:].partition(b",")
                name = broken.strip(b" \t").partition(b"=")[0].strip(b" \t").lower()
                if name == b"max-age":
                    found.setdefault(name, []).append(None)
                position += len(broken) + len(comma)
                continue
            quoted, token = directive[2], directive[3]
            found.setdefault(directive[1].lower(), []).append(token if quoted is None else quoted)
            position = directive.end()
    return found
