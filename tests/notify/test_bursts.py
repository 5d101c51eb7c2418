"""One digest instead of a burst: by hand, and as a property of whole days of news."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.notify.bursts import WINDOW, free_at, portions


@pytest.mark.parametrize(
    ("ready", "sent", "messages"),
    [
        ("", [], []),
        ("a", [], ["a"]),
        ("abc", [], ["a", "b", "c"]),
        ("abcd", [], ["abcd"]),
        ("ab", [990.0], ["a", "b"]),
        ("abc", [990.0], ["abc"]),
        ("a", [980.0, 990.0], ["a"]),
        ("a", [970.0, 980.0, 990.0], []),
        ("ab", [400.0, 980.0, 990.0], ["ab"]),
        ("a", [400.1, 980.0, 990.0], []),
        ("abc", [2000.0, 2001.0, 2002.0], ["a", "b", "c"]),
    ],
)
def test_at_1000_with_three_messages_in_ten_minutes(ready: str, sent: list[float], messages: list[str]) -> None:
    assert portions(ready, sent, 1000.0, 3) == [m if len(m) > 1 else [m] for m in messages]


def test_room_comes_back_when_the_oldest_message_that_fills_it_is_old() -> None:
    assert free_at([], 1000.0, 2) == 1000.0
    assert free_at([900.0], 1000.0, 2) == 1000.0
    assert free_at([900.0, 950.0], 1000.0, 2) == 900.0 + WINDOW
    assert free_at([950.0, 800.0, 900.0], 1000.0, 2) == 900.0 + WINDOW


@given(st.lists(st.floats(0.0, 400.0), max_size=60), st.integers(1, 7))
def test_nobody_is_flooded_and_nothing_is_lost(gaps: list[float], digest_after: int) -> None:
    now, arrivals = 0.0, []
    for gap in gaps:
        now += gap
        arrivals.append(now)
    sent: list[float] = []
    messages: list[Sequence[float]] = []
    waiting: list[float] = []
    now = 0.0
    while arrivals or waiting:
        while arrivals and arrivals[0] <= now:
            waiting.append(arrivals.pop(0))
        batches = portions(waiting, sent, now, digest_after)
        messages += batches
        sent += [now] * len(batches)
        if batches:
            waiting = []
        later = [free_at(sent, now, digest_after)] if waiting else []
        now = min([*arrivals[:1], *later], default=now)
    told = [news for message in messages for news in message]
    expected, at = [], 0.0
    for gap in gaps:
        at += gap
        expected.append(at)
    assert told == expected
    for start in sent:
        assert sum(start <= at < start + WINDOW for at in sent) <= digest_after
    for news, at in zip(told, [at for message, at in zip(messages, sent, strict=True) for _ in message], strict=True):
        assert news <= at <= news + WINDOW
