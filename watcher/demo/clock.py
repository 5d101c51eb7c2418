"""A wall clock in a hurry: a second of ours is six hours in the demo, so a minute shows two weeks of watching."""

from __future__ import annotations

import asyncio
import time

SPEED = 6 * 3_600.0
"""Demo seconds to a real one."""

FRAME = 0.02
"""Real seconds a sleep takes at least: shorter ones could not be seen, and a thousand of them a second would cost."""


class DemoClock:
    """A :class:`watcher.core.clock.Clock` that begins now and runs ``speed`` times as fast."""

    def __init__(self, speed: float = SPEED) -> None:
        self._speed = speed
        self._began_at = time.time()
        self._began = time.monotonic()

    def now(self) -> float:
        """Unix seconds, UTC, of the demo's time."""
        return self._began_at + self.monotonic()

    def monotonic(self) -> float:
        """Demo seconds since the demo began."""
        return (time.monotonic() - self._began) * self._speed

    async def sleep(self, seconds: float) -> None:
        """Return once ``seconds`` of demo time have passed."""
        await asyncio.sleep(max(seconds / self._speed, FRAME) if seconds > 0 else 0)
