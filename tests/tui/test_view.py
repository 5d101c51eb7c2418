"""Rows as ink: words, durations, columns. No screen is opened here."""

from __future__ import annotations

import pytest

from tests.tui.support import NOW, state, summary_of, watch
from watcher.core.model import Outcome, Status
from watcher.tui import view
from watcher.tui.ink import plain, width
from watcher.tui.signs import ASCII, UNICODE, Mood
from watcher.tui.view import Row, brief, countdown, layout, mood, when

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "now"),
        (0.4, "now"),
        (42, "42s"),
        (59.4, "59s"),
        (59.6, "1m"),
        (720, "12m"),
        (HOUR, "1h"),
        (23 * HOUR, "23h"),
        (DAY, "1d"),
        (30 * DAY, "30d"),
        (70 * DAY, "10w"),
        (400 * DAY, "1y"),
    ],
)
def test_durations_are_brief(seconds: float, said: str) -> None:
    assert brief(seconds) == said
    assert len(said) <= 4


def test_a_countdown_shows_its_seconds() -> None:
    assert [countdown(s) for s in (0, 42, 725, 7200)] == ["now", "0:42", "12:05", "2h"]


@pytest.mark.parametrize(
    ("before", "said"),
    [(0.0, "14:02"), (2 * DAY, "Tue 14:02"), (20 * DAY, "20 Feb"), (400 * DAY, "5 Feb 2025")],
)
def test_instants_are_as_short_as_their_distance_allows(before: float, said: str) -> None:
    assert when(NOW - before, NOW) == said


@pytest.mark.parametrize(
    ("outcome", "more", "expected"),
    [
        (Outcome.NOT_MODIFIED, {}, Mood.SAME),
        (None, {}, Mood.NEW),
        (Outcome.FIRST, {}, Mood.NEW),
        (Outcome.CHANGED, {"last_changed_at": NOW}, Mood.CHANGED),
        (Outcome.CHANGED, {"last_changed_at": NOW, "seen_at": NOW}, Mood.SAME),
        (Outcome.NOT_MODIFIED, {"last_changed_at": NOW - DAY}, Mood.CHANGED),
        (Outcome.ERROR, {"failures": 1}, Mood.BACKOFF),
        (Outcome.ERROR, {"status": Status.FAILING, "failures": 3}, Mood.ERROR),
        (Outcome.ERROR, {"status": Status.FAILING, "failures": 3, "last_changed_at": NOW}, Mood.ERROR),
        (Outcome.BLOCKED, {"status": Status.BLOCKED}, Mood.ERROR),
        (Outcome.DEFERRED, {"status": Status.DEFERRED}, Mood.BACKOFF),
        (Outcome.GONE, {"status": Status.GONE}, Mood.GONE),
        (Outcome.CHANGED, {"last_changed_at": NOW, "paused": True}, Mood.PAUSED),
    ],
)
def test_what_must_be_acted_on_hides_what_is_only_news(outcome: Outcome | None, more: dict, expected: Mood) -> None:
    summary = summary_of(state("a.example", outcome, **more))
    assert mood(summary) is expected
    assert mood(summary, running=True) is Mood.RUNNING


def test_every_outcome_has_a_word() -> None:
    for outcome in (None, *Outcome):
        assert view.last_word(summary_of(state("a.example", outcome)))


def test_columns_go_by_importance_and_the_name_stays() -> None:
    names = {cells: [column.name for column in layout(cells).columns] for cells in (24, 40, 79, 140)}
    assert names[24] == ["last"]
    assert names[40] == ["last", "due"]
    assert names[79] == ["every", "streak", "changed", "last", "due"]
    assert names[140] == ["type", "tags", "every", "streak", "changed", "last", "due"]
    assert all(layout(cells).page >= 8 for cells in range(24, 300))


@pytest.mark.parametrize("cells", [24, 40, 79, 140, 300])
@pytest.mark.parametrize("signs", [UNICODE, ASCII])
@pytest.mark.parametrize("name", ["a", "x" * 500, "日本語のページ" * 40, "e\u0301\u0301", "a\x1b[31mred\x07"])
def test_a_row_is_exactly_as_wide_as_its_layout(cells: int, signs: view.Signs, name: str) -> None:
    fitted = layout(cells)
    summary = summary_of(state("a.example", Outcome.CHANGED, last_changed_at=NOW))
    row = Row(name, summary, watch("a.example"), marked=True)
    line = view.cells(row, NOW, fitted, signs)
    assert width(line) == cells if len(fitted.columns) else width(line) <= cells
    assert width(view.headings(fitted, "due", True, signs)) == width(line)
    assert "\x1b" not in plain(line)


def test_ascii_rows_are_ascii() -> None:
    for outcome in (None, *Outcome):
        row = Row("a.example" * 20, summary_of(state("a.example", outcome, paused=outcome is None)), None)
        assert plain(view.cells(row, NOW, layout(80), ASCII)).isascii()


def test_the_sorted_column_is_marked() -> None:
    assert "DUE▼" in plain(view.headings(layout(80), "due", True, UNICODE))
    assert "PAGE▲" in plain(view.headings(layout(80), "page", False, UNICODE))


def test_names_in_a_sentence() -> None:
    assert view.listed(["a"]) == "a"
    assert view.listed(list("abcde")) == "a, b, c and 2 more"
    assert view.plural(1, "page") == "1 page"
    assert view.plural(1200, "page") == "1,200 pages"
    assert view.address("https://a.example/x/") == "a.example/x"
