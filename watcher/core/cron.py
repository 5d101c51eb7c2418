"""Timetables: the next time a cron expression names, in a time zone, across its clock changes."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError


class CronError(ValueError):
    """A timetable that cannot be followed. ``str()`` is one sentence."""


@lru_cache(maxsize=64)
def zone(name: str | None) -> tzinfo:
    """The IANA time zone ``name``, UTC when None. Raises :class:`CronError` for an unknown one."""
    if name is None or name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CronError(f'"{name}" is no known time zone; write one as "Europe/Berlin".') from None


def next_time(expression: str, after: float, timezone: str | None = None) -> float:
    """The first instant later than ``after`` that ``expression`` (five fields: minute hour day month weekday) names.

    Clock changes follow Debian's cron: a time that is skipped runs right after the gap, one that comes
    twice runs once. Raises :class:`CronError` for an expression nobody can follow or that never comes.
    """
    fields = len(expression.split())
    if fields != 5:
        raise CronError(f'The timetable "{expression}" has {fields} fields, not 5: minute hour day month weekday.')
    try:
        found = next(CronSim(expression, datetime.fromtimestamp(after, zone(timezone))))
    except CronSimError as error:
        what = str(error).removeprefix("Bad ")
        raise CronError(f'The {what} of the timetable "{expression}" cannot be read.') from None
    except StopIteration:
        raise CronError(f'The timetable "{expression}" never comes.') from None
    return found.timestamp()
