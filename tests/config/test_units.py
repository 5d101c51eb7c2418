"""Durations and sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.config.units import LONGEST, format_duration, parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("15m", 900), ("6h", 21_600), ("3d", 259_200), ("2w", 1_209_600), ("1h30m", 5_400), ("0s", 0)],
)
def test_durations_as_people_write_them(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "5", "1.5h", "-1h", "1h 30m", "30m1h", "1H", "1 h", "h", "1h1h", "٣d", "11y", "522w", "9" * 30 + "s"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a duration|longer than ten years"):
        parse_duration(text)


@given(st.integers(0, LONGEST))
def test_every_duration_has_a_spelling(seconds: int) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


@given(st.text(max_size=12))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        seconds = parse_duration(text)
    except ValueError:
        return
    assert 0 <= seconds <= LONGEST


def test_spellings_are_short() -> None:
    assert [format_duration(x) for x in (5400, 86_400, 864_000, 1_209_600, 61)] == ["1h30m", "1d", "10d", "2w", "1m1s"]


@pytest.mark.parametrize(("text", "size"), [("5MiB", 5 * 1024**2), ("500kB", 500_000), ("1 GiB", 1024**3), ("7B", 7)])
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "5", "5 M", "5mib", "-1B", "1.5MiB"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        parse_size(text)
