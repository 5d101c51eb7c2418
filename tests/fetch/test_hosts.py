"""What is remembered of hosts, apart from any request."""

from __future__ import annotations

from watcher.core.model import Finding
from watcher.core.settings import HostSettings
from watcher.core.state import HostState
from watcher.fetch import HostBook

KEY = "http://h.test:80"
DAY = 86_400.0
NOW = 1_767_607_200.0


def test_only_what_changed_is_handed_out_and_once() -> None:
    book = HostBook([HostState(key=KEY), HostState(key="http://other.test:80")])
    assert book.take_dirty() == []
    book.hold(KEY, 100.0, "because")
    book.hold(KEY, 50.0, "less")
    (state,) = book.take_dirty()
    assert (state.not_before_at, state.not_before_reason) == (100.0, "because")
    assert book.take_dirty() == []


def test_counts_are_saved_now_and_then_and_at_the_end() -> None:
    book = HostBook()
    saved = 0
    for _ in range(120):
        book.spend(KEY, NOW)
        saved += len(book.take_dirty())
    assert saved == 3
    (state,) = book.take_dirty(final=True)
    assert state.spent == 120
    assert book.take_dirty(final=True) == []


def test_a_new_day_is_a_new_budget() -> None:
    book, settings = HostBook(), HostSettings(checks_per_day=3)
    for _ in range(5):
        book.spend(KEY, NOW)
    assert book.budget_left(KEY, NOW, settings) == 0
    assert book.budget_frees_at(KEY, NOW + 4_000.0) == NOW + DAY
    assert book.budget_left(KEY, NOW + DAY, settings) == 3


def test_a_window_from_the_future_is_no_window() -> None:
    book = HostBook([HostState(key=KEY, window_at=9e9, spent=3)])
    assert book.budget_left(KEY, NOW, HostSettings(checks_per_day=3)) == 3


def test_findings_are_kept_one_a_kind_since_the_first() -> None:
    book = HostBook()
    book.learn(KEY, [Finding(kind="etag_churn", since_at=5.0, reason="r", evidence="one")])
    book.learn(KEY, [Finding(kind="etag_churn", since_at=9.0, reason="r", evidence="two")])
    book.learn(KEY, [Finding(kind="etag_lies", since_at=7.0, reason="s")])
    churn, lies = book.get(KEY).findings
    assert (churn.kind, churn.since_at, churn.evidence, lies.kind) == ("etag_churn", 5.0, "two", "etag_lies")
    assert len(book.take_dirty()) == 1
