"""Every case of ../shared/cases, played from its file against the whole program: one test a case.

``WATCHER_CASES`` names another directory of cases of the same format. A case that cannot be played is skipped with
its reason; where our contract decides otherwise than a case, the rule is named in ``tests/replay/overrules.py`` and
in the test's properties. ``python -m tests.replay`` prints the whole table.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.replay import cases, player

CASES = list(cases.load())


def test_there_are_cases() -> None:
    if not cases.directory().is_dir():
        pytest.skip(f"no cases: {cases.directory()} does not exist (WATCHER_CASES names the directory)")
    assert CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: cases.Case, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    try:
        overruled = player.play(case, tmp_path)
    except cases.NotPlayable as reason:
        pytest.skip(f"{case.name}: {reason}")
    for rule in overruled:
        record_property("overruled", rule)
