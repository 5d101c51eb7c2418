from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.core.cron import CronError, next_time

BERLIN = "Europe/Berlin"


def stamp(text: str, zone: str = BERLIN) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


def times(expression: str, after: str, count: int, zone: str = BERLIN) -> list[str]:
    at, found = stamp(after, zone), []
    for _ in range(count):
        at = next_time(expression, at, zone)
        found.append(datetime.fromtimestamp(at, ZoneInfo(zone)).isoformat(timespec="minutes"))
    return found


def test_every_morning_across_both_clock_changes() -> None:
    assert times("0 9 * * *", "2026-03-28 10:00", 2) == ["2026-03-29T09:00+02:00", "2026-03-30T09:00+02:00"]
    assert times("0 9 * * *", "2026-10-24 10:00", 2) == ["2026-10-25T09:00+01:00", "2026-10-26T09:00+01:00"]


def test_a_time_that_is_skipped_runs_after_the_gap() -> None:
    assert times("30 2 * * *", "2026-03-28 12:00", 2) == ["2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"]


def test_a_time_that_comes_twice_runs_once() -> None:
    assert times("30 2 * * *", "2026-10-24 12:00", 2) == ["2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"]


def test_a_window_on_weekdays() -> None:
    assert times("*/30 9-10 * * MON-FRI", "2026-12-04 10:00", 3) == [
        "2026-12-04T10:30+01:00",
        "2026-12-07T09:00+01:00",
        "2026-12-07T09:30+01:00",
    ]


@given(
    st.sampled_from(["*/15 * * * *", "0 9 * * 1-5", "30 2 * * *", "0 0 1 * *", "0 12 * * SUN"]),
    st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1)),
    st.sampled_from([BERLIN, "America/New_York", "Australia/Lord_Howe", "UTC", None]),
)
def test_the_next_time_is_later_and_soon(expression: str, after: datetime, zone: str | None) -> None:
    at = after.replace(tzinfo=UTC).timestamp()
    found = next_time(expression, at, zone)
    assert 0 < found - at <= timedelta(days=32).total_seconds()
    assert next_time(expression, found, zone) > found


@pytest.mark.parametrize(
    ("expression", "zone", "sentence"),
    [
        ("0 9 * *", None, 'The timetable "0 9 * *" has 4 fields, not 5: minute hour day month weekday.'),
        ("", None, 'The timetable "" has 0 fields, not 5'),
        ("0 25 * * *", None, 'The hour of the timetable "0 25 * * *" cannot be read.'),
        ("x 9 * * *", None, 'The minute of the timetable "x 9 * * *" cannot be read.'),
        ("0 0 31 2 *", None, 'The day-of-month of the timetable "0 0 31 2 *" cannot be read.'),
        ("0 9 * * *", "Europe/Atlantis", '"Europe/Atlantis" is no known time zone'),
        ("0 9 * * *", "../etc", '"../etc" is no known time zone'),
    ],
)
def test_what_cannot_be_followed_says_so(expression: str, zone: str | None, sentence: str) -> None:
    with pytest.raises(CronError) as caught:
        next_time(expression, 0.0, zone)
    assert str(caught.value).startswith(sentence)
