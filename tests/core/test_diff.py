"""The diff model: it says everything that changed, rebuilds both sides, and stays short and fast."""

from __future__ import annotations

import random
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.core.diff import Block, FieldDiff, Kind, changes_between, diff_changes, diff_values, show
from watcher.core.fingerprint import canonical, change_fingerprint
from watcher.core.model import Record
from watcher.core.words import Mark, side, text_of

WORDS = [f"w{i}" for i in range(60)]
BLOCKS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join), max_size=12)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=12)
    | st.decimals(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def sides(diff: FieldDiff, before: list[str]) -> tuple[list[str], list[str]]:
    """Both lists, rebuilt from the old one and the blocks alone."""
    old_of = {b.old: b for b in diff.blocks if b.old is not None}
    new_of = {b.new: b for b in diff.blocks if b.new is not None}
    old = [text_of(side(old_of[i].spans, Mark.REMOVED)) if i in old_of else text for i, text in enumerate(before)]
    kept = iter([text for i, text in enumerate(before) if i not in old_of])
    size = len(before) - len(old_of) + len(new_of)
    new = [text_of(side(new_of[j].spans, Mark.ADDED)) if j in new_of else next(kept) for j in range(size)]
    return old, new


@given(BLOCKS, BLOCKS)
def test_the_blocks_rebuild_both_sides(before: list[str], after: list[str]) -> None:
    diff = diff_values(before, after)
    if diff is None:
        assert before == after
    else:
        assert sides(diff, before) == (before, after)


def test_random_edits_are_rebuilt_and_shown_as_edits() -> None:
    rng = random.Random(1)
    words = [f"w{i}" for i in range(400)]
    edits = shown = 0
    for _ in range(300):
        before = [" ".join(rng.choices(words, k=rng.randrange(6, 30))) for _ in range(rng.randrange(1, 40))]
        after = list(before)
        place = rng.randrange(len(after))
        changed = after[place].split()
        changed[rng.randrange(len(changed))] = "EDIT"
        after[place] = " ".join(changed)
        after.insert(rng.randrange(len(after) + 1), " ".join(rng.choices(words, k=8)))
        diff = diff_values(before, after)
        assert diff is not None
        assert sides(diff, before) == (before, after)
        edits += 1
        shown += any(b.kind is Kind.EDITED and "EDIT" in text_of(b.spans) for b in diff.blocks)
    assert shown / edits > 0.9


@given(VALUES, VALUES)
def test_a_change_of_the_fingerprint_is_always_shown(before: Any, after: Any) -> None:
    diff = diff_values(before, after)
    if canonical(before) == canonical(after):
        assert diff is None
    else:
        assert diff is not None
        assert any(
            span.mark is not Mark.SAME or block.kind is Kind.MOVED for block in diff.blocks for span in block.spans
        )


@given(st.dictionaries(st.sampled_from("abc"), VALUES), st.dictionaries(st.sampled_from("abc"), VALUES))
def test_records_differ_exactly_where_their_fingerprints_do(old: dict[str, Any], new: dict[str, Any]) -> None:
    before, after = Record(values=old), Record(values=new)
    changes = changes_between(before, after)
    assert bool(changes) == (change_fingerprint(before) != change_fingerprint(after))
    assert [bool(diff.blocks) for diff in diff_changes(changes)] == [True] * len(changes)


def test_untracked_fields_are_no_change() -> None:
    before, after = (Record(values={"a": 1, "v": n}, untracked=("v",)) for n in (1, 2))
    assert changes_between(before, after) == ()


def kinds(diff: FieldDiff | None) -> list[Kind]:
    assert diff is not None
    return [block.kind for block in diff.blocks]


def test_lists_tell_added_removed_and_moved_apart() -> None:
    assert kinds(diff_values(["a", "b", "c"], ["b", "c", "a"])) == [Kind.MOVED]
    assert kinds(diff_values(["a", "b"], ["a", "b", "c"])) == [Kind.ADDED]
    assert kinds(diff_values(["a", "b"], ["b"])) == [Kind.REMOVED]
    assert sorted(kinds(diff_values(["a", "a", "b"], ["a", "b", "b"]))) == [Kind.ADDED, Kind.REMOVED]


def test_an_edited_block_is_paired_with_where_it_came_from() -> None:
    before = ["The first of the blocks here", "one more block stands in between", "the price is twenty euros today"]
    after = ["The first of the blocks here", "something else entirely", "the price is thirty euros today"]
    diff = diff_values(before, after)
    assert diff is not None
    edited = [block for block in diff.blocks if block.kind is Kind.EDITED]
    assert [(block.old, block.new) for block in edited] == [(2, 2)]
    assert [(s.mark, s.text.strip()) for s in edited[0].spans] == [
        (Mark.SAME, "the price is"),
        (Mark.REMOVED, "twenty"),
        (Mark.ADDED, "thirty"),
        (Mark.SAME, "euros today"),
    ]


def test_rows_are_shown_as_rows() -> None:
    price = {"minor": 500, "currency": "EUR"}
    diff = diff_values([{"title": "T", "price": price}], [{"title": "T", "price": {**price, "minor": 600}}])
    assert diff is not None
    assert text_of(side(diff.blocks[0].spans, Mark.REMOVED)) == "title: T, price: 5.00 EUR"


def test_nested_json_is_compared_line_by_line() -> None:
    before = {"a": [1, {"b": 2}], "c": "x"}
    diff = diff_values(before, {"a": [1, {"b": 3}], "c": "x"})
    assert diff is not None
    assert [text_of(block.spans).strip() for block in diff.blocks] == ['"b": 2 3']


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (1, "1"),
        (None, "(nothing)"),
        ([], None),
        ([], {}),
        (["1"], "1"),
        (True, "yes"),
        ([1], ["1"]),
        ("a.", "a ."),
        ({}, []),
    ],
)
def test_values_that_look_alike_are_told_apart(before: Any, after: Any) -> None:
    diff = diff_values(before, after)
    assert diff is not None
    block = diff.blocks[0]
    assert text_of(side(block.spans, Mark.REMOVED)) != text_of(side(block.spans, Mark.ADDED))


def test_values_are_shown_as_people_read_them() -> None:
    assert show({"minor": 1999, "currency": "EUR"}) == "19.99 EUR"
    assert show({"minor": 8000, "currency": "JPY"}) == "8000 JPY"
    assert show({"minor": 5, "currency": None}) == "0.05"
    assert show(Decimal("1.50")) == "1.5"
    assert show(None) == "(nothing)"


def test_a_hundred_thousand_blocks_take_linear_time() -> None:
    def spent(size: int) -> float:
        before = [f"block number {i} of many" for i in range(size)]
        after = [f"{text} edited" if i % 100 == 0 else text for i, text in enumerate(before)]
        start = time.process_time()
        diff = diff_values(before, after)
        assert diff is not None
        assert len(diff.blocks) == size // 100
        return time.process_time() - start

    spent(1_000)
    assert spent(40_000) < 40 * max(spent(4_000), 0.01)


def test_blocks_are_in_reading_order() -> None:
    diff = diff_values(["a b c", "x", "d"], ["n", "a b c d", "d", "x"])
    assert diff is not None
    assert [block.place for block in diff.blocks] == sorted(block.place for block in diff.blocks)
    assert all(isinstance(block, Block) for block in diff.blocks)
