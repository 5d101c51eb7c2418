from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from watcher.core import timing
from watcher.core.estimate import stale_chance, value, wait_for
from watcher.core.evidence import Evidence, learn
from watcher.core.neighbours import Neighbours
from watcher.core.rhythm import BIN_OF, BINS, FLAT, SCALE, busiest, hour_of_week, learned, shape_of, unpacked

HOUR, DAY = 3_600.0, 86_400.0
MONDAY = 4 * DAY
RATES = st.floats(1e-5, 4.0)


@given(RATES, st.floats(0, 2_000), st.floats(0, 2_000))
def test_value_rises_with_the_wait_and_never_passes_its_bound(rate: float, one: float, two: float) -> None:
    low, high = sorted((one, two))
    assert 0 <= value(rate, low) <= value(rate, high) * (1 + 1e-6) + 1e-12
    assert value(rate, high) <= 1 / rate
    assert 0 <= stale_chance(rate, low) <= stale_chance(rate, high) <= 1


@given(RATES, st.floats(0.01, 200))
def test_the_wait_buys_the_price(rate: float, price: float) -> None:
    wait = wait_for(rate, price)
    if rate * price >= 1:
        assert wait == math.inf
    else:
        assert value(rate, wait) == pytest.approx(price, rel=1e-4)


@given(RATES, st.floats(0.01, 100), st.floats(1.01, 10))
def test_a_higher_price_waits_longer(rate: float, price: float, dearer: float) -> None:
    assert wait_for(rate, price) <= wait_for(rate, price * dearer)


def cheapest(rate: float, shape: list[float], price: float, at: float, hours: int) -> float:
    """The first stop of the cheapest way, by trying every pair of hours: what best_wait must find faster."""
    first = 1 - at / HOUR % 1
    times = [0.0] + [first + n for n in range(hours)]
    mass = [0.0]
    for n in range(hours):
        length = first if n == 0 else 1.0
        mass.append(mass[-1] + rate * shape[BIN_OF[(hour_of_week(at) + n) % 168]] * length)
    cost, stop = [0.0] * (hours + 1), [0] * (hours + 1)
    for a in range(hours - 1, -1, -1):
        cost[a], fresh = math.inf, 0.0
        for b in range(a + 1, hours + 1):
            more, length = mass[b] - mass[b - 1], times[b] - times[b - 1]
            kept = math.exp(mass[a] - mass[b - 1])
            fresh += kept * -math.expm1(-more) / more * length if more > 1e-9 else kept * length
            there = price + times[b] - times[a] - fresh + cost[b]
            if there < cost[a]:
                cost[a], stop[a] = there, b
    return times[stop[0]]


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0.01, 0.24),
    st.lists(st.floats(0, 5), min_size=BINS, max_size=BINS).filter(lambda shape: sum(shape) > 1),
    st.floats(0.5, 3.0),
    st.floats(0, 14 * DAY),
)
def test_the_timing_is_the_cheapest_there_is(rate: float, shape: list[float], price: float, after: float) -> None:
    at = MONDAY + after
    times, _, _ = timing._ahead(rate, shape, at, 1.0, 48.0)
    found = timing._shortest_path(*timing._ahead(rate, shape, at, 1.0, 48.0), price)
    assert times[found] == pytest.approx(cheapest(rate, shape, price, at, len(times) - 1))


def test_a_check_waits_for_the_rush_to_pass() -> None:
    nine = [0.02] * BINS
    nine[9] = nine[24 + 9] = 23.5
    for hour in range(24):
        wait = timing.best_wait(1 / 24, nine, 1.0, MONDAY + hour * HOUR)
        assert (hour + wait) % 24 == 10


def test_without_a_rhythm_the_timing_is_the_plain_wait() -> None:
    for rate, price in ((1 / 24, 0.9), (1 / 200, 0.5), (0.5, 0.3)):
        assert timing.best_wait(rate, FLAT, price, MONDAY) == pytest.approx(wait_for(rate, price), abs=1.0)
    assert timing.best_wait(0.001, FLAT, 2_000.0, MONDAY) == math.inf


def test_hours_and_bins() -> None:
    assert hour_of_week(0) == 72  # a Thursday
    assert hour_of_week(MONDAY) == 0
    assert BIN_OF[hour_of_week(MONDAY + 5 * DAY + 3 * HOUR)] == 24 + 3
    assert BIN_OF[hour_of_week(MONDAY + 4 * DAY + 23 * HOUR)] == 23


def test_a_daily_page_shows_its_hour() -> None:
    known = b""
    for day in range(28):
        for hour in range(0, 24, 3):
            known = learned(known, at=MONDAY + day * DAY + hour * HOUR, gap=3 * HOUR, changed=hour == 9)
    shape = shape_of(unpacked(known))
    assert busiest(shape)[2] > 0.5
    assert max(shape[:24]) in shape[6:9]
    assert sum(shape[:24]) * 5 + sum(shape[24:]) * 2 == pytest.approx(168)
    assert len(known) == 192


def test_an_exact_instant_names_its_hour() -> None:
    known = learned(b"", at=MONDAY + DAY, gap=DAY, changed=True, exact_at=MONDAY + 7.5 * HOUR)
    assert unpacked(known)[7] == SCALE
    assert sum(unpacked(known)[:BINS]) == SCALE


def test_years_of_checks_fit() -> None:
    known = b""
    for n in range(8_000):
        known = learned(known, at=MONDAY + n * 900.0, gap=900.0, changed=True)
    assert len(known) == 192
    assert shape_of(unpacked(known)) == pytest.approx([1.0] * BINS, rel=0.2)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.floats(60, 12 * HOUR), st.booleans()), max_size=40))
def test_neighbours_are_the_sum_of_what_each_knows(history: list[tuple[float, bool]]) -> None:
    book = Neighbours()
    evidence = {"a": Evidence(), "b": Evidence()}
    at = MONDAY
    for n, (gap, changed) in enumerate(history):
        at += gap
        name = "ab"[n % 2]
        evidence[name] = learn(evidence[name], at=at, gap=gap, changed=changed)
        book.put("h", name, evidence[name])
    alone, strangers = Neighbours(), Neighbours()
    for name, known in evidence.items():
        alone.put("h", name, known)
        strangers.put(name, name, known)
    for name in evidence:
        book.put("h", name, evidence[name])
        assert book.around("h", name).prior_hours == pytest.approx(alone.around("h", name).prior_hours)
        assert strangers.around(name, name).prior_hours == pytest.approx(
            Neighbours().around("x", name).prior_hours, rel=1
        )
    book.drop("h", "b")
    only = Neighbours()
    only.put("h", "a", evidence["a"])
    assert book.around("h", "new").prior_hours == pytest.approx(only.around("h", "new").prior_hours)
