from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.core.model import Outcome, Status, Watch
from watcher.core.query import KEYS, Query, QueryError, parse
from watcher.core.state import Summary

NOW = 1_000_000_000.0
HOUR = 3_600.0
DAY = 86_400.0
LAMP = Watch(name="Desk Lamp", url="https://user@Shop.Example.org:8443/desk-lamp", type="detail", tags=("shop", "Home"))


def summary(**given: object) -> Summary:
    known: dict[str, object] = {
        "url": LAMP.url,
        "status": Status.OK,
        "outcome": Outcome.UNCHANGED,
        "http_status": 200,
        "check_interval": 2 * HOUR,
        "next_check_at": NOW + HOUR,
        "last_fetched_at": NOW - HOUR,
        "last_changed_at": NOW - 3 * DAY,
        "seen_at": NOW,
        "unchanged_streak": 3,
        "failures": 0,
        "paused": False,
    }
    return Summary(**(known | given))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("", True),
        ("   ", True),
        ("lamp", True),
        ("LAMP shop", True),
        ('"desk lamp"', True),
        ('"lamp desk"', False),
        ("https://user@shop", True),
        ("home", True),
        ("chair", False),
        ("-chair", True),
        ("-lamp", False),
        ("desk-lamp", True),
        ("status:ok", True),
        ("status:unchanged", True),
        ("status:failing", False),
        ("status:failing,ok", True),
        ("-status:failing", True),
        ("status:paused", False),
        ("tag:shop", True),
        ("tag:home", True),
        ("tag:sho", False),
        ("-tag:old tag:shop", True),
        ("type:detail", True),
        ("type:index,archive", False),
        ("host:example.org", True),
        ("host:shop.example.org", True),
        ("host:ample.org", False),
        ("host:desk-lamp", False),
        ("name:lamp", True),
        ("name:shop", False),
        ("url:8443/desk", True),
        ("changed:<2d", False),
        ("changed:<4d", True),
        ("changed:4d", True),
        ("changed:>2d", True),
        ("changed:>=3d", True),
        ("changed:never", False),
        ("checked:<1h30m", True),
        ("checked:>1.5h", False),
        ("every:2h", True),
        ("every:<2h", False),
        ("every:<=2h", True),
        ("every:1h,2h", True),
        ("due:<2h", True),
        ("due:<30m", False),
        ('name:"desk lamp" type:detail -host:other.org', True),
    ],
)
def test_terms(text: str, holds: bool) -> None:
    assert parse(text).matches(LAMP, summary(), NOW) is holds


def test_changed_means_an_unseen_change_too() -> None:
    query = parse("status:changed")
    assert query.matches(LAMP, summary(outcome=Outcome.CHANGED), NOW)
    assert query.matches(LAMP, summary(seen_at=None), NOW)
    assert not query.matches(LAMP, summary(), NOW)


def test_what_never_happened_is_longer_ago_than_anything() -> None:
    fresh = summary(last_changed_at=None)
    assert parse("changed:never").matches(LAMP, fresh, NOW)
    assert parse("changed:>10w").matches(LAMP, fresh, NOW)
    assert not parse("changed:<10w").matches(LAMP, fresh, NOW)
    assert parse("status:paused").matches(LAMP, summary(paused=True), NOW)


def test_a_watch_without_a_state_has_none() -> None:
    assert not parse("status:ok").matches(LAMP, None, NOW)
    assert not parse("changed:never").matches(LAMP, None, NOW)
    assert parse("tag:shop").matches(LAMP, None, NOW)


@pytest.mark.parametrize(
    ("text", "position", "sentence"),
    [
        ("stauts:ok", 0, '"stauts:" is no filter at character 1; did you mean status:?.'),
        ("lamp colour:red", 5, '"colour:" is no filter at character 6; there are '),
        ("status:failling", 7, '"failling" is no status at character 8; did you mean failing?.'),
        ("every:fast", 6, '"fast" is no duration for every: at character 7; write every:<1h.'),
        ("every:never", 6, '"never" is no duration'),
        ("tag:", 4, '"tag:" needs a value at character 5; write tag:shop.'),
        ('a "lamp', 2, "A quotation mark is never closed at character 3"),
        ("lamp -", 5, "A lone - excludes nothing at character 6"),
    ],
)
def test_errors_are_one_sentence_with_a_place(text: str, position: int, sentence: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert caught.value.position == position
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=40))
def test_any_text_is_a_query_or_an_error(text: str) -> None:
    where = 0
    try:
        assert isinstance(parse(text).matches(LAMP, summary(), NOW), bool)
    except QueryError as error:
        where = error.position
    assert 0 <= where <= len(text)


@given(st.sampled_from(["lamp", "status:ok", "tag:shop", "changed:<2d", "every:<1h", "host:x.org"]))
def test_minus_turns_a_term_round(term: str) -> None:
    straight, turned = parse(term), parse(f"-{term}")
    assert straight.matches(LAMP, summary(), NOW) is not turned.matches(LAMP, summary(), NOW)


def test_every_key_has_an_example_that_works() -> None:
    for key in KEYS:
        with pytest.raises(QueryError) as caught:
            parse(f"{key}:")
        for example in caught.value.suggestion.removeprefix("write ").split(" or "):
            parse(example)


def test_equal_text_is_an_equal_query() -> None:
    assert parse(" tag:a ") == parse("tag:a") != parse("tag:b")
    assert len({parse("x"), parse("x")}) == 1
    assert isinstance(parse("x"), Query)
    assert repr(parse("x")) == "Query('x')"


def test_a_hundred_thousand_rows_filter_within_the_bar() -> None:
    known, query = summary(), parse('-tag:old host:example.org changed:<9d "lamp" status:ok')
    rows = [(LAMP, known)] * 100_000
    started = time.process_time()
    kept = [watch for watch, state in rows if query.matches(watch, state, NOW)]
    spent = time.process_time() - started
    assert len(kept) == 100_000
    # The bar is 0.3 s on an idle core; this only catches something quadratic or a parser in the loop.
    assert spent < 3.0
