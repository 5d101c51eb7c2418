"""The reading side of a store: what anybody may ask of it, beside its writer or in it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Self, TypeVar

import msgspec

from watcher.core.history import AsOf, Check, Version
from watcher.core.state import HostState, Summary, UrlState
from watcher.core.validators import Validators
from watcher.store.bodies import Bodies
from watcher.store.doctor import examine
from watcher.store.drafts import Base
from watcher.store.errors import unreadable
from watcher.store.follow import Followed, compacted, follow
from watcher.store.history import Past
from watcher.store.index import Summaries, newest, summary_of
from watcher.store.layout import Layout
from watcher.store.lock import writer_of
from watcher.store.opening import load_beside
from watcher.store.reader import Reader
from watcher.store.recovery import Loaded, Problem

T = TypeVar("T")


class View:
    """A data directory as it was when opened, moved on by :meth:`poll`. Changes nothing on disk.

    Belongs to one thread, except :meth:`body`, which any thread may call.
    """

    def __init__(self, layout: Layout, loaded: Loaded, now: Callable[[], float] = time.time) -> None:
        self._layout = layout
        self._now = now
        self._reader = Reader(layout)
        self._bodies = Bodies(layout)
        self._take(loaded)

    def _take(self, loaded: Loaded) -> None:
        # Rows and the files they point into belong together.
        self._reader.release()
        self._fold = loaded.fold
        self._base = loaded.base
        self._past = Past(self._layout, loaded.sizes)
        self.warnings: list[Problem] = list(loaded.problems)
        self.summaries = Summaries(loaded.fold.rows, self._summary)

    def close(self) -> None:
        """Let go of every file. Closing twice is harmless."""
        self._reader.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def root(self) -> str:
        return self._layout.root

    @property
    def read_only(self) -> bool:
        return True

    def writer(self) -> int | None:
        """The process that writes here now: its id, 0 if it cannot be told, None if nobody does."""
        return writer_of(self._layout.fs, self._layout.lock)

    def names(self) -> list[str]:
        """Every watch there is a state of, whether or not it is still configured."""
        return list(self._fold.rows)

    def state(self, name: str) -> UrlState | None:
        """The whole state of a watch, read from disk. Raises StoreUnreadable."""
        try:
            return self._state(name)
        except OSError:
            return self._read(lambda: self._state(name))

    def _state(self, name: str) -> UrlState | None:
        packed = self._fold.rows.get(name)
        if packed is None:
            return None
        try:
            state = self._reader.state(name, packed)
        except msgspec.MsgspecError:
            # Written by a version with other words; to us the watch is new.
            return None
        if state is not None and name in self._fold.suspects:
            # Whatever stands there is of another time than the newest attempt: nothing to ask conditionally with.
            return msgspec.structs.replace(state, validators=Validators(), body=None)
        return state

    def _summary(self, name: str) -> Summary:
        state = self.state(name)
        if state is None:
            raise KeyError(name)
        return summary_of(state)

    def _read_base(self, name: str) -> Base | None:
        packed = self._fold.rows.get(name)
        try:
            return self._reader.base(packed) if packed is not None else None
        except (OSError, msgspec.MsgspecError):
            # Then the next line is a full one, which needs no base.
            return None

    def _read(self, ask: Callable[[], T]) -> T:
        """Ask the disk; a reader whose files a compaction took away looks where they went, once."""
        try:
            try:
                return ask()
            except FileNotFoundError:
                # The writer's own files only move while neighbours are merged; then they are there at once.
                if self.read_only:
                    self._take(load_beside(self._layout, hot=self._fold.hot))
                return ask()
        except OSError as error:
            raise unreadable(error, error.filename or self.root) from error

    def is_suspect(self, name: str) -> bool:
        """Whether lines between this watch's state and its newest attempt were lost.

        Its next request must be unconditional, and what it finds is a new baseline, not news.
        """
        return name in self._fold.suspects

    def host(self, key: str) -> HostState | None:
        """The state of a host (``scheme://host:port``)."""
        return self._fold.hosts.get(key)

    def hosts(self) -> dict[str, HostState]:
        """Every host state by key."""
        return dict(self._fold.hosts)

    def body(self, digest: str) -> bytes | None:
        """A stored body; None when it is missing or damaged, which only means: ask unconditionally."""
        return self._bodies.get(digest)

    def has_body(self, digest: str) -> bool:
        """Whether a body is there, by its header alone: cheap enough to ask before every request."""
        return self._bodies.header(digest) is not None

    def history(self, name: str, *, limit: int = 100, before: float | None = None) -> list[Version]:
        """The versions of a watch, newest first; ``before`` pages on. Personal fields are not in them."""
        return self._read(lambda: self._past.history(name, limit, before))

    def as_of(self, name: str, at: float) -> AsOf:
        """The record in force at ``at``: unknown before the first version, gone, or in force."""
        return self._read(lambda: self._past.as_of(name, at))

    def checks(
        self, name: str | None = None, *, since: float | None = None, until: float | None = None
    ) -> Iterator[Check]:
        """The checks in the order they were written, each with its exchanges."""
        return self._past.checks(name, since, until)

    # Following and examining

    def poll(self) -> Followed:
        """Take in what the writer has added since, new segments and compactions included. Raises StoreUnreadable."""
        try:
            if not compacted(self._layout, self._base):
                return follow(self._layout, self._fold, self._past.sizes, self._base)
        except FileNotFoundError:
            # A compaction finished between listing and reading.
            pass
        except OSError as error:
            raise unreadable(error, error.filename or self.root) from error
        before, base = self._fold, self._base
        self._take(load_beside(self._layout, hot=before.hot))
        moved = {n for n, row in self._fold.rows.items() if newest(before.rows.get(n)) != newest(row)}
        moved |= before.rows.keys() - self._fold.rows.keys()
        new = tuple(self._past.checks_after(before.n, base))
        return Followed(names=tuple(sorted(moved)), checks=new, reloaded=True)

    def problems(self) -> list[Problem]:
        """Everything wrong with the store: what opening found, and what reading every other file finds.

        Raises StoreUnreadable.
        """
        lost = [
            Problem(kind="suspect", file="", message=f"{name}: lines were lost; its next check makes a new baseline")
            for name in sorted(self._fold.suspects)
        ]
        return [*self.warnings, *lost, *self._read(lambda: examine(self._layout, self._bodies, self._base))]
