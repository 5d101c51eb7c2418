"""From the engine's events to the screens: collected, so that a flood of checks costs ten paints a second."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from watcher.core.model import Failure
from watcher.engine.bus import Subscription
from watcher.engine.events import Checked, Draining, EngineFailed, Event, Reloaded, Started, StateChanged, Stopped

PERIOD = 0.1
"""Seconds between two batches."""


@dataclass
class Batch:
    """Everything that happened since the last one. ``moved`` are the watches whose rows may say something else."""

    moved: set[str] = field(default_factory=set)
    checked: list[Checked] = field(default_factory=list)
    reloaded: list[Reloaded] = field(default_factory=list)
    failure: Failure | None = None
    draining: int | None = None
    stopped: bool = False
    lost: bool = False
    """Events were dropped on the way: everything must be looked at again."""

    def add(self, event: Event) -> None:
        """Take in one event."""
        match event:
            case Checked():
                self.moved.add(event.check.name)
                self.checked.append(event)
            case Started():
                self.moved.add(event.name)
            case StateChanged():
                self.moved.update(event.names)
            case Reloaded():
                self.reloaded.append(event)
            case EngineFailed():
                self.failure = event.failure
            case Draining():
                self.draining = event.left
            case Stopped():
                self.stopped = True


def collect(events: Iterable[Event]) -> Batch:
    """The batch of ``events``."""
    batch = Batch()
    for event in events:
        batch.add(event)
    return batch


async def carry(subscription: Subscription, deliver: Callable[[Batch], None], *, period: float = PERIOD) -> None:
    """Hand what happens to ``deliver``, at most once a ``period``, until cancelled.

    The first event after a quiet time is delivered at once, so a single key press is answered without delay.
    """
    missed = 0
    while True:
        batch = collect(await subscription.wait())
        if subscription.missed > missed:
            missed, batch.lost = subscription.missed, True
        deliver(batch)
        await asyncio.sleep(period)
