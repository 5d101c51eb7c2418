"""A day of the screen in virtual time: ``python -m tests.bench.tui_soak [--events 1000000]``.

Every event goes through bus, bridge, board and the screens, which are opened in turn meanwhile; only the clock is
not a real one. What counts is that memory and tasks are at the end what they were after a tenth of it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import time
import tracemalloc
from itertools import cycle
from typing import NamedTuple

import msgspec

from tests.tui.stage import Stage, stage
from tests.tui.support import DAY, ListHandle, change_of_lamp, check, town
from watcher.core.model import Outcome
from watcher.core.news import News
from watcher.engine.events import Checked, Reloaded, Started, StateChanged

BURST = 4_000
"""Events between two looks of the bridge. The bus holds more than twice as many."""
ROUND = (("4", "?"), ("escape", "1"), ("3", "w"), ("1", "j", "d"), ("left_square_bracket", "1"), ("g", "j", "s", "S"))
"""What is pressed between two bursts, over and over: it opens and leaves every screen."""


class Soaked(NamedTuple):
    """Traced bytes and tasks after the warm-up and at the end."""

    events: int
    early: int
    late: int
    tasks_early: int
    tasks_late: int

    @property
    def growth(self) -> float:
        """The share by which memory grew."""
        return self.late / self.early - 1


class Weather:
    """Events as an engine makes them: mostly checks that find nothing, now and then something else."""

    def __init__(self, handle: ListHandle, step: float) -> None:
        self._handle = handle
        self._step = step
        self._names = list(handle.states)
        self._chance = random.Random(7)
        self.sent = 0

    def burst(self, count: int) -> None:
        """Publish ``count`` events, ``step`` seconds of virtual time apart."""
        handle = self._handle
        for _ in range(count):
            handle.time += self._step
            self.sent += 1
            if self.sent % 5_000 == 0:
                handle.publish(Reloaded(added=("x",)))
            elif self.sent % 211 == 0:
                handle.publish(StateChanged((self._chance.choice(self._names),)))
            elif self.sent % 97 == 0:
                state, found, changes = change_of_lamp(handle)
                handle.put(state)
                handle.publish(Checked(check=found, news=News.CHANGED, changes=changes))
            else:
                self._check(self._chance.choice(self._names))

    def _check(self, name: str) -> None:
        handle = self._handle
        if self.sent % 2:
            handle.busy.add(name)
            handle.publish(Started(name))
            return
        handle.busy.clear()
        state = handle.states[name]
        handle.put(msgspec.structs.replace(state, next_check_at=handle.time + 3_600, outcome=Outcome.NOT_MODIFIED))
        handle.publish(Checked(check=check(name, handle.time, Outcome.NOT_MODIFIED)))


async def taken(opened: Stage) -> None:
    """Wait until the bridge took all that was published, and the screen shows it."""
    await opened.until(lambda: not opened.handle.waiting())


async def at_rest(opened: Stage) -> tuple[int, int]:
    """Traced bytes and tasks with the list on the screen."""
    await opened.press("1", "g")
    await taken(opened)
    opened.app.clear_notifications()
    await opened.pilot.pause(0.3)
    gc.collect()
    return tracemalloc.get_traced_memory()[0], len(asyncio.all_tasks())


async def soak(events: int) -> Soaked:
    """A day with so many events."""
    handle = town()
    tracemalloc.start()
    try:
        async with stage(handle, (100, 30), tick=0.05) as opened:
            weather, presses = Weather(handle, DAY / events), cycle(ROUND)
            early: tuple[int, int] | None = None
            while weather.sent < events:
                weather.burst(min(BURST, events - weather.sent))
                await taken(opened)
                await opened.press(*next(presses))
                if early is None and weather.sent >= max(events // 10, BURST * len(ROUND)):
                    early = await at_rest(opened)
            assert early is not None, "too few events to warm up"
            late = await at_rest(opened)
        return Soaked(events, early[0], late[0], early[1], late[1])
    finally:
        tracemalloc.stop()


def main() -> None:
    """Print what a day does to memory and tasks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    began, cpu = time.monotonic(), time.process_time()
    found = asyncio.run(soak(parser.parse_args().events))
    seconds = time.monotonic() - began
    print(
        f"{found.events:,} events, 24 h of virtual time, in {seconds:.0f} s ({time.process_time() - cpu:.0f} s of CPU)"
    )
    print(f"memory {found.early / 2**20:.2f} -> {found.late / 2**20:.2f} MiB ({found.growth:+.1%}; at most +5 %)")
    print(f"tasks  {found.tasks_early} -> {found.tasks_late}")
    if found.growth > 0.05 or found.tasks_late > found.tasks_early:
        raise SystemExit("the screen leaks")


if __name__ == "__main__":
    main()
