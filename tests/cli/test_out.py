"""The small parts of printing: what is safe, what aligns, how times and patterns are read."""

from __future__ import annotations

import io
import json
from datetime import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.cli.errors import CommandError
from watcher.cli.out import Out, clean, cut, json_line, one_line, span, width
from watcher.cli.select import select_name, select_names
from watcher.cli.times import parse_span, parse_time

UNSAFE = set(map(chr, [*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), 0x2028, 0x202E, 0x2066]))


@given(st.text())
def test_nothing_unsafe_is_printed(text: str) -> None:
    assert not UNSAFE & set(clean(text))
    assert not (UNSAFE | {"\n"}) & set(one_line(text))
    shown = json_line({"text": text.encode("utf-8", "replace").decode()})
    assert not (UNSAFE | {"\n"}) & set(shown)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_json_says_the_same_as_before(text: str) -> None:
    assert json.loads(json_line({"text": text})) == {"text": text}


def test_numbers_stay_exact() -> None:
    assert json_line([Decimal("1.10"), 2**53 + 1]) == "[1.10,9007199254740993]"


def test_width_and_cut_count_columns() -> None:
    assert [width(text) for text in ("abc", "日本", "e\u0301")] == [3, 4, 1]
    assert [cut("abcdef", 4), cut("日本語", 5), cut("abc", 3)] == ["abc…", "日本…", "abc"]


def test_a_table_aligns_wide_characters() -> None:
    stream = io.StringIO()
    Out(stream).table(("A", "B"), [("日本", "1"), ("x", "22")], right="-r")
    assert stream.getvalue() == "A      B\n日本   1\nx     22\n"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (59.6, "1m"), (5400, "1h 30m"), (90_061, "1d 1h"), (-5, "0s"), (86_400, "1d")]
)
def test_spans(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_times() -> None:
    now = 1_800_000_000.0
    assert parse_time("1h30m", now) == now - 5400
    assert parse_time("2026-12-01T08:00:00Z", now) == 1_796_112_000.0
    assert parse_time("2026-12-01 08:00", now) == datetime(2026, 12, 1, 8).timestamp()
    for text in ("", "soon", "2026-13-01", "08:00", "99999-01-01"):
        with pytest.raises(CommandError, match="is no time"):
            parse_time(text, now)
    assert parse_span("2d") == 172_800
    with pytest.raises(CommandError, match="longer than 0s"):
        parse_span("0s")


KNOWN = {"Desk lamp": "http://shop.test/lamp", "Lamp": "http://shop.test/2", "News [x]": "http://news.test/"}


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["Lamp"], ["Lamp"]),
        (["lamp"], ["Desk lamp", "Lamp"]),
        (["shop.test"], ["Desk lamp", "Lamp"]),
        (["http://news.*", "desk"], ["News [x]", "Desk lamp"]),
        (["News [x]"], ["News [x]"]),
    ],
)
def test_patterns(patterns: list[str], names: list[str]) -> None:
    assert select_names(KNOWN, patterns) == names


def test_patterns_that_mean_none_or_several() -> None:
    with pytest.raises(CommandError, match=r"no watch is meant by 'Lamb'; did you mean 'Lamp'\?"):
        select_names(KNOWN, ["Lamb"])
    with pytest.raises(CommandError, match=r"'shop' means 2 watches: 'Desk lamp', 'Lamp'; give the whole name"):
        select_name(KNOWN, "shop")
