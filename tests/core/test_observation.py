"""The one place where an observation becomes the next state, and the journal's line of it."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.making import AT, CADENCE, DAY, EXCHANGE, TROUBLES, WITH_PAGE, after, failure, fresh, known, page, seen
from watcher.core.model import Cadence, FieldChange, Finding, Outcome, Policy, Status
from watcher.core.observation import Answer, journaled, merged, observe
from watcher.core.state import Limits, Moved, UrlState
from watcher.core.validators import Trust, Validators

GONE = msgspec.structs.replace(known(), status=Status.GONE, gone_at=AT, next_check_at=AT + 7 * DAY)


@pytest.mark.parametrize(
    ("before", "answer", "outcome", "status"),
    [
        (fresh(), Answer.FIRST, Outcome.FIRST, Status.OK),
        (known(), Answer.NOT_MODIFIED, Outcome.NOT_MODIFIED, Status.OK),
        (known(), Answer.UNCHANGED, Outcome.UNCHANGED, Status.OK),
        (known(), Answer.CHANGED, Outcome.CHANGED, Status.OK),
        (GONE, Answer.RETURNED, Outcome.RETURNED, Status.OK),
        (known(), Answer.REDEFINED, Outcome.REDEFINED, Status.OK),
        (known(), Answer.MISSING, Outcome.ERROR, Status.OK),
        (GONE, Answer.MISSING, Outcome.GONE, Status.GONE),
        (known(), Answer.BLOCKED, Outcome.BLOCKED, Status.BLOCKED),
        (known(), Answer.DEFERRED, Outcome.DEFERRED, Status.DEFERRED),
        (known(), Answer.FAILED, Outcome.ERROR, Status.OK),
        (fresh(), Answer.FAILED, Outcome.ERROR, Status.NEW),
    ],
)
def test_each_answer_has_its_outcome(before: UrlState, answer: Answer, outcome: Outcome, status: Status) -> None:
    state = after(before, seen(answer, AT + DAY, text="two", until=AT + 2 * DAY))
    assert (state.outcome, state.status) == (outcome, status)


@pytest.mark.parametrize("answer", WITH_PAGE)
def test_a_page_that_is_not_there_is_an_error_and_no_page(answer: Answer) -> None:
    state = after(known(), seen(answer, AT + DAY, page=None))
    assert state.outcome is Outcome.ERROR
    assert state.failure is not None
    assert state.failure.kind == "internal"
    assert state.record == known().record


KEPT = ("record", "body", "content_type", "effective_url", "validators")
STEP = st.tuples(st.sampled_from(list(Answer)), st.sampled_from(["one", "two", "three"]), st.floats(1.0, 9 * DAY))


@given(st.lists(STEP, max_size=15))
def test_only_an_accepted_page_touches_record_body_and_validators(steps: list[tuple[Answer, str, float]]) -> None:
    state, at = fresh(), AT
    for answer, text, gap in steps:
        at += gap
        before, state = state, after(state, seen(answer, at, text=text, until=at + gap))
        kept = {name: getattr(before, name) for name in KEPT}
        if answer in WITH_PAGE:
            kept = {name: getattr(page(text), name) for name in KEPT}
        assert {name: getattr(state, name) for name in KEPT} == kept
        if answer in TROUBLES:
            assert (state.last_seen, state.last_changed_at) == (before.last_seen, before.last_changed_at)
            assert (state.check_interval, state.evidence) == (before.check_interval, before.evidence)
        assert state.next_check_at is None or state.next_check_at > at
        assert (state.status is Status.GONE) == (state.gone_at is not None)


def test_what_a_304_or_an_error_taught_of_the_validators_is_kept() -> None:
    off = Validators(etag='"one"', trust=Trust.OFF)
    assert after(known(), seen(Answer.NOT_MODIFIED, AT + DAY, validators=off)).validators == off
    assert after(known(), seen(Answer.FAILED, AT + DAY, validators=off)).validators == off
    assert (
        after(known(), seen(Answer.CHANGED, AT + DAY, text="two", validators=off)).validators == page("two").validators
    )


def test_a_redefinition_without_a_request_plans_nothing() -> None:
    state = after(known(), seen(Answer.REDEFINED, AT + DAY / 2, text="two", exchanges=()))
    assert (state.next_check_at, state.last_fetched_at, state.fingerprint) == (AT + DAY, AT, "1:two")
    state = after(known(), seen(Answer.REDEFINED, AT + DAY / 2, text="two"))
    assert (state.next_check_at, state.last_fetched_at) == (AT + 1.5 * DAY, AT + DAY / 2)


def test_a_move_and_volatile_blocks_are_noted() -> None:
    moved = Moved(target="https://b.example/", since_at=AT)
    state = after(known(volatile=("a",)), seen(Answer.UNCHANGED, AT + DAY, moved=moved))
    assert (state.moved, state.volatile) == (moved, ("a",))
    assert after(state, seen(Answer.UNCHANGED, AT + DAY, volatile=())).volatile == ()


def finding(kind: str, since: float, reason: str = "", until: float | None = None) -> Finding:
    return Finding(kind=kind, since_at=since, reason=reason, until_at=until)


def test_findings_are_merged_by_kind_and_end_in_time() -> None:
    ended, lasting = finding("stuck_304", 2.0, until=50.0), finding("lm_churn", 3.0, until=60.0)
    old = (finding("etag_churn", 1.0, "old"), ended, lasting)
    new = (finding("etag_churn", 40.0, "new"), finding("no_validators", 41.0))
    assert merged(old, new, 50.0) == (
        finding("etag_churn", 1.0, "new"),
        lasting,
        finding("no_validators", 41.0),
    )


def test_a_finding_that_ended_begins_anew() -> None:
    ended = (finding("stuck_304", 2.0, until=50.0),)
    assert merged(ended, (finding("stuck_304", 60.0, until=90.0),), 60.0) == (finding("stuck_304", 60.0, until=90.0),)


def test_a_check_is_journaled_with_what_it_cost_and_what_follows() -> None:
    before = known(Cadence(policy=Policy.FIXED, interval=DAY))
    cadence = Cadence(policy=Policy.FIXED, interval=DAY)
    observation = seen(
        Answer.CHANGED,
        AT + DAY,
        text="two",
        limits=Limits(modified_at=AT + 5),
        conditional="etag",
        changes=(FieldChange("title", "one", "two"),),
        flags=("etag_lies",),
        bytes_wire=700,
        bytes_body=2_000,
    )
    state = observe(before, observation, cadence)
    line = journaled(before, state, observation, cadence)
    assert msgspec.structs.asdict(line) == {
        "name": "Lamp",
        "url": "https://a.example/",
        "at": AT + DAY,
        "outcome": Outcome.CHANGED,
        "status": 200,
        "gap": DAY,
        "interval": DAY,
        "next_check_at": AT + 2 * DAY,
        "modified_at": AT + 5,
        "conditional": "etag",
        "policy": "fixed",
        "reason": state.reason,
        "bytes_wire": 700,
        "bytes_body": 2_000,
        "changed_fields": ("title",),
        "failure": None,
        "flags": ("etag_lies",),
        "silent": False,
        "exchanges": (EXCHANGE,),
    }


def test_the_first_check_has_no_gap_and_a_failed_one_its_failure() -> None:
    first = seen(Answer.FIRST, AT)
    assert journaled(fresh(), after(fresh(), first), first, CADENCE).gap is None
    failed = seen(Answer.FAILED, AT + DAY)
    line = journaled(known(), after(known(), failed), failed, CADENCE)
    assert (line.failure, line.outcome, line.gap) == (failure(), Outcome.ERROR, DAY)


def test_what_re_extraction_writes_is_counted_by_no_number() -> None:
    again = seen(Answer.REDEFINED, AT + DAY, exchanges=())
    assert journaled(known(), after(known(), again), again, CADENCE).silent
