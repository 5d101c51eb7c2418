"""The demo as a whole: every outcome within its minute, and nothing left behind."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from tests.support.clock import FakeClock
from watcher.core.model import Outcome
from watcher.demo.clock import FRAME, SPEED, DemoClock
from watcher.demo.narrate import narrate
from watcher.demo.play import demo
from watcher.engine.events import Checked

MINUTE = 60 * SPEED


def played(clock: FakeClock, seconds: float) -> list[Checked]:
    """Every check of the demo's first ``seconds`` of its own time."""

    async def main() -> list[Checked]:
        async with demo(clock) as engine:
            with engine.subscribe() as heard:
                running = asyncio.create_task(engine.run())
                await clock.advance(seconds)
                await engine.stop()
                await running
                return [event for event in heard.drain() if isinstance(event, Checked)]

    return clock.run(main())


def test_every_outcome_is_seen_within_a_minute() -> None:
    clock = FakeClock()
    began_at = clock.now()
    events = played(clock, MINUTE)
    assert {event.check.outcome for event in events} == set(Outcome)
    lines = [line for event in events for line in narrate(event, began_at)]
    assert any("price: 48.00 GBP → 44.00 GBP" in line or "→ 39.50 GBP" in line for line in lines)
    assert any("[-" in line and "{+" in line for line in lines)
    assert all(line == line.rstrip() and "\n" not in line for line in lines)


def test_an_edit_of_the_fields_is_no_change() -> None:
    barometer = [event for event in played(FakeClock(), MINUTE) if event.check.name == "Brass barometer"]
    redefined = [event for event in barometer if event.check.outcome is Outcome.REDEFINED]
    assert len(redefined) == 1
    assert (redefined[0].news, redefined[0].changes) == (None, ())


def test_the_clock_runs_six_hours_a_second() -> None:
    clock = DemoClock()
    before = (clock.now(), clock.monotonic())
    asyncio.run(clock.sleep(600))
    passed = clock.monotonic() - before[1]
    assert passed >= FRAME * SPEED
    assert abs(clock.now() - before[0] - passed) < SPEED


def test_headless_prints_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = {"TMPDIR": str(tmp_path), "HOME": str(tmp_path), "PATH": "", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "watcher", "demo", "--headless", "--for", "3s"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "first        Storm lantern" in done.stdout
    assert list(tmp_path.rglob("*")) == []


def test_options_of_the_headless_demo_need_it() -> None:
    command = [sys.executable, "-m", "watcher", "demo", "--for", "3s"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--headless" in done.stderr
