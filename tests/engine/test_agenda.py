"""Order of checks: one line a host, best score first, what a person asks for ahead of what is merely due."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from watcher.core.revisit import RevisitCandidate
from watcher.engine.agenda import Agenda, Manner, Turn

NOW = 1_000_000.0


def host_of(name: str) -> str:
    return name.split("/")[0]


def candidate(name: str, **changes: float) -> RevisitCandidate:
    fields = {"due_at": NOW, "interval": 3600.0, "last_fetched_at": NOW - 3600, **changes}
    return RevisitCandidate(name=name, host=host_of(name), **fields)  # type: ignore[arg-type]


def taken(agenda: Agenda, room: int = 100) -> list[str]:
    return [turn.name for _, turn in agenda.take(lambda host: True, room)]


def everything(agenda: Agenda) -> list[str]:
    out: list[str] = []
    while got := taken(agenda):
        out += got
    return out


def plenty(host: str) -> int:
    return 1_000


def test_each_host_gives_one_turn_at_a_time() -> None:
    agenda = Agenda(host_of)
    for name in ("a/1", "a/2", "b/1"):
        agenda.plan(name, NOW)
    assert agenda.admit(NOW, candidate, plenty) == []
    assert sorted(taken(agenda)) == ["a/1", "b/1"]
    assert taken(agenda) == ["a/2"]
    assert taken(agenda) == []


def test_a_host_that_is_not_ready_holds_up_nobody_else() -> None:
    agenda = Agenda(host_of)
    for name in ("a/1", "b/1"):
        agenda.plan(name, NOW)
    agenda.admit(NOW, candidate, plenty)
    assert [turn.name for _, turn in agenda.take(lambda host: host != "a", 10)] == ["b/1"]
    assert taken(agenda) == ["a/1"]


def test_what_is_not_due_yet_stays_out() -> None:
    agenda = Agenda(host_of)
    agenda.plan("a/1", NOW + 1)
    agenda.admit(NOW, candidate, plenty)
    assert len(agenda) == 0
    assert agenda.next_due() == NOW + 1


def test_the_better_score_goes_first_even_when_it_came_later() -> None:
    streaks = {"a/dull": 9, "a/lively": 0}

    def scored(name: str) -> RevisitCandidate:
        return candidate(name, unchanged_streak=streaks[name])

    agenda = Agenda(host_of)
    agenda.plan("a/dull", NOW - 10)
    agenda.admit(NOW - 5, scored, plenty)
    agenda.plan("a/lively", NOW)
    agenda.admit(NOW, scored, plenty)
    assert everything(agenda) == ["a/lively", "a/dull"]


def test_a_budget_leaves_the_worst_out_and_names_them() -> None:
    priorities = {"a/1": 1.0, "a/2": 3.0, "a/3": 2.0}

    def scored(name: str) -> RevisitCandidate:
        return candidate(name, priority=priorities[name])

    agenda = Agenda(host_of)
    for name in priorities:
        agenda.plan(name, NOW)
    assert agenda.admit(NOW, scored, lambda host: 0) == ["a/1", "a/2", "a/3"]
    assert not list(agenda.hosts_waiting())
    for name in priorities:
        agenda.plan(name, NOW)
    assert agenda.admit(NOW, scored, lambda host: 2) == ["a/1"]
    assert everything(agenda) == ["a/2", "a/3"]


def test_what_is_asked_for_goes_ahead_of_the_schedule_and_in_the_order_asked() -> None:
    agenda = Agenda(host_of)
    agenda.plan("a/due", NOW)
    agenda.admit(NOW, candidate, plenty)
    agenda.ask(["a/2", "a/1"], Manner.FORCE)
    assert everything(agenda) == ["a/2", "a/1", "a/due"]


def test_asking_twice_is_asking_once_and_keeps_the_latest_wish() -> None:
    agenda = Agenda(host_of)
    agenda.ask(["a/1"])
    agenda.ask(["a/1"], Manner.FORCE)
    assert [turn for _, turn in agenda.take(lambda host: True, 9)] == [Turn("a/1", Manner.FORCE, asked=True)]
    assert len(agenda) == 0


def test_dropped_watches_leave_schedule_and_line() -> None:
    agenda = Agenda(host_of)
    agenda.ask(["a/1", "a/2"])
    agenda.plan("a/3", NOW)
    agenda.drop("a/1")
    agenda.drop("a/3")
    agenda.admit(NOW, candidate, plenty)
    assert everything(agenda) == ["a/2"]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=40),
    st.integers(0, 5),
)
def test_nobody_is_lost_and_nobody_comes_twice(planned: list[tuple[str, int]], budget: int) -> None:
    names = {f"{host}/{number}" for host, number in planned}
    agenda = Agenda(host_of)
    for name in names:
        agenda.plan(name, NOW)
    out = agenda.admit(NOW, candidate, lambda host: budget)
    came = everything(agenda)
    assert sorted([*out, *came]) == sorted(names)
    assert all(sum(n.startswith(host) for n in came) <= budget for host in "abc")
