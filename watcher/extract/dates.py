"""Instants and dates, as far as they can be read without guessing."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo

from watcher.core.fingerprint import normalise

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_NAMED = (
    re.compile(rf"{_DAY}\.?\s+{_MONTH},?\s+(?P<year>\d{{4}})", re.I),
    re.compile(rf"{_MONTH}\s+{_DAY},?\s+(?P<year>\d{{4}})", re.I),
)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}|\d{4}-?W\d{2}|\d{8}(?:T|$)")
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+", re.I)


def _show(moment: datetime, zone: ZoneInfo | None) -> str:
    if moment.tzinfo is None and zone is not None:
        moment = moment.replace(tzinfo=zone)
    if moment.tzinfo is None:
        return moment.isoformat()
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def _named(text: str) -> str | None:
    """A date with the month as an English word: the one human form whose order nobody can mistake."""
    text = _WEEKDAY.sub("", text, count=1)
    for pattern in _NAMED:
        found = pattern.fullmatch(text)
        if found:
            month = _MONTHS.index(found["month"].lower()) + 1
            return date(int(found["year"]), month, int(found["day"])).isoformat()
    return None


def parse_date(text: str, timezone: str | None = None) -> str | None:
    """``text`` as ISO 8601, or None when it is no date we can read without guessing.

    Instants with an offset become UTC (``...Z``); without one they stay local, or are taken in ``timezone`` (an
    IANA name) when it is given; dates stay dates. Reads ISO 8601, RFC 3339, RFC 5322 dates, and English month names.
    """
    text = normalise(text)
    zone = ZoneInfo(timezone) if timezone else None
    try:
        if _ISO.match(text):
            if len(text) <= 10 and "T" not in text:
                return date.fromisoformat(text).isoformat()
            return _show(datetime.fromisoformat(text), zone)
        named = _named(text)
        if named:
            return named
        return _show(parsedate_to_datetime(text), zone)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
