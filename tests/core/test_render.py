"""The diff as lines: what unified, side-by-side, word and one-sentence views show."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from watcher.core.diff import FieldDiff, diff_values
from watcher.core.render import SIGNS, LineKind, delta, sentence, side_by_side, summary, unified, word_by_word
from watcher.core.words import Mark

BEFORE = ["a heading", "costs 20 euros today", "stays", "stays too", "goes away now", "walks about"]
AFTER = ["a heading", "walks about", "costs 18 euros today", "stays", "stays too", "a newcomer"]


def diff(before: Any, after: Any, field: str = "f") -> FieldDiff:
    found = diff_values(before, after, field)
    assert found is not None
    return found


def test_unified_shows_old_and_new_under_the_fields_name() -> None:
    lines = [SIGNS[line.kind] + line.text for line in unified([diff(BEFORE, AFTER, "content")])]
    assert lines == [
        "content (1 added, 1 removed, 1 edited, 1 moved)",
        "  a heading",
        "> walks about (6 → 2)",
        "- costs 20 euros today",
        "+ costs 18 euros today",
        "  stays",
        "  …",
        "  stays too",
        "- goes away now",
        "+ a newcomer",
    ]


def test_word_view_puts_both_into_one_line() -> None:
    lines = word_by_word([diff(BEFORE, AFTER)])
    edited = [line for line in lines if line.kind is LineKind.EDITED]
    assert [(span.mark, span.text) for span in edited[0].spans] == [
        (Mark.SAME, "costs"),
        (Mark.REMOVED, " 20"),
        (Mark.ADDED, " 18"),
        (Mark.SAME, " euros today"),
    ]


def test_side_by_side_leaves_room_where_one_side_has_nothing() -> None:
    rows = [(row.left and row.left.text, row.right and row.right.text) for row in side_by_side([diff(BEFORE, AFTER)])]
    assert ("costs 20 euros today", "costs 18 euros today") in rows
    assert ("goes away now", None) in rows
    assert (None, "a newcomer") in rows


def test_code_blocks_become_one_line_each() -> None:
    lines = unified([diff(["def f():\n    return 1"], ["def f():\n    return 2"])])
    assert [SIGNS[line.kind] + line.text for line in lines[1:]] == [
        "- def f():",
        "-     return 1",
        "+ def f():",
        "+     return 2",
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (1999, 1799, "-10.0 %"),
        (Decimal("2.0"), 3, "+50.0 %"),
        (-10, -5, "+50.0 %"),
        (0, 5, None),
        (True, False, None),
        ("1", "2", None),
        ({"minor": 1000, "currency": "EUR"}, {"minor": 1100, "currency": "EUR"}, "+10.0 %"),
        ({"minor": 1000, "currency": "EUR"}, {"minor": 1100, "currency": "USD"}, None),
    ],
)
def test_numbers_and_prices_say_how_far_they_moved(before: Any, after: Any, expected: str | None) -> None:
    assert delta(before, after) == expected


def test_a_sentence_says_what_changed() -> None:
    old, new = ({"minor": minor, "currency": "EUR"} for minor in (1999, 1799))
    assert sentence(diff(old, new, "price")) == "price: 19.99 EUR → 17.99 EUR (-10.0 %)"
    assert sentence(diff("In stock", "Sold out", "availability")) == "availability: In stock → Sold out"
    assert sentence(diff(1, "1", "n")) == 'n: 1 → "1"'
    assert sentence(diff(BEFORE, AFTER, "content")).startswith("content (1 added, 1 removed, 1 edited, 1 moved): ")


def test_a_notice_stays_short_whatever_changed() -> None:
    long = " ".join(f"word{i}" for i in range(4_000))
    text = summary([diff(long, long.replace("word2000", "other"), "text"), diff(["x"], ["y"] * 1000, "list")])
    assert "other" in text
    assert len(text) <= 400
