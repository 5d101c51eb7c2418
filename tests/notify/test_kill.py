"""Killed as hard as can be at every step, and started again: nothing is told twice, and what may be lost is said."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.notify.making import AT, eventually, plain, settings, told, writing
from tests.notify.test_outbox import let_go
from tests.notify.victim import offer_all
from tests.support.clock import FakeClock
from watcher.notify import Outbox

ROOT = Path(__file__).parents[2]
STEPS = 6
"""Two offers, and for each of the two messages a beginning and an end."""


def killed(root: Path, out: Path, step: int, when: str) -> int:
    command = [sys.executable, "-m", "tests.notify.victim", str(root), str(out), str(step), when]
    return subprocess.run(command, cwd=ROOT, check=False, timeout=60).returncode


async def restarted(root: Path, command: tuple[str, ...]) -> list[str]:
    """Everything again after the crash, as the engine would: the same news offered, and told. What was reported."""
    said: list[str] = []
    box = Outbox(settings(command), root, FakeClock(AT + 10), reveal=plain, report=said.append)
    offer_all(box)
    await box.flush()
    assert box.pending() == ()
    box.close()
    return said


def test_a_process_that_is_not_killed_takes_all_steps(tmp_path: Path) -> None:
    assert killed(tmp_path, tmp_path / "out", STEPS + 1, "before") == 0
    assert len(told(tmp_path / "out")) == 2
    assert killed(tmp_path / "x", tmp_path / "out", STEPS, "after") == -signal.SIGKILL


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", range(1, STEPS + 1))
async def test_killed_at_any_step_nothing_is_told_twice(tmp_path: Path, step: int, when: str) -> None:
    out = tmp_path / "out"
    assert killed(tmp_path, out, step, when) == -signal.SIGKILL
    said = await restarted(tmp_path, writing(out))
    times = Counter(news["name"] for news in told(out))
    assert set(times) <= {"Lamp", "Ferry"}
    for name in ("Lamp", "Ferry"):
        unsure = f"The notice '{name} changed' may not have been told: watcher was ended while it was sent." in said
        assert times[name] == 1 or (times[name] == 0 and unsure)
    # Sure of both, unless it died between a beginning and its end.
    between = (step, when) in {(3, "after"), (4, "before"), (5, "after"), (6, "before")}
    assert len(said) == between
    assert await restarted(tmp_path, writing(out)) == []
    assert Counter(news["name"] for news in told(out)) == times


async def test_killed_while_the_command_runs(tmp_path: Path) -> None:
    fifo, out = tmp_path / "fifo", tmp_path / "out"
    os.mkfifo(fifo)
    script = 'cat >> "$0"; test -e "$0.go" || exec cat "$1"'
    slow = ("sh", "-c", script, str(out), str(fifo))
    program = "import sys, pathlib; from tests.notify.victim import main; main(pathlib.Path(sys.argv[1]), sys.argv[2:])"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, str(tmp_path), *slow, cwd=ROOT)
    await eventually(lambda: len(told(out)) == 1)
    process.kill()
    await process.wait()
    (tmp_path / "out.go").touch()
    said = await restarted(tmp_path, slow)
    let_go(fifo)
    assert said == ["The notice 'Lamp changed' may not have been told: watcher was ended while it was sent."]
    assert [news["name"] for news in told(out)] == ["Lamp", "Ferry"]
