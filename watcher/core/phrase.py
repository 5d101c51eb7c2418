"""Durations and rates in plain words, for the sentences that say why."""

from __future__ import annotations

MINUTE = 60.0
HOUR = 3_600.0
DAY = 86_400.0
WEEK = 604_800.0

_UNITS = ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"))
_PERIODS = ((DAY, "day"), (WEEK, "week"), (30 * DAY, "month"), (365 * DAY, "year"))


def span(seconds: float) -> str:
    """``seconds`` to two digits in the unit a person would choose: ``45 s``, ``90 min``, ``1.4 h``, ``2 d``."""
    for unit, name in _UNITS:
        if seconds >= unit * 0.995:
            return f"{_short(seconds / unit)} {name}"
    return f"{_short(seconds)} s"


def often(per_hour: float) -> str:
    """A rate as a count in the shortest period that holds about one: ``about 3.1 a week``."""
    for length, name in _PERIODS:
        count = per_hour * length / HOUR
        if count >= 0.95:
            return f"about {_short(count)} a {name}"
    return "less than once a year"


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 9.95 else f"{number:.1f}".removesuffix(".0")
