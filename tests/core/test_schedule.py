from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.core.evidence import Evidence, Surroundings, learn
from watcher.core.model import Cadence, Failure, Policy, Record
from watcher.core.schedule import Plan, clamp, plan
from watcher.core.state import Limits, Page, UrlState
from watcher.core.validators import Validators

HOUR, DAY = 3_600.0, 86_400.0
AT = 1_800_000_000.0

# What is done (u: unchanged, c: changed, -: teaches nothing), and the interval in hours after each, by hand.
ADAPTIVE = {
    "a listing that never changes": (Cadence(interval=DAY), "uuuu", [48, 72, 72, 72]),
    "a listing that always changes": (Cadence(interval=DAY), "ccccccc", [12, 6, 3, 1.5, 1, 1, 1]),
    "up and down again": (Cadence(interval=DAY), "ucucc", [48, 24, 48, 24, 12]),
    "an index": (Cadence(interval=6 * HOUR), "ccuu", [3, 1.5, 3, 6]),
    "a detail page": (Cadence(interval=3 * DAY), "ucu", [72, 36, 72]),
    "an archive": (Cadence(interval=30 * DAY, maximum=30 * DAY), "ucc", [720, 360, 180]),
    "what teaches nothing": (Cadence(interval=DAY), "u-c-", [48, 48, 24, 24]),
    "half the weight": (Cadence(interval=DAY, weight=0.5), "uucccccc", [24, 36, 18, 9, 4.5, 2.25, 1.125, 0.5625]),
    "half the weight, half the floor": (Cadence(interval=2 * HOUR, weight=0.5), "ccu", [0.5, 0.5, 1]),
    "twice the weight": (Cadence(interval=DAY, weight=2.0), "uucccccc", [96, 144, 72, 36, 18, 9, 4.5, 2.25]),
    "bounds met on the way": (Cadence(interval=10 * HOUR, minimum=4 * HOUR, maximum=15 * HOUR), "ucc", [15, 7.5, 4]),
}  # fmt: skip


@pytest.mark.parametrize("case", ADAPTIVE)
def test_adaptive_by_hand(case: str) -> None:
    cadence, done, hours = ADAPTIVE[case]
    now = plan(cadence, at=AT, interval=0, evidence=Evidence(), changed=None, gap=None, first=True)
    assert now.interval == clamp(cadence.interval * cadence.weight, cadence, 0)
    found = []
    for letter in done:
        now = step(cadence, now, {"u": False, "c": True, "-": None}[letter])
        found.append(now.interval / HOUR)
    assert found == hours


def step(cadence: Cadence, before: Plan, changed: bool | None, **more: float) -> Plan:
    return plan(
        cadence,
        at=before.due_at,
        interval=before.interval,
        evidence=before.evidence,
        changed=changed,
        gap=before.interval,
        **more,  # type: ignore[arg-type]
    )


def test_the_floor_of_the_host_always_wins() -> None:
    cadence = Cadence(interval=DAY, maximum=2 * DAY)
    seed = plan(cadence, at=AT, interval=0, evidence=Evidence(), changed=None, gap=None, first=True, floor=5 * DAY)
    assert (seed.interval, seed.due_at) == (5 * DAY, AT + 5 * DAY)
    for changed in (True, False, None):
        assert step(cadence, seed, changed, floor=5 * DAY).interval == 5 * DAY


def test_reasons_say_what_happened() -> None:
    cadence = Cadence(interval=DAY)
    one = step(cadence, Plan(interval=DAY, due_at=AT, reason=""), False, streak=5)
    assert one.reason == "doubled to 2 d after 5 unchanged checks; max 3 d"
    assert step(cadence, one, True).reason == "halved to 1 d after a change; min 1 h"
    least = Plan(interval=HOUR, due_at=AT, reason="")
    assert step(cadence, least, True).reason == "stays at 1 h after a change; min 1 h"
    most = Plan(interval=3 * DAY, due_at=AT, reason="")
    assert step(cadence, most, False, streak=9).reason == "stays at 3 d after 9 unchanged checks; max 3 d"
    assert "crawl delay" in step(cadence, least, True, floor=2 * HOUR).reason
    estimated = Cadence(policy=Policy.ESTIMATED, maximum=30 * DAY)
    assert step(estimated, one, True).reason == (
        "changes about 3.5 a month; a check in 23 h buys 1.2 h of fresh copy; price 1.2 h"
    )


def test_fixed_and_cron_keep_their_word() -> None:
    fixed = Cadence(policy=Policy.FIXED, interval=7 * DAY, weight=0.5)
    assert plan(fixed, at=AT, interval=0, evidence=Evidence(), changed=True, gap=DAY).interval == 3.5 * DAY
    cron = Cadence(policy=Policy.CRON, cron="0 9 * * *")
    found = plan(cron, at=AT, interval=0, evidence=Evidence(), changed=False, gap=DAY, jitter=0.1)
    assert AT < found.due_at - 60 <= AT + DAY
    assert found.reason == 'next time of "0 9 * * *" in UTC'


def test_an_estimated_watch_follows_section_5() -> None:
    cadence = Cadence(policy=Policy.ESTIMATED, maximum=30 * DAY, price=1.2 * HOUR, rhythm=False)
    known = Evidence(changes=3.0, hours=500.0)
    found = plan(cadence, at=AT, interval=DAY, evidence=known, changed=True, gap=12 * HOUR)
    fade = 2 ** (-12 / (21 * 24))
    n, hours = 3 * fade + 1, 500 * fade + 12
    assert (found.evidence.changes, found.evidence.hours) == (pytest.approx(n), pytest.approx(hours))
    rate, wait = (0.5 + n) / (240 + hours), found.interval / HOUR
    assert (1 - (1 + rate * wait) * math.exp(-rate * wait)) / rate == pytest.approx(1.2)


def test_a_page_that_is_never_worth_it_is_checked_every_30_days() -> None:
    cadence = Cadence(policy=Policy.ESTIMATED, maximum=30 * DAY, price=600 * HOUR)
    found = plan(cadence, at=AT, interval=DAY, evidence=Evidence(), changed=False, gap=DAY, jitter=0.1)
    assert found.due_at == AT + 30 * DAY


def test_last_modified_makes_the_exposure_exact() -> None:
    kept = learn(Evidence(), at=AT, gap=DAY, changed=True, modified_at=AT - HOUR)
    assert (kept.changes, kept.hours) == (1.0, 1.0)
    for unbelievable in (AT + 1, AT - 2 * DAY, None):
        assert learn(Evidence(), at=AT, gap=DAY, changed=True, modified_at=unbelievable).hours == 24.0
    first = learn(Evidence(), at=AT, gap=None, changed=None, modified_at=AT - 21 * DAY)
    assert first.changes == pytest.approx(0.5)
    assert first.hours == pytest.approx(0.5 * 504 / math.log(2))


cadences = st.builds(
    Cadence,
    policy=st.sampled_from([Policy.ADAPTIVE, Policy.ESTIMATED]),
    interval=st.floats(HOUR, 30 * DAY),
    minimum=st.floats(900, DAY),
    maximum=st.floats(DAY, 60 * DAY),
    weight=st.floats(0.25, 4),
    price=st.floats(60, 10 * DAY),
)
answers = st.lists(st.tuples(st.sampled_from([True, False, None]), st.floats(0, 0.1)), max_size=30)


@given(cadences, answers, st.floats(0, 40 * DAY), st.floats(0, 14 * DAY))
def test_intervals_stay_within_their_bounds(
    cadence: Cadence, answers: list[tuple[bool | None, float]], floor: float, into_week: float
) -> None:
    now = plan(
        cadence, at=AT + into_week, interval=0, evidence=Evidence(), changed=None, gap=None, first=True, floor=floor
    )
    for changed, jitter in answers:
        at = now.due_at
        now = step(cadence, now, changed, floor=floor, jitter=jitter)
        least = max(min(cadence.minimum * cadence.weight, cadence.force_after), floor)
        most = max(cadence.maximum * cadence.weight, least)
        assert min(least, most) * (1 - 1e-9) <= now.interval <= most * (1 + 1e-9)
        assert at + min(now.interval, max(cadence.force_after, floor)) * (1 - 1e-9) <= now.due_at
        assert now.due_at <= at + max(now.interval * 1.1, floor) * (1 + 1e-9)
        assert now.due_at <= at + max(cadence.force_after, floor)
        assert now.reason
        assert "\n" not in now.reason


@given(st.lists(st.tuples(st.booleans(), st.floats(HOUR, 3 * DAY)), min_size=1, max_size=20))
def test_all_policies_learn_the_same(history: list[tuple[bool, float]]) -> None:
    known = []
    for policy in Policy:
        cadence = Cadence(policy=policy, cron="0 9 * * *")
        evidence, at = Evidence(), AT
        for changed, gap in history:
            at += gap
            evidence = plan(cadence, at=at, interval=DAY, evidence=evidence, changed=changed, gap=gap).evidence
        known.append(evidence)
    assert known.count(known[0]) == len(Policy)
    assert msgspec.json.decode(msgspec.json.encode(known[0]), type=Evidence) == known[0]


@given(cadences, st.booleans())
def test_a_304_and_the_same_page_again_are_alike(cadence: Cadence, jitter: bool) -> None:
    record = Record(values={}, fingerprint="1:x")
    page = Page(record=record, body=None, content_type=None, effective_url="u", validators=Validators())
    limits = Limits(jitter=0.05 if jitter else 0.0)
    first = UrlState.new("n", "https://x.example/", cadence, AT).observe_first(AT, cadence, page, limits)
    by_304 = first.observe_unchanged(AT + DAY, cadence, None, limits, 304)
    by_200 = first.observe_unchanged(AT + DAY, cadence, page, limits, 200)
    for name in ("check_interval", "next_check_at", "evidence", "unchanged_streak", "reason"):
        assert getattr(by_304, name) == getattr(by_200, name)


@given(cadences, st.lists(st.sampled_from(["error", "blocked", "deferred", "missing"]), max_size=6))
def test_errors_teach_nothing(cadence: Cadence, troubles: list[str]) -> None:
    state = UrlState.new("n", "https://x.example/", cadence, AT)
    state = state.observe_unchanged(AT, cadence)
    known = state.check_interval, state.evidence, state.unchanged_streak
    failure = Failure(kind="transient", message="no answer")
    for hours, trouble in enumerate(troubles, 1):
        at = AT + hours * HOUR
        if trouble == "error":
            state = state.observe_error(at, failure)
        elif trouble == "blocked":
            state = state.observe_blocked(at, failure)
        elif trouble == "deferred":
            state = state.observe_deferred(at, at + HOUR, failure)
        else:
            state = state.observe_missing(at, 404, cadence)
        assert (state.check_interval, state.evidence, state.unchanged_streak) == known


def test_what_neighbours_suggest_counts_until_a_page_speaks_for_itself() -> None:
    cadence = Cadence(policy=Policy.ESTIMATED, maximum=30 * DAY, rhythm=False)
    busy = Surroundings(prior_hours=10.0)
    fresh = [
        plan(cadence, at=AT, interval=DAY, evidence=Evidence(), changed=False, gap=HOUR, around=around).interval
        for around in (Surroundings(), busy)
    ]
    assert fresh[1] < fresh[0] / 2
    quiet = Evidence(hours=5_000.0)
    old = [
        plan(cadence, at=AT, interval=DAY, evidence=quiet, changed=False, gap=HOUR, around=around).interval
        for around in (Surroundings(), busy)
    ]
    assert old[1] == pytest.approx(old[0], rel=0.1)
