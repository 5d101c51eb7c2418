"""What the store needs now and then: folding when its journal has grown, expiry once a day. Never in a check's way."""

from __future__ import annotations

import logging
from collections.abc import Callable

from watcher.core.clock import Clock
from watcher.core.phrase import DAY
from watcher.core.settings import Settings
from watcher.store import Store, StoreError

log = logging.getLogger(__name__)

PERIOD = 600.0
"""Seconds between looks."""


class Housekeeping:
    """Keeps one store in shape. ``idle`` says that nothing is being checked."""

    def __init__(self, store: Store, clock: Clock, settings: Callable[[], Settings], idle: Callable[[], bool]) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._idle = idle
        self._expired_at = clock.now()

    async def run(self) -> None:
        """Look again and again, until cancelled. What fails is in the log and tried again at the next look."""
        while True:
            await self._clock.sleep(PERIOD)
            try:
                await self.fold()
                self.expire()
            except StoreError as error:
                log.warning("housekeeping: %s", error)

    async def fold(self) -> None:
        """Fold the journal where it has grown enough, beside the checks. Raises StoreError."""
        if self._store.compaction_due:
            await self._store.compact_aside()

    def expire(self) -> None:
        """Once a day, with nothing to check, let go what its retention class no longer keeps. Raises StoreError."""
        settings, now = self._settings(), self._clock.now()
        bounded = any(keep is not None for keep in settings.retention.values())
        if not bounded or now - self._expired_at < DAY or not self._idle():
            return
        self._expired_at = now
        classes = {watch.name: watch.retention for watch in settings.watches}
        self._store.gc(now, settings.retention, lambda name: classes.get(name, "default"), classes)
