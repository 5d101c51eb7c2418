"""What is told, once: changes, and each move between the lasting states."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.making import AT, CADENCE, DAY, HOUR, WITH_PAGE, fresh, known, seen
from watcher.core.model import Status
from watcher.core.news import SAYINGS, News, news_of
from watcher.core.observation import Answer, Observation, observe
from watcher.core.state import UrlState

SHORT = {
    "1": Answer.FIRST,
    "u": Answer.UNCHANGED,
    "n": Answer.NOT_MODIFIED,
    "c": Answer.CHANGED,
    "r": Answer.RETURNED,
    "d": Answer.REDEFINED,
    "m": Answer.MISSING,
    "b": Answer.BLOCKED,
    "w": Answer.DEFERRED,
    "e": Answer.FAILED,
    "t": Answer.FAILED,
    "a": Answer.BLOCKED,
}
"""``t`` is a certificate error, ``a`` a login that is asked for, ``w`` a host that asks to wait."""
KINDS = {"t": "tls", "a": "blocked:auth", "b": "blocked", "w": "limited"}


def step(letter: str, at: float) -> Observation:
    return seen(SHORT[letter], at, kind=KINDS.get(letter, "transient"), until=at + HOUR)


def told(letters: str, gap: float = HOUR, state: UrlState | None = None) -> list[str]:
    """The news of each step, ``-`` for none; the steps are ``gap`` seconds apart."""
    found, state = [], state or known()
    for number, letter in enumerate(letters, 1):
        at = AT + number * gap
        news, state = news_of(state, observe(state, step(letter, at), CADENCE), at)
        found.append(news.value if news else "-")
    return found


@pytest.mark.parametrize(
    ("letters", "gap", "expected"),
    [
        ("unud", HOUR, "- - - -"),
        ("cuc", HOUR, "changed - changed"),
        # Failing: after three in a row or a day, once; and its end, once.
        ("ee", HOUR, "- -"),
        ("eeee", HOUR, "- - failing -"),
        ("eee" + "n" + "n", HOUR, "- - failing recovered -"),
        ("ee" + "n" + "ee", HOUR, "- - - - -"),
        ("ee", DAY, "- failing"),
        ("eec", HOUR, "- - changed"),
        ("eeec", HOUR, "- - failing changed"),
        ("eeewen", HOUR, "- - failing - - recovered"),
        ("eeemn", HOUR, "- - failing - recovered"),
        ("eeedn", HOUR, "- - failing recovered -"),
        # A certificate error or a login: at once, and still once.
        ("t", HOUR, "failing"),
        ("tttt", HOUR, "failing - - -"),
        ("tn", HOUR, "failing recovered"),
        ("tmn", HOUR, "failing - recovered"),
        ("twtn", HOUR, "failing - - recovered"),
        ("aaan", HOUR, "blocked - - recovered"),
        # Refused: as failing, after three or a day.
        ("bbbb", HOUR, "- - blocked -"),
        ("bb", DAY, "- blocked"),
        ("bn", HOUR, "- -"),
        ("bbbn", DAY, "- blocked - recovered"),
        # Gone once, and silent whatever happens then, until it returns.
        ("mmm", HOUR, "- - -"),
        ("mmm", DAY, "- - gone"),
        ("mmmmmr", DAY, "- - gone - - returned"),
        ("mmmeeer", DAY, "- - gone - - - returned"),
        ("mmmttr", DAY, "- - gone - - returned"),
        ("mmmbbbbr", DAY, "- - gone - - - - returned"),
        ("mmmwmr", DAY, "- - gone - - returned"),
        ("mmu", DAY, "- - -"),
        ("mmmrn", DAY, "- - gone returned -"),
        ("wwwn", DAY, "- - - -"),
    ],
)
def test_news(letters: str, gap: float, expected: str) -> None:
    assert " ".join(told(letters, gap)) == expected


def test_the_first_page_is_told_as_such_unless_a_trouble_ends_with_it() -> None:
    assert told("1n", state=fresh()) == ["first", "-"]
    assert told("ee1", state=fresh()) == ["-", "-", "first"]
    assert told("eee1n", state=fresh()) == ["-", "-", "failing", "recovered", "-"]


def test_a_refusal_that_sends_no_request_is_told_after_a_day_too() -> None:
    state = fresh()
    found = []
    for days in (0, 1, 2):
        at = AT + days * DAY
        refused = seen(Answer.BLOCKED, at, kind="refused:robots", sent=False)
        news, state = news_of(state, observe(state, refused, CADENCE), at)
        found.append(news)
    assert found == [None, News.BLOCKED, None]


def test_every_kind_has_its_words() -> None:
    assert set(SAYINGS) == set(News)


@given(st.text("unmbweta", max_size=30), st.sampled_from([60.0, HOUR, DAY, 9 * DAY]))
def test_troubles_and_their_ends_alternate(letters: str, gap: float) -> None:
    """Between two ends the same trouble is never told twice in a row; an end is told only after a trouble."""
    state, last = known(), ""
    for number, letter in enumerate(letters, 1):
        at = AT + number * gap
        if state.status is Status.GONE and SHORT[letter] in (*WITH_PAGE, Answer.NOT_MODIFIED):
            letter = "r"
        news, state = news_of(state, observe(state, step(letter, at), CADENCE), at)
        if news is News.RECOVERED:
            assert last in (News.FAILING, News.BLOCKED)
        elif news is News.RETURNED:
            assert last == News.GONE
        elif news is not None:
            assert news != last
            assert last != News.GONE
        last = news.value if news else last
        if state.failure is None and state.status is Status.OK:
            assert state.announced == ""
            assert last in ("", News.RECOVERED, News.RETURNED)
