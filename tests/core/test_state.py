"""How outcomes move what is known of a watch: CONDUCT rules 21 to 26 and their table, by hand."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.making import AT, CADENCE, DAY, HOUR, after, failure, fresh, known, page, seen
from watcher.core.model import Cadence, Outcome, Policy, Status
from watcher.core.observation import Answer
from watcher.core.state import Limits, Summary, UrlState

OF_PAGE = ("record", "body", "content_type", "effective_url", "validators")
LEARNED = (*OF_PAGE, "first_seen", "last_seen", "last_changed_at")
SCHEDULE = ("check_interval", "evidence", "unchanged_streak")


def wait(state: UrlState, at: float) -> float:
    """Seconds from ``at`` to the next check. Instants themselves are too large to be compared approximately."""
    assert state.next_check_at is not None
    return state.next_check_at - at


def fields(state: UrlState, names: Sequence[str]) -> list[object]:
    return [getattr(state, name) for name in names]


# -- pages and 304s


def test_a_new_watch_is_due_at_once_and_knows_nothing() -> None:
    state = fresh()
    assert (state.status, state.outcome, state.next_check_at, state.check_interval) == (Status.NEW, None, AT, DAY)
    assert (state.fingerprint, state.last_seen, state.first_seen) == ("", None, None)


def test_the_first_page_is_a_baseline_and_no_change() -> None:
    state = known()
    assert (state.status, state.outcome, state.http_status) == (Status.OK, Outcome.FIRST, 200)
    assert (state.first_seen, state.last_seen, state.last_fetched_at) == (AT, AT, AT)
    assert (state.last_changed_at, state.unchanged_streak) == (None, 0)
    assert (state.check_interval, state.next_check_at) == (DAY, AT + DAY)
    assert state.fingerprint == "1:one"


# The seed rule from a day, between an hour and three days: u unchanged, n not modified, c changed.
@pytest.mark.parametrize(
    ("steps", "days", "streak"),
    [
        ("u", 2, 1),
        ("n", 2, 1),
        ("uu", 3, 2),
        ("nun", 3, 3),
        ("c", 0.5, 0),
        ("cc", 0.25, 0),
        ("ucu", 2, 1),
        ("cccccccc", 1 / 24, 0),
        ("ccccccccu", 2 / 24, 1),
    ],
)
def test_unchanged_lengthens_and_changed_shortens(steps: str, days: float, streak: int) -> None:
    state, at = known(), AT
    for number, step in enumerate(steps):
        at += DAY
        if step == "n":
            state = state.observe_unchanged(at, CADENCE)
        elif step == "u":
            state = state.observe_unchanged(at, CADENCE, page(), status=200)
        else:
            state = state.observe_changed(at, CADENCE, page(f"text {number}"))
    assert state.check_interval == pytest.approx(days * DAY)
    assert wait(state, at) == pytest.approx(days * DAY)
    assert state.unchanged_streak == streak


def test_a_304_touches_nothing_that_came_with_the_page() -> None:
    before = known()
    state = before.observe_unchanged(AT + DAY, CADENCE)
    kept = (*OF_PAGE, "first_seen", "last_changed_at")
    assert fields(state, kept) == fields(before, kept)
    assert (state.last_seen, state.http_status, state.outcome) == (AT + DAY, 304, Outcome.NOT_MODIFIED)


def test_a_page_replaces_record_body_and_validators_together() -> None:
    for state in (
        known().observe_changed(AT + DAY, CADENCE, page("two")),
        known().observe_unchanged(AT + DAY, CADENCE, page("two"), status=200),
    ):
        two = page("two")
        assert state.record == two.record
        assert (state.body, state.validators) == (two.body, two.validators)


def test_a_change_is_unseen_until_it_is_looked_at() -> None:
    def unseen(state: UrlState) -> bool:
        names = Summary.__struct_fields__
        return Summary(**{name: getattr(state, name) for name in names}).unseen

    state = known().observe_changed(AT + DAY, CADENCE, page("two"))
    assert not unseen(known())
    assert unseen(state)
    assert not unseen(msgspec.structs.replace(state, seen_at=AT + DAY))
    assert unseen(msgspec.structs.replace(state, seen_at=AT + DAY - 1))


# -- what bounds the next check


@pytest.mark.parametrize(
    ("limits", "due"),
    [
        (Limits(), 2 * DAY),
        (Limits(jitter=0.1), 2.2 * DAY),
        (Limits(floor=2.5 * DAY), 2.5 * DAY),
        (Limits(fresh_until=AT + DAY + HOUR), 2 * DAY),
        (Limits(fresh_until=AT + 6 * DAY), 5 * DAY),
        (Limits(hold_until=AT + DAY + HOUR), 2 * DAY),
        (Limits(hold_until=AT + 8 * DAY), 7 * DAY),
        (Limits(teaches=False), DAY),
    ],
)
def test_limits_only_make_the_next_check_later(limits: Limits, due: float) -> None:
    state = known().observe_unchanged(AT + DAY, CADENCE, None, limits)
    assert wait(state, AT + DAY) == pytest.approx(due)


def test_what_was_served_stale_does_not_lengthen() -> None:
    state = known().observe_unchanged(AT + DAY, CADENCE, None, Limits(teaches=False))
    assert (state.check_interval, state.evidence) == (DAY, known().evidence)


# -- not there


@pytest.mark.parametrize(
    ("answers", "gone"),
    [
        # (status, hours after the first)
        ([(404, 0)], False),
        ([(404, 0), (404, 48)], False),
        ([(404, 0), (404, 1), (404, 2)], False),
        ([(404, 0), (404, 12), (404, 23.99)], False),
        ([(404, 0), (404, 12), (404, 24)], True),
        ([(404, 0), (404, 1), (404, 2), (404, 24)], True),
        ([(404, 0), (200, 5), (404, 12), (404, 24)], False),
        ([(404, 0), (304, 5), (404, 12), (404, 24)], False),
        ([(410, 0)], False),
        ([(410, 0), (410, 0.99)], False),
        ([(410, 0), (410, 1)], True),
        ([(410, 0), (410, 0.5), (410, 1)], True),
        ([(410, 0), (200, 0.5), (410, 1)], False),
        ([(410, 0), (404, 1)], False),
    ],
)
def test_when_a_page_is_gone(answers: list[tuple[int, float]], gone: bool) -> None:
    state = known()
    for status, hours in answers:
        at = AT + DAY + hours * HOUR
        if status == 200:
            state = state.observe_unchanged(at, CADENCE, page(), status=200)
        elif status == 304:
            state = state.observe_unchanged(at, CADENCE)
        else:
            state = state.observe_missing(at, status, CADENCE)
    assert (state.status is Status.GONE) == gone
    assert state.outcome is (Outcome.GONE if gone else Outcome.ERROR)


@pytest.mark.parametrize(
    ("status", "interval", "expected"),
    [(404, HOUR / 4, HOUR), (404, DAY, 2 * DAY), (410, DAY, HOUR), (410, HOUR, HOUR)],
)
def test_a_missing_page_is_asked_for_again_soon(status: int, interval: float, expected: float) -> None:
    state = known(check_interval=interval).observe_missing(AT + DAY, status, CADENCE, Limits(jitter=0.1))
    assert wait(state, AT + DAY) == pytest.approx(1.1 * expected)
    assert state.failure is not None
    assert (state.failure.kind, state.http_status) == ("missing", status)
    assert fields(state, SCHEDULE) == fields(known(check_interval=interval), SCHEDULE)


def gone_at(at: float = AT + DAY) -> UrlState:
    state = known().observe_missing(at - 2 * HOUR, 410, CADENCE)
    return state.observe_missing(at, 410, CADENCE)


def test_a_gone_page_is_looked_for_after_7_30_and_90_days_and_then_no_more() -> None:
    state, due = gone_at(), []
    while state.next_check_at is not None:
        due.append((state.next_check_at - (AT + DAY)) / DAY)
        state = state.observe_missing(state.next_check_at, 404, CADENCE)
    assert due == [7, 30, 90]
    assert (state.status, state.gone_at, state.last_seen) == (Status.GONE, AT + DAY, AT)
    assert "by hand" in state.reason


@pytest.mark.parametrize(
    ("asked", "due"), [(1, 7), (6.99, 7), (7, 30), (20, 30), (29, 30), (45, 90), (89, 90), (90, None), (400, None)]
)
def test_a_probe_made_early_or_late_counts_for_what_was_due(asked: float, due: float | None) -> None:
    state = gone_at().observe_missing(AT + DAY + asked * DAY, 404, CADENCE)
    assert state.next_check_at == (None if due is None else AT + DAY + due * DAY)


@pytest.mark.parametrize("answer", [Answer.BLOCKED, Answer.DEFERRED, Answer.FAILED])
def test_gone_survives_every_trouble(answer: Answer) -> None:
    state = gone_at()
    for number in range(5):
        state = after(state, seen(answer, AT + (10 + number) * DAY, until=AT + (11 + number) * DAY))
        assert (state.status, state.gone_at) == (Status.GONE, AT + DAY)
    state = after(state, seen(Answer.MISSING, AT + 20 * DAY))
    assert (state.outcome, state.next_check_at) == (Outcome.GONE, AT + 31 * DAY)


def test_a_returned_page_starts_anew() -> None:
    state = msgspec.structs.replace(gone_at(), check_interval=HOUR).observe_returned(AT + 9 * DAY, CADENCE, page("two"))
    assert (state.status, state.outcome, state.gone_at) == (Status.OK, Outcome.RETURNED, None)
    assert (state.missing, state.probes, state.unchanged_streak) == (0, 0, 0)
    assert (state.check_interval, state.next_check_at) == (DAY, AT + 10 * DAY)
    assert (state.first_seen, state.last_changed_at, state.fingerprint) == (AT, AT + 9 * DAY, "1:two")


@pytest.mark.parametrize("policy", [Policy.ADAPTIVE, Policy.ESTIMATED, Policy.FIXED])
def test_a_returned_page_waits_its_seed_under_each_policy(policy: Policy) -> None:
    cadence = Cadence(policy=policy, interval=2 * DAY)
    state = gone_at().observe_returned(AT + 9 * DAY, cadence, page("two"))
    assert wait(state, AT + 9 * DAY) == 2 * DAY


# -- failures


@pytest.mark.parametrize(
    ("interval", "minutes"),
    [
        (60.0, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440]),
        (HOUR, [60, 60, 60, 60, 80, 160, 320, 640, 1280, 1440, 1440]),
        (2 * DAY, [2880] * 11),
    ],
)
def test_back_off(interval: float, minutes: list[float]) -> None:
    state, at = known(check_interval=interval), AT + DAY
    for expected in minutes:
        state = state.observe_error(at, failure(), Limits(jitter=0.05))
        assert wait(state, at) == pytest.approx(1.05 * expected * 60)
        at += wait(state, at)
    assert state.failures == len(minutes)


def test_a_thousand_failures_still_wait_a_day() -> None:
    state = known(check_interval=60.0, failures=100_000).observe_error(AT, failure())
    assert state.next_check_at == AT + DAY


@pytest.mark.parametrize(
    ("hours", "failing"),
    [([0], False), ([0, 1], False), ([0, 1, 2], True), ([0, 23.99], False), ([0, 24], True)],
)
def test_failing_is_three_checks_or_a_day(hours: list[float], failing: bool) -> None:
    state = known()
    for hour in hours:
        state = state.observe_error(AT + DAY + hour * HOUR, failure())
    assert state.status is (Status.FAILING if failing else Status.OK)


def test_the_first_success_forgets_failures() -> None:
    state = known()
    for number in range(4):
        state = state.observe_error(AT + number * DAY, failure())
    state = state.observe_unchanged(AT + 5 * DAY, CADENCE)
    assert (state.status, state.failures, state.failure, state.failing_since_at) == (Status.OK, 0, None, None)
    assert state.observe_error(AT + 6 * DAY, failure()).failures == 1


def test_a_watch_never_read_fails_as_any_other() -> None:
    state = fresh().observe_error(AT, failure(), sent=False)
    assert (state.status, state.outcome, state.last_fetched_at) == (Status.NEW, Outcome.ERROR, None)


@pytest.mark.parametrize(
    ("kind", "days"),
    [
        ("blocked", [1, 2, 4, 7, 7]),
        ("blocked:challenge", [1, 2, 4, 7, 7]),
        ("blocked:auth", [1, 1, 1]),
        ("blocked:legal", [7, 7]),
        ("refused:robots", [1, 1, 1]),
    ],
)
@pytest.mark.parametrize("gone", [False, True])
def test_refusals(kind: str, days: list[float], gone: bool) -> None:
    state, at = gone_at() if gone else known(), AT + 10 * DAY
    for expected in days:
        state = state.observe_blocked(at, failure(kind), status=403)
        assert wait(state, at) == expected * DAY
        assert state.status is (Status.GONE if gone else Status.BLOCKED)
        at += wait(state, at)


def test_a_refusal_never_shortens_the_interval() -> None:
    state = known(check_interval=9 * DAY).observe_blocked(AT, failure("blocked"))
    assert state.next_check_at == AT + 9 * DAY


# -- told to wait


@pytest.mark.parametrize(
    ("sent", "planned", "until", "due"),
    [
        (True, 0, HOUR, DAY),
        (True, 0, 3 * DAY, 3 * DAY),
        (False, 0, HOUR, HOUR),
        (False, 0, 3 * DAY, 3 * DAY),
        (False, 2 * DAY, HOUR, 2 * DAY),
        (False, 2 * DAY, 3 * DAY, 3 * DAY),
    ],
)
def test_deferring_only_lengthens(sent: bool, planned: float, until: float, due: float) -> None:
    before = known(next_check_at=AT + DAY + planned)
    state = before.observe_deferred(AT + DAY, AT + DAY + until, failure("limited"), 429, sent)
    assert state.next_check_at == AT + DAY + due
    assert state.not_before_at == AT + DAY + until
    assert (state.status, state.failures, state.failing_since_at) == (Status.DEFERRED, 0, None)
    assert state.last_fetched_at == (AT + DAY if sent else AT)


def test_a_shorter_hold_does_not_lift_a_longer_one() -> None:
    state = known().observe_deferred(AT, AT + 3 * DAY, failure("limited"), 429)
    state = state.observe_deferred(AT + 1, AT + HOUR, failure("held"), sent=False)
    assert (state.not_before_at, state.next_check_at) == (AT + 3 * DAY, AT + 3 * DAY)
    assert state.observe_unchanged(AT + 3 * DAY, CADENCE).not_before_at == 0.0


# -- edited fields


def test_redefining_leaves_the_schedule_alone() -> None:
    before = known().observe_unchanged(AT + DAY, CADENCE).observe_error(AT + 2 * DAY, failure())
    state = before.observe_redefined(AT + 2 * DAY + HOUR, page("new"))
    assert (state.outcome, state.fingerprint) == (Outcome.REDEFINED, "1:new")
    untouched = [
        *SCHEDULE, "next_check_at", "reason", "failures", "failure", "status", "first_seen", "last_seen",
        "last_fetched_at", "last_changed_at", "seen_at", "paused", "announced",
    ]  # fmt: skip
    assert fields(state, untouched) == fields(before, untouched)


def test_redefining_by_a_request_plans_the_next_one_at_the_same_interval() -> None:
    before = known().observe_unchanged(AT + DAY, CADENCE)
    state = before.observe_redefined(AT + 3 * DAY, page("new"), CADENCE)
    assert fields(state, [*SCHEDULE, "last_changed_at"]) == fields(before, [*SCHEDULE, "last_changed_at"])
    assert (state.next_check_at, state.last_fetched_at) == (AT + 5 * DAY, AT + 3 * DAY)


# -- whatever happens

TROUBLE = st.sampled_from([Answer.MISSING, Answer.BLOCKED, Answer.DEFERRED, Answer.FAILED])
KIND = st.sampled_from(["transient", "tls", "broken:selector", "blocked", "blocked:auth", "refused:robots", "limited"])


@given(st.lists(st.tuples(TROUBLE, KIND, st.floats(1.0, 3 * DAY), st.booleans()), min_size=1, max_size=12))
def test_errors_teach_nothing(troubles: list[tuple[Answer, str, float, bool]]) -> None:
    before = known().observe_unchanged(AT + DAY, CADENCE)
    state, at = before, AT + DAY
    for answer, kind, gap, sent in troubles:
        at += gap
        state = after(state, seen(answer, at, kind=kind, until=at + gap, sent=sent))
        assert fields(state, LEARNED) == fields(before, LEARNED)
        assert fields(state, SCHEDULE) == fields(before, SCHEDULE)
        assert state.next_check_at is None or state.next_check_at > at
        assert state.outcome in (Outcome.ERROR, Outcome.BLOCKED, Outcome.DEFERRED, Outcome.GONE)
    healed = state.observe_unchanged(at + DAY, CADENCE, page(), status=200)
    assert (healed.status, healed.failures, healed.missing, healed.failure) == (Status.OK, 0, 0, None)
    assert (healed.gone_at, healed.not_before_at) == (None, 0.0)
    assert healed.unchanged_streak == before.unchanged_streak + 1
