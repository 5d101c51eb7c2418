"""Events from one loop to many listeners. A slow listener loses nothing it needs: it re-reads what changed."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from watcher.engine.events import Event

BACKLOG = 10_000


class Subscription:
    """One listener's queue. Past ``BACKLOG`` events the oldest go, and ``missed`` counts them."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._ready = asyncio.Event()
        self.missed = 0

    def push(self, event: Event) -> None:
        """Queue one event (called by the bus)."""
        if len(self._events) >= BACKLOG:
            self._events.popleft()
            self.missed += 1
        self._events.append(event)
        self._ready.set()

    def drain(self) -> list[Event]:
        """Take everything queued so far, oldest first, without waiting."""
        taken = list(self._events)
        self._events.clear()
        self._ready.clear()
        return taken

    async def wait(self) -> list[Event]:
        """Wait for at least one event, then take everything queued."""
        await self._ready.wait()
        return self.drain()


class Bus:
    """Fans events out to every open subscription."""

    def __init__(self) -> None:
        self._open: set[Subscription] = set()

    def publish(self, event: Event) -> None:
        """Hand ``event`` to every subscription. Never blocks, never raises."""
        for subscription in self._open:
            subscription.push(event)

    @contextmanager
    def subscribe(self) -> Iterator[Subscription]:
        """Listen until the block is left."""
        subscription = Subscription()
        self._open.add(subscription)
        try:
            yield subscription
        finally:
            self._open.discard(subscription)
