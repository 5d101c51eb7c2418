from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.core.model import Policy
from watcher.core.revisit import (
    DueQueue,
    RevisitCandidate,
    admit,
    change_likelihood,
    clamp_due,
    must_check,
    score,
    select_revisits,
)

HOUR, DAY = 3_600.0, 86_400.0
NOW = 1_800_000_000.0


def candidate(name: str, **more: object) -> RevisitCandidate:
    given: dict[str, object] = {"host": "h", "due_at": NOW, "interval": DAY, "last_fetched_at": NOW - DAY} | more
    return RevisitCandidate(name=name, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("streak", "overdue", "likelihood"),
    [
        (0, 0, 1.0),
        (1, 0, 0.5),
        (3, 0, 0.25),
        (3, DAY, 0.5),
        (3, 3 * DAY, 1.0),
        (3, 9 * DAY, 1.0),
        (3, -5 * DAY, 0.25),
    ],
)
def test_likelihood_by_hand(streak: int, overdue: float, likelihood: float) -> None:
    assert change_likelihood(streak, overdue, DAY) == pytest.approx(likelihood)


def test_priority_multiplies_the_score() -> None:
    assert score(candidate("a", unchanged_streak=3, priority=2.0), NOW) == pytest.approx(0.5)


def test_an_estimated_watch_is_ranked_by_what_a_check_buys() -> None:
    due = candidate("a", policy=Policy.ESTIMATED)
    late = candidate("b", policy=Policy.ESTIMATED, last_fetched_at=NOW - 3 * DAY)
    assert score(due, NOW) == pytest.approx(0.5)
    assert score(late, NOW) == pytest.approx(0.9)
    assert score(candidate("c", policy=Policy.ESTIMATED, last_fetched_at=None), NOW) == 1.0


def test_what_nobody_fetched_for_30_days_goes_first() -> None:
    old = candidate("old", last_fetched_at=NOW - 30 * DAY, unchanged_streak=50, priority=0.1)
    older = candidate("older", last_fetched_at=NOW - 31 * DAY, unchanged_streak=50, priority=0.1)
    new = candidate("new", last_fetched_at=None)
    hot = candidate("hot", priority=9.0)
    assert [must_check(c, NOW) for c in (old, older, new, hot)] == [True, True, False, False]
    assert [c.name for c in select_revisits([hot, old, new, older], {"h": 3}, NOW)] == ["older", "old", "hot"]


def test_ties_go_to_the_longest_overdue() -> None:
    rivals = [candidate("b"), candidate("a"), candidate("c", due_at=NOW - 1)]
    assert [c.name for c in select_revisits(rivals, {"h": 9}, NOW)] == ["c", "a", "b"]


candidates = st.lists(
    st.builds(
        RevisitCandidate,
        name=st.text("abcdef", min_size=1, max_size=4),
        host=st.sampled_from("xyz"),
        due_at=st.floats(NOW - 40 * DAY, NOW + DAY),
        interval=st.floats(HOUR, 30 * DAY),
        unchanged_streak=st.integers(0, 50),
        last_fetched_at=st.none() | st.floats(NOW - 60 * DAY, NOW),
        priority=st.floats(0.1, 10),
        policy=st.sampled_from([Policy.ADAPTIVE, Policy.ESTIMATED]),
    ),
    unique_by=lambda c: c.name,
    max_size=30,
)
budgets = st.dictionaries(st.sampled_from("xyz"), st.integers(-2, 10))


@given(candidates, budgets)
def test_budgets_are_spent_and_never_exceeded(rivals: list[RevisitCandidate], budgets: dict[str, int]) -> None:
    chosen = select_revisits(rivals, budgets, NOW)
    spent, wanted = Counter(c.host for c in chosen), Counter(c.host for c in rivals)
    for host in "xyz":
        assert spent[host] == min(wanted[host], max(budgets.get(host, 0), 0))
    assert len({c.name for c in chosen}) == len(chosen)
    left = {c.name for c in rivals} - {c.name for c in chosen}
    forced = [c for c in rivals if must_check(c, NOW) and c.name in left]
    for late in forced:
        assert all(must_check(c, NOW) for c in chosen if c.host == late.host)


@given(candidates, budgets, st.floats(1.5, 10))
def test_priority_reorders_and_never_enlarges(
    rivals: list[RevisitCandidate], budgets: dict[str, int], factor: float
) -> None:
    favoured = [msgspec.structs.replace(c, priority=c.priority * factor) if n % 2 else c for n, c in enumerate(rivals)]
    before, after = select_revisits(rivals, budgets, NOW), select_revisits(favoured, budgets, NOW)
    assert Counter(c.host for c in before) == Counter(c.host for c in after)
    everything = dict.fromkeys("xyz", 100)
    assert {c.name for c in select_revisits(favoured, everything, NOW)} == {c.name for c in rivals}


@given(candidates, st.randoms())
def test_the_order_of_asking_does_not_matter(rivals: list[RevisitCandidate], random: object) -> None:
    shuffled = list(rivals)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    budget = dict.fromkeys("xyz", 3)
    assert {c.name for c in select_revisits(rivals, budget, NOW)} == {
        c.name for c in select_revisits(shuffled, budget, NOW)
    }


class Proposing:
    def __init__(self, *candidates: RevisitCandidate) -> None:
        self.candidates = candidates

    def propose(self, now: float) -> tuple[RevisitCandidate, ...]:
        return self.candidates


def test_sources_share_the_budgets() -> None:
    watches = Proposing(candidate("a", unchanged_streak=3), candidate("b", unchanged_streak=1))
    found = Proposing(candidate("new", last_fetched_at=None), candidate("a", priority=99.0))
    assert [c.name for c in admit([watches, found], {"h": 2}, NOW)] == ["new", "b"]
    assert len(admit([watches, found], {"h": 9}, NOW)) == 3


def test_a_wrong_clock_does_not_postpone_for_ever() -> None:
    ahead = NOW + 14 * DAY
    assert clamp_due(ahead + HOUR, now=NOW, interval=HOUR, last_fetched_at=ahead) == NOW + HOUR
    assert clamp_due(NOW - DAY, now=NOW, interval=HOUR, last_fetched_at=ahead) == NOW - DAY
    assert clamp_due(NOW + HOUR, now=NOW, interval=HOUR, last_fetched_at=0.0) == NOW + HOUR
    assert clamp_due(NOW + 90 * DAY, now=NOW, interval=DAY, last_fetched_at=NOW) == NOW + 90 * DAY
    assert clamp_due(NOW + 400 * DAY, now=NOW, interval=DAY, last_fetched_at=NOW) == NOW + DAY


steps = st.lists(
    st.tuples(st.sampled_from(["push", "discard", "pop"]), st.sampled_from("abcdefgh"), st.integers(0, 50)),
    max_size=200,
)


@given(steps)
def test_the_queue_is_a_dictionary_that_can_be_asked_who_is_due(steps: list[tuple[str, str, int]]) -> None:
    queue, model = DueQueue(), dict[str, float]()
    for what, name, number in steps:
        if what == "push":
            queue.push(name, number)
            model[name] = number
        elif what == "discard":
            queue.discard(name)
            model.pop(name, None)
        else:
            due = queue.pop_due(number)
            expected = [n for n, at in model.items() if at <= number]
            assert sorted(due) == sorted(expected)
            assert [model[n] for n in due] == sorted(model[n] for n in expected)
            for n in expected:
                del model[n]
        assert queue.next_at() == min(model.values(), default=None)
        assert len(queue) == len(model)


def test_missed_times_come_out_once() -> None:
    queue = DueQueue()
    for hour in range(8):
        queue.push("a", NOW + hour * HOUR)
    assert queue.pop_due(NOW + DAY) == ["a"]
    assert queue.pop_due(NOW + DAY) == []


def test_rescheduling_for_ever_does_not_grow_the_queue() -> None:
    queue = DueQueue()
    for n in range(10_000):
        queue.push(str(n % 10), NOW + n)
    assert len(queue._heap) <= 64
