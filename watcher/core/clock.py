"""The clock as an argument: wall time for stamps and due times, monotonic time for durations."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """What the engine and the fetcher ask the time of. Tests hand in one they can move."""

    def now(self) -> float:
        """Unix seconds, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never jump; only differences mean anything."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return once ``seconds`` of this clock's monotonic time have passed."""
        ...
