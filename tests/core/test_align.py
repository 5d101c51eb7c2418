"""Patience alignment and pairing."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from watcher.core.align import gaps, pair_alike

ITEMS = st.lists(st.sampled_from("abcde"), max_size=14)


@given(ITEMS, ITEMS)
def test_what_lies_between_gaps_is_equal(old: list[str], new: list[str]) -> None:
    rebuilt: list[str] = []
    place = 0
    for gap in gaps(old, new):
        assert old[place : gap.old_start] == new[len(rebuilt) : gap.new_start]
        rebuilt += old[place : gap.old_start] + new[gap.new_start : gap.new_end]
        place = gap.old_end
    assert rebuilt + old[place:] == new


def test_equal_sequences_have_no_gap() -> None:
    assert gaps(["a"] * 1000, ["a"] * 1000) == []


def test_what_is_unique_on_both_sides_stays_an_anchor() -> None:
    assert gaps(["x", "a", "y"], ["p", "a", "q"]) == [(0, 1, 0, 1), (2, 3, 2, 3)]


@given(
    st.lists(st.frozensets(st.sampled_from("abcdef")), max_size=8),
    st.lists(st.frozensets(st.sampled_from("abcdef")), max_size=8),
)
def test_pairs_rise_on_both_sides(old: list[frozenset[str]], new: list[frozenset[str]]) -> None:
    pairs = pair_alike(old, new)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    assert all(old[i] & new[j] for i, j in pairs)
