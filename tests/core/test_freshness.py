"""Dates, Retry-After (rule 27) and freshness (rules 28, 29): vectors of our own after RFC 9110 and RFC 9111."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.core.exchange import Response
from watcher.core.freshness import freshness, http_date, last_modified, retry_after
from watcher.core.phrase import DAY

NOW = 1_767_607_200.0
"""2026-01-05 10:00:00 UTC."""


def date(delta: float) -> str:
    return formatdate(NOW + delta, usegmt=True)


def response(*lines: tuple[str, str], status: int = 200, received_at: float = NOW) -> Response:
    headers = tuple((name.encode(), value.encode("latin-1")) for name, value in lines)
    return Response(
        url="http://h.test/",
        status=status,
        headers=headers,
        body=b"",
        received_at=received_at,
        elapsed=0.0,
        bytes_wire=0,
    )


@pytest.mark.parametrize(
    "text", ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
)
def test_the_three_forms_of_a_date(text: str) -> None:
    assert http_date(text.encode(), NOW) == 784_111_777


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "",
        "-1",
        "2026-01-05T10:00:00Z",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 EST",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 31 Feb 2020 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT",
        "Sun, 06 Xyz 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert http_date(text.encode(), NOW) is None


def test_two_digit_years_lie_within_fifty_years_ahead() -> None:
    assert http_date(b"Monday, 05-Jan-76 10:00:00 GMT", NOW) == pytest.approx(NOW + 50 * 365.25 * DAY, abs=2 * DAY)
    found = http_date(b"Monday, 05-Jan-77 10:00:00 GMT", NOW)
    assert found is not None
    assert found < NOW


@given(st.integers(0, 4_000_000_000))
def test_a_formatted_date_reads_back(seconds: int) -> None:
    assert http_date(formatdate(seconds, usegmt=True).encode(), NOW) == seconds


@given(st.binary(max_size=40))
def test_no_bytes_break_the_reader(value: bytes) -> None:
    http_date(value, NOW)
    headers = tuple((name, value) for name in (b"Retry-After", b"Cache-Control", b"Expires", b"Age", b"Date"))
    found = Response(url="", status=503, headers=headers, body=b"", received_at=NOW, elapsed=0.0, bytes_wire=0)
    wait = retry_after(found)
    assert wait is None or 0 <= wait <= 7 * DAY
    assert (freshness(found).lifetime or 0.0) >= 0


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("120", 120.0),
        (" 7200 ", 7200.0),
        ("0", 0.0),
        ("007", 7.0),
        ("-1", None),
        ("+5", None),
        ("1.5", None),
        ("1e3", None),
        ("soon", None),
        ("", None),
        ("60, 120", None),
        ("99999999999999999999", 7 * DAY),
        (date(3600), 3600.0),
        (date(10 * 365 * DAY), 7 * DAY),
        (date(-DAY), None),
        ("Sunday, 06-Nov-94 08:49:37 GMT", None),
    ],
)
def test_rule_27_values(value: str, wait: float | None) -> None:
    assert retry_after(response(("Retry-After", value), status=429)) == wait


def test_rule_27_a_date_is_measured_by_the_servers_own_clock() -> None:
    fast = response(("Date", date(1000)), ("Retry-After", date(1060)), status=503)
    assert retry_after(fast) == 60


def test_rule_27_the_longest_valid_line_counts() -> None:
    lines = [("Retry-After", value) for value in ("60", "nonsense", "7200", "5")]
    assert retry_after(response(*lines, status=503)) == 7200


FRESH = [
    ("max-age=60", 60.0),
    ("MAX-AGE=60", 60.0),
    ('max-age="60"', 60.0),
    ("public, max-age=60", 60.0),
    ("max-age=60,public", 60.0),
    (" max-age=60 ", 60.0),
    (",,max-age=60,,", 60.0),
    ("foo=bar, max-age=60", 60.0),
    ('foo="a, max-age=1", max-age=60', 60.0),
    ('foo="\\", max-age=1", max-age=60', 60.0),
    ("max-age=0060", 60.0),
    ("s-maxage=5, max-age=60", 60.0),
    ("max-age=60, max-age=30", 30.0),
    ("max-age=30, max-age=60", 30.0),
    ("max-age=-1", 0.0),
    ("max-age=1.5", 0.0),
    ("max-age=a", 0.0),
    ("max-age", 0.0),
    ("max-age=", 0.0),
    ("max-age = 60", 0.0),
    ("max-age=60 s", 0.0),
    ("xmax-age=60", None),
    ("max-agex=60", None),
    ("no-cache", 0.0),
    ("no-cache, max-age=60", 0.0),
    ('no-cache="x", max-age=60', 0.0),
    ("no-store, max-age=60", 60.0),
    ("s-maxage=60", None),
    ("", None),
]


@pytest.mark.parametrize(("value", "lifetime"), FRESH)
def test_rule_28_cache_control(value: str, lifetime: float | None) -> None:
    assert freshness(response(("Cache-Control", value))).lifetime == lifetime


@pytest.mark.parametrize(
    ("lines", "lifetime"),
    [
        ([("Expires", date(60))], 60.0),
        ([("Expires", date(60)), ("Date", date(-40))], 100.0),
        ([("Expires", date(-60))], 0.0),
        ([("Expires", "0")], 0.0),
        ([("Expires", "tomorrow")], 0.0),
        ([("Expires", date(60)), ("Expires", date(30))], 30.0),
        ([("Expires", date(60)), ("Expires", "0")], 0.0),
        ([("Expires", date(60)), ("Cache-Control", "max-age=5")], 5.0),
        ([("Expires", date(60)), ("Cache-Control", "max-age=x")], 0.0),
        ([("Cache-Control", "max-age=60"), ("Cache-Control", "max-age=10")], 10.0),
        ([], None),
    ],
)
def test_rule_28_expires_and_several_lines(lines: list[tuple[str, str]], lifetime: float | None) -> None:
    assert freshness(response(*lines)).lifetime == lifetime


@pytest.mark.parametrize(
    ("age", "until"), [("10", NOW + 50), ("60", None), ("100", None), ("-1", NOW + 60), ("x", NOW + 60), ("", NOW + 60)]
)
def test_rule_28_age_is_taken_off(age: str, until: float | None) -> None:
    found = freshness(response(("Cache-Control", "max-age=60"), ("Age", age)))
    assert found.until(NOW) == until


def test_rule_28_at_most_a_day() -> None:
    assert freshness(response(("Cache-Control", "max-age=31536000"))).until(NOW) == NOW + DAY
    assert freshness(response()).until(NOW) is None


@pytest.mark.parametrize(
    ("cache", "age", "stale", "excused"),
    [
        ("max-age=60", "61", True, False),
        ("max-age=60", "60", False, False),
        ("max-age=60, stale-while-revalidate=30", "61", True, True),
        ("max-age=60, stale-if-error=30", "61", True, True),
        ("max-age=60, stale-while-revalidate=30", "10", False, False),
    ],
)
def test_rule_29_served_stale(cache: str, age: str, stale: bool, excused: bool) -> None:
    found = freshness(response(("Cache-Control", cache), ("Age", age)))
    assert (found.stale, found.excused) == (stale, excused)


def test_last_modified_is_for_planning_only_when_it_is_one_date() -> None:
    assert last_modified(response(("Last-Modified", date(-5)))) == NOW - 5
    assert last_modified(response(("Last-Modified", date(-5)), ("Last-Modified", date(-6)))) is None
    assert last_modified(response(("Last-Modified", "2020-01-01"))) is None
