"""Quiet hours against hand-made tables of clock changes, and against the wall clock itself."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.core.quiet import is_quiet, quiet_until

BERLIN = ZoneInfo("Europe/Berlin")


def utc(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


# Berlin is UTC+1; on 2026-03-29 the clock leaps from 02:00 to 03:00 (01:00 UTC), on 2026-10-25 it goes
# back from 03:00 to 02:00 (01:00 UTC).
@pytest.mark.parametrize(
    ("quiet", "at", "until"),
    [
        ("22:00-07:00", "2026-01-05 20:59:59", None),
        ("22:00-07:00", "2026-01-05 21:00:00", "2026-01-06 06:00"),
        ("22:00-07:00", "2026-01-05 23:30:00", "2026-01-06 06:00"),
        ("22:00-07:00", "2026-01-06 05:59:59", "2026-01-06 06:00"),
        ("22:00-07:00", "2026-01-06 06:00:00", None),
        ("12:30-13:15", "2026-01-05 11:29:59", None),
        ("12:30-13:15", "2026-01-05 11:30:00", "2026-01-05 12:15"),
        ("12:30-13:15", "2026-01-05 12:15:00", None),
        ("07:00-07:00", "2026-01-05 06:00:00", None),
        ("22:00-07:00", "2026-03-28 22:00:00", "2026-03-29 05:00"),
        ("22:00-07:00", "2026-10-24 21:00:00", "2026-10-25 06:00"),
        ("01:00-02:30", "2026-03-29 00:30:00", "2026-03-29 01:00"),
        ("02:00-03:00", "2026-03-29 00:59:59", None),
        ("02:00-03:00", "2026-03-29 01:00:00", None),
        ("01:00-02:30", "2026-10-25 00:10:00", "2026-10-25 00:30"),
        ("01:00-02:30", "2026-10-25 00:45:00", None),
        ("01:00-02:30", "2026-10-25 01:10:00", "2026-10-25 01:30"),
        ("02:30-02:29", "2026-03-28 12:00:00", "2026-03-30 00:29"),
    ],
)
def test_berlin(quiet: str, at: str, until: str | None) -> None:
    assert quiet_until(quiet, BERLIN, utc(at)) == (None if until is None else utc(until))
    assert is_quiet(quiet, BERLIN, utc(at)) == (until is not None)


def test_without_quiet_hours_nothing_is_quiet() -> None:
    assert not is_quiet(None, BERLIN, 0.0)
    assert quiet_until("", BERLIN, 0.0) is None


CLOCK = st.builds("{:02d}:{:02d}".format, st.integers(0, 23), st.integers(0, 59))
ZONE = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]
)
AT = st.floats(utc("2024-01-01"), utc("2031-01-01"), allow_nan=False)


@given(CLOCK, CLOCK, ZONE, AT)
def test_quiet_lasts_exactly_as_long_as_the_wall_clock_says(start: str, end: str, name: str, at: float) -> None:
    zone = ZoneInfo(name)

    def says(instant: float) -> bool:
        wall = datetime.fromtimestamp(instant, zone).strftime("%H:%M")
        return start <= wall < end if start <= end else not end <= wall < start

    until = quiet_until(f"{start}-{end}", zone, at)
    assert is_quiet(f"{start}-{end}", zone, at) == says(at)
    if until is None:
        assert not says(at)
        return
    assert until > at
    assert not says(until)
    assert all(says(at + step) for step in range(0, int(until - at), 600))
    assert says(until - 1) or until - at < 1
