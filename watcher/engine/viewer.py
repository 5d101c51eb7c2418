"""A screen beside another process's engine: follows its journal, writes nothing, asks no host."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from watcher.core.clock import Clock
from watcher.core.model import Field
from watcher.core.settings import Settings
from watcher.engine.events import Checked, StateChanged, Stopped
from watcher.engine.handle import Preview
from watcher.engine.reader import Reader
from watcher.store import Store

PERIOD = 1.0
"""Seconds between looks at the journal."""


class Viewer(Reader):
    """Answers every question of :class:`~watcher.engine.handle.Handle` and refuses every order."""

    read_only = True

    def __init__(self, settings: Settings, store: Store, clock: Clock) -> None:
        super().__init__(settings, store, clock)
        self._stopping = False

    async def run(self) -> None:
        """Follow until :meth:`stop`. Raises StoreError when the journal can no longer be read."""
        while not self._stopping:
            self.look()
            await self._clock.sleep(PERIOD)
        self._bus.publish(Stopped())

    def look(self) -> None:
        """Take in what was written since the last look, and tell of it."""
        found = self._store.poll()
        for check in found.checks:
            self._recent.append(check)
            self._bus.publish(Checked(check=check))
        if found.names or found.reloaded:
            self._bus.publish(StateChanged(found.names or tuple(self.names())))

    def running(self) -> frozenset[str]:
        """What the other process checks at this moment is not known here."""
        return frozenset()

    def check_now(self, names: Iterable[str], *, force: bool = False) -> None:
        """Nothing: the other process checks."""

    def check_due(self) -> None:
        """Nothing: the other process checks."""

    def set_paused(self, names: Iterable[str], paused: bool) -> None:
        """Nothing: the store is another process's."""

    def mark_seen(self, names: Iterable[str], seen: bool = True) -> None:
        """Nothing: the store is another process's."""

    async def preview(self, url: str, fields: Sequence[Field] = ()) -> Preview:
        """Refused: two processes would not keep a host's gap between them."""
        return Preview(url=url, record=None, error="Another watcher runs on this data; add pages there.")

    async def stop(self, *, force: bool = False) -> None:
        """End following."""
        self._stopping = True
