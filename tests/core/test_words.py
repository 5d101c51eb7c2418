"""The word diff: exact, short where it is shown, and bounded."""

from __future__ import annotations

import random
import time

from hypothesis import given
from hypothesis import strategies as st

from watcher.core.words import Mark, changed_share, shorten, side, text_of, word_diff

TEXTS = st.text(alphabet="abc  .,é漢字\u00a0", max_size=60)


@given(TEXTS, TEXTS)
def test_the_spans_are_both_texts(before: str, after: str) -> None:
    spans = word_diff(before, after)
    assert text_of(side(spans, Mark.REMOVED)) == before
    assert text_of(side(spans, Mark.ADDED)) == after


def test_only_the_changed_words_are_marked() -> None:
    spans = word_diff("It costs 1,299.00 EUR now.", "It costs 1,199.00 EUR now.")
    assert [(s.mark, s.text) for s in spans if s.mark is not Mark.SAME] == [
        (Mark.REMOVED, " 1,299.00"),
        (Mark.ADDED, " 1,199.00"),
    ]


def test_chinese_is_compared_character_by_character() -> None:
    spans = word_diff("价格一覧表", "价格二覧表")
    assert [(s.mark, s.text) for s in spans] == [
        (Mark.SAME, "价格"),
        (Mark.REMOVED, "一"),
        (Mark.ADDED, "二"),
        (Mark.SAME, "覧表"),
    ]


def test_a_long_text_is_shown_short() -> None:
    text = " ".join(f"w{i * 7919 % 5_003}" for i in range(5_000))
    spans = shorten(word_diff(f"{text} alpha {text}", f"{text} beta {text}"))
    shown = text_of(spans)
    assert "alpha" in shown
    assert "beta" in shown
    assert len(shown) < 200


def test_a_text_without_changes_is_shown_by_its_beginning() -> None:
    shown = text_of(shorten(word_diff("a " * 500, "a " * 500)))
    assert shown.startswith("a a a")
    assert len(shown) < 60


def test_one_giant_line_is_compared_in_time() -> None:
    rng = random.Random(2)
    line = " ".join(f"w{rng.randrange(3_000)}" for _ in range(200_000))
    middle = len(line) // 2
    start = time.process_time()
    spans = word_diff(line, line[:middle] + " inserted words " + line[middle:])
    assert time.process_time() - start < 10
    assert changed_share(spans) < 0.01


def test_a_giant_word_is_compared_by_its_ends() -> None:
    blank = "x" * 1_000_000
    spans = word_diff(blank, blank[:-5] + "y" + blank[-5:])
    assert [(s.mark, s.text) for s in spans if s.mark is not Mark.SAME] == [(Mark.ADDED, "y")]
