"""What a screen may ask of the engine. The live engine and the read-only viewer both answer it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec

from watcher.core.history import Check, Version
from watcher.core.model import Field, Record, Watch
from watcher.core.settings import Settings
from watcher.core.state import HostState, Summary, UrlState
from watcher.engine.bus import Subscription


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a page would be recorded as: for ``watcher test`` and the add screen. Nothing of it is stored.

    ``matches`` says per field how many nodes matched and near misses, one sentence each, and then what is left out
    of the content because it differs at every fetch or is to be ignored.
    ``body`` and ``content_type`` let a caller try other fields without asking the host again.
    """

    url: str
    record: Record | None
    matches: tuple[str, ...] = ()
    error: str | None = None
    body: bytes = b""
    content_type: str | None = None
    suggested_type: str = "listing"


class Handle(Protocol):
    """The engine as its guests see it. Reads are immediate and never block on the network."""

    @property
    def settings(self) -> Settings: ...

    @property
    def read_only(self) -> bool:
        """True for a viewer beside another process's engine."""
        ...

    def now(self) -> float: ...

    def names(self) -> Sequence[str]:
        """Every configured watch, in the order of the configuration."""
        ...

    def watch(self, name: str) -> Watch | None: ...

    def summary(self, name: str) -> Summary | None:
        """The narrow state, from memory: safe to call for every row painted."""
        ...

    def state(self, name: str) -> UrlState | None:
        """The whole state, one read from disk: for the selected watch only."""
        ...

    def host(self, url: str) -> HostState | None: ...

    def running(self) -> frozenset[str]:
        """The watches being checked at this moment."""
        ...

    def history(self, name: str, *, limit: int = 100, before: float | None = None) -> list[Version]:
        """Versions, newest first."""
        ...

    def checks(self, name: str | None = None, *, since: float | None = None) -> Iterator[Check]:
        """Checks from the journal, oldest first."""
        ...

    def recent(self, limit: int = 200) -> list[Check]:
        """The last checks of all watches, newest first, from memory."""
        ...

    def subscribe(self) -> AbstractContextManager[Subscription]: ...

    def check_now(self, names: Iterable[str], *, force: bool = False) -> None:
        """Queue these watches ahead of the schedule. Pacing, robots.txt and Retry-After still hold."""
        ...

    def check_due(self) -> None: ...

    def set_paused(self, names: Iterable[str], paused: bool) -> None: ...

    def mark_seen(self, names: Iterable[str], seen: bool = True) -> None: ...

    async def preview(self, url: str, fields: Sequence[Field] = ()) -> Preview:
        """Fetch ``url`` once, politely, and say what its record would be."""
        ...

    async def stop(self, *, force: bool = False) -> None:
        """Finish the checks in flight and end the loop; ``force`` cancels them."""
        ...
