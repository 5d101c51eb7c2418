"""The short form of ``tests/bench/tui_soak.py``: a day of virtual time with 50,000 events."""

from __future__ import annotations

import pytest

from tests.bench.tui_soak import soak


@pytest.mark.slow
async def test_a_day_of_events_leaves_nothing_behind() -> None:
    found = await soak(50_000)
    assert found.growth < 0.05, f"{found.early:,} -> {found.late:,} bytes"
    assert found.tasks_late <= found.tasks_early
