"""The store: what the engine keeps and what everybody may ask of it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, Self, TypeVar

import msgspec

from watcher.core.history import AsOf, Check, Version
from watcher.core.state import HostState, UrlState
from watcher.core.validators import Validators
from watcher.store import folding, lines
from watcher.store.bodies import Bodies
from watcher.store.commit import Committer
from watcher.store.drafts import Base, Desk, Entry
from watcher.store.errors import StoreFailed, StoreReadOnly, explain, unreadable
from watcher.store.fold import HeaderLine
from watcher.store.fs import FS
from watcher.store.history import Past
from watcher.store.index import Row, Summaries, unpack
from watcher.store.journal import Journal
from watcher.store.layout import Layout
from watcher.store.lock import Lock, refuse_network, writer_of
from watcher.store.opening import load_beside, load_locked
from watcher.store.reader import Reader
from watcher.store.recovery import Loaded, Problem

T = TypeVar("T")


class Store:
    """One data directory, open for writing (alone) or for reading (beside a writer). Made by :meth:`open`.

    Belongs to the thread that opened it, except :meth:`put_body` and :meth:`body`, which any thread may call.
    """

    def __init__(self, layout: Layout, loaded: Loaded, now: Callable[[], float], lock: Lock | None) -> None:
        self._layout = layout
        self._now = now
        self._lock = lock
        self._reader = Reader(layout)
        self._bodies = Bodies(layout)
        self._fresh: set[str] = set()
        self._committer: Committer | None = None
        self._journal: Journal | None = None
        self._compacting = False
        self._take(loaded)

    def _take(self, loaded: Loaded) -> None:
        # Rows and the files they point into belong together.
        self._reader.release()
        self._fold = loaded.fold
        self._base = loaded.base
        self._past = Past(self._layout, loaded.sizes)
        self.warnings: list[Problem] = list(loaded.problems)
        self.summaries = Summaries(loaded.fold.rows)

    @classmethod
    def open(
        cls,
        root: str | os.PathLike[str],
        *,
        mode: Literal["write", "read"] = "write",
        fs: FS | None = None,
        durability: Literal["batch", "each", "os"] | str = "batch",
        allow_network_fs: bool = False,
        now: Callable[[], float] = time.time,
        hot: bool = True,
    ) -> Self:
        """Open the data directory ``root``.

        ``durability``: ``batch`` and ``each`` acknowledge what is on the disk, in groups or one by one; ``os``
        leaves it to the system. ``now`` gives unix seconds. ``hot=False`` (reading only) keeps places instead
        of summaries in memory: for one question to a large store. What was found wrong stands in ``warnings``.

        Raises StoreLocked, StoreUnreadable, StoreReadOnly, StoreFull, StoreFailed or StoreNetwork.
        """
        layout = Layout(fs or FS(), os.path.abspath(root))
        if mode == "read":
            return cls(layout, load_beside(layout, hot=hot), now, None)
        if not allow_network_fs:
            refuse_network(layout.fs, layout.root)
        try:
            layout.make()
        except OSError as error:
            raise explain(error, layout.root, "create") from error
        lock = Lock(layout.fs, layout.lock)
        lock.take(now())
        try:
            store = cls(layout, load_locked(layout), now, lock)
            store._begin(durability)
        except BaseException:
            lock.release()
            raise
        return store

    def _begin(self, durability: str) -> None:
        """Start writing: a new segment at once, so that a disk that takes nothing is found before any request."""
        self._fold.store_id = self._fold.store_id or os.urandom(8).hex()
        journal = Journal(self._layout, self._past.sizes, self._header, sync=durability != "os")
        taken = self._layout.numbers(self._layout.journal)
        number = max([self._base, *taken]) + 1
        try:
            journal.start(number)
        except OSError as error:
            raise explain(error, self._layout.segment(number), "create") from error
        self._journal = journal
        self._desk = Desk(self._fold, self._read_base)
        self._committer = Committer(self._desk, journal, durability)

    def _header(self) -> bytes:
        return lines.header(HeaderLine(store=self._fold.store_id, n=self._fold.n, at=self._now()))

    def close(self) -> None:
        """Write what waits, let go of every file and of the lock. Closing twice is harmless.

        Raises StoreFull or StoreFailed when a store opened with ``durability="os"`` cannot be brought to the disk.
        """
        committer, self._committer = self._committer, None
        journal, self._journal = self._journal, None
        try:
            if committer is not None:
                committer.close()
            if journal is not None:
                try:
                    journal.close()
                except OSError as error:
                    raise explain(error, self._layout.journal, "finish") from error
        finally:
            self._reader.release()
            if self._lock is not None:
                self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def root(self) -> str:
        return self._layout.root

    @property
    def read_only(self) -> bool:
        return self._lock is None

    def writer(self) -> int | None:
        """The process that writes here now: its id, 0 if it cannot be told, None if nobody does."""
        return os.getpid() if self._committer is not None else writer_of(self._layout.fs, self._layout.lock)

    # Reading

    def names(self) -> list[str]:
        """Every watch there is a state of, whether or not it is still configured."""
        return list(self._fold.rows)

    def state(self, name: str) -> UrlState | None:
        """The whole state of a watch, read from disk. Raises StoreUnreadable."""
        return self._read(lambda: self._state(name))

    def _state(self, name: str) -> UrlState | None:
        row = self._row(name)
        state = self._reader.state(name, row) if row is not None else None
        if state is not None and name in self._fold.suspects:
            # Whatever stands there is of another time than the newest attempt: nothing to ask conditionally with.
            return msgspec.structs.replace(state, validators=Validators(), body=None)
        return state

    def _row(self, name: str) -> Row | None:
        packed = self._fold.rows.get(name)
        return unpack(name, packed) if packed is not None else None

    def _read_base(self, name: str) -> Base | None:
        row = self._row(name)
        try:
            return self._reader.base(row) if row is not None else None
        except OSError:
            # Then the next line is a full one, which needs no base.
            return None

    def _read(self, ask: Callable[[], T]) -> T:
        """Ask the disk; a reader whose files a compaction took away looks where they went, once."""
        try:
            try:
                return ask()
            except FileNotFoundError:
                if not self.read_only:
                    raise
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

    # Writing

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries; durable on return, all or none. Raises StoreFull, StoreFailed, StoreReadOnly, ValueError."""
        self._writing().append(entries)
        self._used(entries)

    async def commit(self, entry: Entry) -> None:
        """Write one entry together with whatever else is waiting; durable on return. Raises like :meth:`append`."""
        await self._writing().commit(entry)
        self._used([entry])

    @property
    def compaction_due(self) -> bool:
        """Whether the journal has grown enough to be folded."""
        return not self._compacting and folding.is_due(self._layout, self._past.sizes, self._base)

    def compact(self) -> None:
        """Fold the journal into history, audit trail and a new snapshot, here and now.

        Raises StoreFull, StoreFailed or StoreReadOnly; the store then stays as it was.
        """
        upto = self._seal()
        try:
            folding.run_here(self._layout, self._base, upto, self._fold.store_id, self._now())
            for _ in folding.adopt(self._layout, self._fold, self._reader, upto):
                pass
            self._folded(upto)
        finally:
            self._compacting = False

    async def compact_aside(self) -> None:
        """Like :meth:`compact`, in a subprocess and in slices, while commits go on. At most one at a time."""
        upto = self._seal()
        try:
            await folding.run_aside(self._layout, self._base, upto, self._fold.store_id, self._now())
            for _ in folding.adopt(self._layout, self._fold, self._reader, upto):
                await asyncio.sleep(0)
            self._folded(upto)
        finally:
            self._compacting = False

    def _seal(self) -> int:
        self._writing().finish()
        journal = self._journal
        if self._compacting or journal is None:
            raise StoreFailed(f"{self.root} is being compacted already: wait for it to end")
        try:
            upto = journal.seal()
        except OSError as error:
            raise explain(error, self._layout.journal, "begin a new segment in") from error
        self._compacting = True
        return upto

    def _folded(self, upto: int) -> None:
        self._base = upto
        if self._journal is not None and self._committer is not None:
            self._committer.finish()
            folding.finish(self._layout, self._journal, self._reader, upto)
        self._fold.erased.clear()
        self._fold.erased_hosts.clear()

    def _writing(self) -> Committer:
        if self._committer is None:
            raise StoreReadOnly(f"{self.root} is open for reading only: nothing can be saved to it from here")
        return self._committer

    def _used(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if entry.state is not None and entry.state.body is not None:
                self._fresh.discard(entry.state.body)
            self._fresh.difference_update(h.robots_body for h in entry.hosts if h.robots_body)

    def put_body(self, data: bytes, *, base: str | None = None) -> str:
        """Keep a body, durably, and return its name (SHA-256, hex). ``base`` is the body of the same page before it.

        Raises StoreFull, StoreFailed or StoreReadOnly.
        """
        self._writing()
        try:
            digest = self._bodies.put(data, base)
        except OSError as error:
            raise explain(error, self._layout.bodies, "write to") from error
        self._fresh.add(digest)
        return digest
