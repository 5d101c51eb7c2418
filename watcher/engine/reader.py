"""The reading half of the handle: configuration and store looked at together. Nothing here writes or asks a host."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice

from watcher.core.clock import Clock
from watcher.core.history import AsOf, Check, Version
from watcher.core.model import Status, Watch
from watcher.core.settings import Settings
from watcher.core.state import HostState, Summary, UrlState
from watcher.core.urls import UrlError, parse_url
from watcher.engine.bus import Bus, Subscription
from watcher.store import Store

RECENT = 1_000


class Reader:
    """What is configured and what is known of it. Base of the live engine and of the viewer beside one."""

    def __init__(self, settings: Settings, store: Store, clock: Clock) -> None:
        self._settings = settings
        self._watches = {watch.name: watch for watch in settings.watches}
        self._store = store
        self._clock = clock
        self._bus = Bus()
        self._recent: deque[Check] = deque(maxlen=RECENT)

    @property
    def settings(self) -> Settings:
        """The configuration in force."""
        return self._settings

    def now(self) -> float:
        """The engine's wall clock (unix seconds)."""
        return self._clock.now()

    def names(self) -> Sequence[str]:
        """Every configured watch, in the order of the configuration."""
        return list(self._watches)

    def watch(self, name: str) -> Watch | None:
        """The watch called ``name``, or None when it is not (or no longer) configured."""
        return self._watches.get(name)

    def summary(self, name: str) -> Summary | None:
        """The narrow state of a configured watch, from memory; a watch never checked is ``new`` and due."""
        known = self._store.summaries.get(name)
        if known is not None:
            return known
        watch = self._watches.get(name)
        return None if watch is None else _never_checked(watch)

    def state(self, name: str) -> UrlState | None:
        """The whole state, read from disk; None for a watch never checked."""
        return self._store.state(name)

    def host(self, url: str) -> HostState | None:
        """What is known of the host of ``url``."""
        try:
            return self._store.host(parse_url(url).origin)
        except UrlError:
            return None

    def history(self, name: str, *, limit: int = 100, before: float | None = None) -> list[Version]:
        """Versions of a watch's record, newest first."""
        return self._store.history(name, limit=limit, before=before)

    def as_of(self, name: str, at: float) -> AsOf:
        """What was known of ``name`` at an instant."""
        return self._store.as_of(name, at)

    def checks(self, name: str | None = None, *, since: float | None = None) -> Iterator[Check]:
        """Checks from the journal, oldest first."""
        return self._store.checks(name, since=since)

    def recent(self, limit: int = 200) -> list[Check]:
        """The last checks seen by this process, newest first."""
        return list(islice(reversed(self._recent), limit))

    def subscribe(self) -> AbstractContextManager[Subscription]:
        """Listen to what happens, until the block is left."""
        return self._bus.subscribe()


def _never_checked(watch: Watch) -> Summary:
    return Summary(
        url=watch.url,
        status=Status.NEW,
        outcome=None,
        http_status=0,
        check_interval=watch.cadence.interval * watch.cadence.weight,
        next_check_at=0.0,
        last_fetched_at=None,
        last_changed_at=None,
        seen_at=None,
        unchanged_streak=0,
        failures=0,
        paused=False,
    )
