"""The list behind the list: order, filter and counts stay right however the watches move."""

from __future__ import annotations

import random
from collections import Counter

import msgspec
import pytest

from tests.tui.support import NOW, crowd, town
from watcher.core.model import Outcome, Status, Watch
from watcher.core.state import Summary
from watcher.tui.board import SORTS, Board
from watcher.tui.signs import Mood
from watcher.tui.view import mood

LAMP = "shop.example/desk-lamp"


class Failing:
    """A filter for failing pages."""

    def matches(self, watch: Watch, summary: Summary, now: float) -> bool:
        return summary.status is Status.FAILING


def test_counts_and_order_after_loading() -> None:
    board = Board(town())
    board.load()
    assert (len(board), board.total, board.unseen, board.filtered) == (14, 14, 2, False)
    assert board.counts[Mood.ERROR] == 2
    assert board.name(1) == LAMP
    assert board.index(LAMP) == 1
    assert board.name(14) is None
    assert board.name(-1) is None
    assert board.index("nobody") is None


@pytest.mark.parametrize("sort", SORTS, ids=lambda sort: sort.name)
@pytest.mark.parametrize("reverse", [False, True])
def test_touching_keeps_what_loading_anew_would_give(sort, reverse: bool) -> None:
    chance = random.Random(7)
    handle = crowd(60)
    board = Board(handle)
    board.load()
    board.use_sort(sort, reverse)
    board.use_filter(None)
    for _ in range(300):
        name = chance.choice(handle.names())
        moved = msgspec.structs.replace(
            handle.states[name],
            outcome=chance.choice([Outcome.CHANGED, Outcome.ERROR, Outcome.UNCHANGED]),
            status=chance.choice([Status.OK, Status.FAILING]),
            last_changed_at=chance.choice([None, NOW - chance.random() * 1000]),
            unchanged_streak=chance.randrange(9),
            check_interval=chance.choice([60.0, 3600.0]),
            next_check_at=chance.choice([None, NOW + chance.random() * 1000]),
            paused=chance.random() < 0.2,
        )
        handle.put(moved)
        board.touch([name])
    fresh = Board(handle)
    fresh.load()
    fresh.use_sort(sort, reverse)
    assert list(board.shown()) == list(fresh.shown())
    assert +board.counts == +fresh.counts == Counter(mood(handle.summaries[name]) for name in handle.names())
    assert board.unseen == fresh.unseen
    assert board.next_due() == fresh.next_due()
    assert [board.index(name) for name in board.shown()] == list(range(60))


def test_a_filter_lets_in_what_comes_to_match_and_out_what_no_longer_does() -> None:
    handle = town()
    board = Board(handle)
    board.load()
    board.use_filter(Failing())
    assert list(board.shown()) == ["old.example/status"]
    handle.put(msgspec.structs.replace(handle.states[LAMP], status=Status.FAILING))
    handle.put(msgspec.structs.replace(handle.states["old.example/status"], status=Status.OK))
    board.touch([LAMP, "old.example/status"])
    assert list(board.shown()) == [LAMP]
    board.use_filter(None)
    assert len(board) == 14


def test_deeds_are_about_the_marked_else_the_one_under_the_cursor() -> None:
    board = Board(town())
    board.load()
    assert board.selected(1) == [LAMP]
    board.marked = {"paused.example", "python.org/downloads"}
    assert board.selected(1) == ["python.org/downloads", "paused.example"]


def test_a_removed_watch_is_forgotten() -> None:
    handle = town()
    board = Board(handle)
    board.load()
    board.marked = {LAMP}
    del handle.watches[LAMP]
    board.load()
    board.touch([LAMP])
    assert len(board) == 13
    assert not board.marked


def test_a_million_checks_leave_nothing_behind() -> None:
    """What the board keeps is bounded by the watches, not by what happened to them."""
    handle = crowd(10)
    board = Board(handle)
    board.load()
    names = handle.names()
    for turn in range(20_000):
        name = names[turn % 9]
        handle.put(msgspec.structs.replace(handle.states[name], next_check_at=NOW + 100.0 + turn))
        board.touch([name])
    assert board.next_due() == handle.summaries[names[9]].next_check_at
    assert len(board._due) < 1_100


def test_a_long_list_is_shown_before_it_is_counted() -> None:
    handle = crowd(2_500)
    board = Board(handle)
    board.load()
    assert (len(board), board.counted) == (2_500, False)
    handle.put(msgspec.structs.replace(handle.states[handle.names()[2_400]], paused=True))
    board.touch([handle.names()[2_400]])
    while board.take_stock(400):
        pass
    assert board.counted
    assert board.counts == {Mood.SAME: 2_499, Mood.PAUSED: 1}
