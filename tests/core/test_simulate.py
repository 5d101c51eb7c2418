from __future__ import annotations

import gzip
import math
import os
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from watcher.core.history import Check
from watcher.core.model import Cadence, Outcome, Policy, Watch
from watcher.core.simulate import picture, traces
from watcher.core.simulate.bounds import clairvoyant, oracle, periodic
from watcher.core.simulate.measure import judge, summed
from watcher.core.simulate.past import pages_of
from watcher.core.simulate.replay import replay
from watcher.core.simulate.run import POLICIES, SEEDS, Simulation
from watcher.core.simulate.traces import Page, Trace, chance

HOUR, DAY, WEEK = 3_600.0, 86_400.0, 604_800.0
MONDAY = 2_800 * WEEK + 4 * DAY
SHARED = Path(os.environ.get("WATCHER_SHARED", Path(__file__).parents[2].parent / "shared")) / "data" / "traces"


def page(key: str, changes: list[float], *, weeks: int = 20, host: str = "h", warm: float = 4 * WEEK) -> Page:
    return Page(
        key=key,
        host=host,
        type="listing",
        start=MONDAY,
        end=MONDAY + weeks * WEEK,
        warm_until=MONDAY + warm,
        changes=tuple(sorted(MONDAY + change for change in changes)),
        previous=MONDAY - DAY,
    )


def poisson(key: str, per_day: float) -> Page:
    changes, at, n = [], 0.0, 0
    while at < 20 * WEEK:
        n += 1
        at += -math.log(1 - chance(f"{key}/{n}")) * DAY / per_day
        changes.append(at)
    return page(key, changes[:-1], host=f"host{chance(key):.1f}")


def test_staleness_by_hand() -> None:
    one = page("p", [10 * HOUR, 20 * HOUR, 40 * HOUR], weeks=10, warm=0.0)
    checks = [MONDAY + hours * HOUR for hours in (0, 12, 36, 41)]
    found = judge(one, checks)
    # Stale from 10 to 12, from 20 to 36 and from 40 to 41; each change seen before the next.
    assert found.stale * 10 * WEEK == pytest.approx(19 * HOUR)
    assert found.delays == (2 * HOUR, 16 * HOUR, 1 * HOUR)
    assert (found.checks, found.found, found.captured) == (4, 3, 3)
    rare = judge(one, [MONDAY, MONDAY + 50 * HOUR])
    assert (rare.found, rare.captured) == (1, 1)
    assert rare.stale * 10 * WEEK == pytest.approx(40 * HOUR)
    never = judge(one, [MONDAY])
    assert never.stale * 10 * WEEK == pytest.approx(10 * WEEK - 10 * HOUR)
    assert never.captured == 0
    assert never.longest_gap == 10 * WEEK


def test_delays_weigh_each_page_the_same() -> None:
    busy = page("busy", [n * DAY for n in range(1, 51)], weeks=10, warm=0.0)
    calm = page("calm", [10 * DAY], weeks=10, warm=0.0)
    outcomes = [
        judge(busy, [MONDAY] + [change + HOUR for change in busy.changes]),
        judge(calm, [MONDAY, calm.changes[0] + 9 * HOUR]),
    ]
    found = summed("x", outcomes)
    assert found.delay_p50_h == pytest.approx(9.0, abs=8.0)
    assert found.delay_p90_h == pytest.approx(9.0)
    assert found.captured == 1.0


def test_the_oracle_spends_the_budget_where_it_helps() -> None:
    pages = [page("never", []), poisson("slow", 0.1), poisson("fast", 4.0), poisson("mad", 90.0)]
    checks = oracle(pages, 1.0)
    days = 140
    assert len(checks[0]) == 1  # a look at the start and no more
    assert len(checks[3]) == 1  # faster than anybody can follow
    assert sum(map(len, checks)) / days / len(pages) == pytest.approx(1.0, rel=0.05)
    assert len(checks[2]) > len(checks[1])


def test_the_clairvoyant_is_never_beaten() -> None:
    pages = [poisson(f"p{n}", rate) for n, rate in enumerate((0.05, 0.2, 1.0, 3.0))]
    best = summed("clairvoyant", map(judge, pages, clairvoyant(pages, 1.0)))
    for other in (oracle(pages, 1.0), [periodic(one, DAY) for one in pages]):
        assert best.stale < summed("x", map(judge, pages, other)).stale


def test_estimated_beats_fixed_on_a_mixed_list_at_equal_requests() -> None:
    pages = [poisson(f"p{n}", 10 ** (n / 6 - 2)) for n in range(15)]
    simulation = Simulation(pages, 1.0)
    results = {name: simulation.run(name) for name in POLICIES}
    fixed, estimated = results["fixed"], results["estimated"]
    assert estimated.checks_per_page_day == pytest.approx(fixed.checks_per_page_day, rel=0.03)
    assert estimated.stale < 0.92 * fixed.stale
    assert results["oracle"].stale_ratio_to_oracle == 1.0
    assert results["clairvoyant"].stale < results["oracle"].stale
    assert results["adaptive"].checks_per_page_day <= 1.02
    assert estimated.longest_gap_d <= 30.01
    with pytest.raises(ValueError, match="no policy"):
        simulation.run("hopeful")


def test_a_rhythm_is_found_and_used() -> None:
    nine = [
        page(f"p{n}", [day * DAY + 9 * HOUR + 600 * chance(f"{n}/{day}") for day in range(70)], host="news", weeks=10)
        for n in range(4)
    ]
    with_it, without = (Simulation(nine, 2.0, rhythm=on).run("estimated") for on in (True, False))
    assert with_it.stale < 0.4 * without.stale
    assert with_it.delay_p50_h is not None
    assert with_it.delay_p50_h < 2.0


@settings(deadline=None, max_examples=15)
@given(
    st.sampled_from([Policy.ADAPTIVE, Policy.ESTIMATED, Policy.FIXED]),
    st.lists(st.floats(1, 20 * WEEK - 1), max_size=60),
    st.integers(0, 3),
)
def test_nobody_is_starved(policy: Policy, changes: list[float], seed: int) -> None:
    cadence = Cadence(policy=policy, maximum=30 * DAY, price=9 * HOUR)
    one = page("p", changes)
    checks = replay([one], cadence, SEEDS, seed)[0]
    assert checks == sorted(checks)
    assert judge(one, checks).longest_gap <= 30 * DAY + 1
    assert min(b - a for a, b in pairwise(checks[1:])) >= HOUR - 1
    assert replay([one], cadence, SEEDS, seed)[0] == checks


def test_windows_keep_the_hour_of_the_week_and_their_distance() -> None:
    start = 1_600_000_000.0
    changes = tuple(start + n * 7_200 for n in range(9_000))
    fast = Trace(page="p", type="index", source="s", changes=changes, start=start, end=start + 750 * DAY)
    found = traces.windows([fast])
    assert len(found) == 4
    starts = sorted(one.start for one in found)
    assert all((at - traces.MONDAY) % WEEK == 0 for at in starts)
    assert all(b - a >= 20 * WEEK for a, b in pairwise(starts))
    for one in found:
        assert all(one.start < change < one.end for change in one.changes)
        assert one.previous <= one.start
    short = msgspec.structs.replace(fast, end=start + 100 * DAY)
    assert traces.windows([short]) == []
    down = {"s": [(start, start + 750 * DAY)]}
    assert traces.windows([fast], down) == []


def test_parts_are_disjoint_and_whole() -> None:
    pages = [page(f"source/{n}@1", []) for n in range(200)]
    tune, test = traces.part(pages, "tune"), traces.part(pages, "test")
    assert {p.key for p in tune} | {p.key for p in test} == {p.key for p in pages}
    assert not {p.key for p in tune} & {p.key for p in test}
    assert 30 < len(tune) < 70


def test_off_the_grid_moves_changes_back_by_less_than_the_cadence() -> None:
    robot = msgspec.structs.replace(page("p", [n * DAY for n in range(1, 90)]), host="zoph-io/MAMIP")
    moved = traces.off_the_grid(robot)
    assert len(moved.changes) == len(robot.changes)
    for before, after in zip(robot.changes, moved.changes, strict=True):
        assert 0 <= before - after <= 2 * HOUR
    person = page("p", [DAY])
    assert traces.off_the_grid(person) is person


def test_a_line_that_is_no_trace_is_named() -> None:
    with pytest.raises(ValueError, match="line 2 is no trace"):
        list(traces.read_traces([b'{"page":"p","type":"t","source":"s","changes":[],"start":0,"end":1}', b"{}"]))


def test_own_history_becomes_pages() -> None:
    watch = Watch(name="w", url="https://shop.example/w", type="detail")

    def check(day: float, outcome: Outcome, **more: object) -> Check:
        return Check(name="w", url=watch.url, at=MONDAY + day * DAY, outcome=outcome, **more)  # type: ignore[arg-type]

    checks = [
        check(0, Outcome.FIRST),
        check(1, Outcome.CHANGED, gap=DAY),
        check(2, Outcome.ERROR),
        check(3, Outcome.CHANGED, gap=2 * DAY, modified_at=MONDAY + 2.9 * DAY),
        check(3.5, Outcome.CHANGED, gap=DAY / 2, silent=True),
        check(4, Outcome.NOT_MODIFIED, gap=DAY),
    ]
    (found,) = pages_of(checks, {"w": watch})
    assert (found.host, found.type, found.start, found.end) == ("shop.example", "detail", MONDAY, MONDAY + 4 * DAY)
    assert found.changes == (MONDAY + 0.5 * DAY, MONDAY + 2.9 * DAY)
    assert pages_of(checks[:1], {"w": watch}) == pages_of(checks, {}) == []


def test_a_picture_shows_every_policy() -> None:
    curves = {"fixed": [(0.25, 0.2), (1.0, 0.1), (4.0, 0.04)], "estimated <b>": [(0.25, 0.1), (1.0, 0.06), (4.0, 0.0)]}
    lines = picture.terminal(curves, width=40, height=8)
    assert all(len(line) <= 60 for line in lines)
    assert sum("A" in line for line in lines[:8]) == 3, lines
    assert "20.0%" in lines[0]
    assert "A fixed  B estimated <b>" in lines[-1]
    root = ElementTree.fromstring(picture.svg(curves))
    assert len(root.findall(".//{*}polyline")) == 2
    assert len(root.findall(".//{*}circle")) == 5
    assert picture.terminal({"nothing": []})


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason=f"the change traces are not at {SHARED} (set WATCHER_SHARED)")
@pytest.mark.parametrize(("budget", "rhythm", "ratio"), [(1.0, True, 0.95), (1.0, False, 1.10), (0.25, True, 1.10)])
def test_the_bars_hold_on_recorded_changes(budget: float, rhythm: bool, ratio: float) -> None:
    with gzip.open(SHARED / "traces.jsonl.gz") as lines:
        pages = traces.windows(traces.read_traces(lines), traces.read_outages((SHARED / "outages.json").read_bytes()))
    pages = traces.part(traces.stratified(pages), "test")
    simulation = Simulation(pages, budget, rhythm=rhythm)
    found = simulation.run("estimated")
    assert found.checks_per_page_day <= budget * 1.011
    assert found.stale_ratio_to_oracle is not None
    assert found.stale_ratio_to_oracle <= ratio
    assert found.longest_gap_d <= 30.01
    if budget >= 1 and rhythm:
        assert found.delay_p50_h is not None
        assert found.delay_p50_h <= 12
        # Fixed needs 1/0.6 of the requests to be as fresh.
        assert found.stale <= Simulation(pages, budget / 0.6).run("fixed").stale
