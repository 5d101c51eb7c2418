"""One request in flight per host, and a pause after each (CONDUCT rules 34, 35). Time is the clock's, never its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from watcher.core.clock import Clock
from watcher.core.phrase import DAY
from watcher.core.settings import HostSettings
from watcher.fetch.hosts import HostBook

SLOW, SLOWEST = 5.0, 30.0
"""A host that needs long to answer gets five times as long to rest, up to half a minute."""

REMEMBERED = 60.0
"""A pause from here on outlives this process."""


class Pacer:
    """Gives each host's requests their turn."""

    def __init__(self, book: HostBook, clock: Clock) -> None:
        self._book = book
        self._clock = clock
        self._locks: dict[str, asyncio.Lock] = {}
        self._last: dict[str, tuple[float, float, float]] = {}

    def ready_in(self, key: str) -> float:
        """Seconds until this host may be asked again; 0 when it may be now.

        The pause is reckoned when it is asked for: a robots.txt may just have lengthened its own.
        """
        now = self._clock.monotonic()
        if key not in self._last:
            remaining = self._book.get(key).open_at - self._clock.now()
            return remaining if 0 < remaining <= DAY else 0.0
        ended, least, elapsed = self._last[key]
        return max(0.0, ended + self.gap(key, least, elapsed) - now)

    def gap(self, key: str, least: float, elapsed: float) -> float:
        """Seconds to leave after a response that took ``elapsed``; ``least`` is the user's, and 0 means none."""
        delay = self._book.get(key).crawl_delay
        if delay is not None:
            return max(delay, least)
        return max(least, min(SLOWEST, SLOW * elapsed)) if least else 0.0

    @asynccontextmanager
    async def turn(self, key: str, settings: HostSettings) -> AsyncIterator[float]:
        """Wait for this host's turn, and hold it while the block runs. Gives the seconds waited."""
        began = self._clock.monotonic()
        async with self._locks.setdefault(key, asyncio.Lock()):
            while (wait := self.ready_in(key)) > 0:
                await self._clock.sleep(wait)
            self._book.spend(key, self._clock.now())
            asked = self._clock.monotonic()
            try:
                yield asked - began
            finally:
                ended = self._clock.monotonic()
                self._last[key] = ended, settings.min_gap, ended - asked
                gap = self.ready_in(key)
                if gap >= REMEMBERED:
                    self._book.change(key, open_at=self._clock.now() + gap)
