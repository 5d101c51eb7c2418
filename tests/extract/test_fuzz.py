"""A few hundred of the mutated pages that ``tests/bench/extract_fuzz.py`` makes by the ten thousand."""

from __future__ import annotations

import pytest

from tests.bench.extract_fuzz import elsewhere, run


def test_mutated_pages_crash_nothing_and_take_no_time() -> None:
    outcomes = list(run(300, seed=7))
    assert len(outcomes) == 600
    assert 100 < sum(text.startswith("1:") for text in outcomes) < 600


def test_the_same_bytes_give_the_same_record_in_another_process() -> None:
    assert list(run(60, seed=8)) == elsewhere(60, seed=8, hash_seed=1) == elsewhere(60, seed=8, hash_seed=2)


@pytest.mark.slow
def test_ten_thousand_mutated_pages() -> None:
    assert len(list(run(10_000, seed=9))) == 20_000
