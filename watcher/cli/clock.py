"""The clock of this machine."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """Wall time for stamps and due times, monotonic time for durations."""

    def now(self) -> float:
        """Unix seconds, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never jump."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Sleep in this process; other tasks go on."""
        await asyncio.sleep(seconds)
