"""The store: what the engine keeps and what everybody may ask of it."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from typing import Literal, Self

import msgspec

from watcher.store import erase, folding, lines
from watcher.store.commit import Committer
from watcher.store.doctor import repair
from watcher.store.drafts import Desk, Entry
from watcher.store.erase import Forgotten
from watcher.store.errors import StoreError, StoreFailed, StoreReadOnly, explain
from watcher.store.fold import HeaderLine, decode_header
from watcher.store.fs import FS
from watcher.store.index import places
from watcher.store.journal import Journal
from watcher.store.layout import Layout
from watcher.store.lock import Lock, refuse_network
from watcher.store.opening import load_beside, load_locked
from watcher.store.recovery import Loaded, Problem
from watcher.store.retention import Expired, Expiry
from watcher.store.sweep import sweep
from watcher.store.view import View


class Store(View):
    """One data directory, open for writing (alone) or for reading (beside a writer). Made by :meth:`open`.

    Belongs to the thread that opened it, except :meth:`put_body` and :meth:`body`, which any thread may call.
    """

    def __init__(self, layout: Layout, loaded: Loaded, now: Callable[[], float], lock: Lock | None) -> None:
        self._lock = lock
        self._fresh: set[str] = set()
        self._committer: Committer | None = None
        self._journal: Journal | None = None
        self._compacting = False
        self._deferred: str | None = None
        self._making = threading.Lock()
        super().__init__(layout, loaded, now)

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
        deferred: bool = False,
    ) -> Self:
        """Open the data directory ``root``.

        ``durability``: ``batch`` and ``each`` acknowledge what is on the disk, in groups or one by one; ``os``
        leaves it to the system. ``now`` gives unix seconds. ``hot=False`` (reading only) keeps places instead
        of summaries in memory: for one question to a large store. ``deferred`` makes a directory that is not there
        yet, and takes its lock, only when there is something to write. What was found wrong stands in ``warnings``.

        Raises StoreLocked, StoreUnreadable, StoreReadOnly, StoreFull, StoreFailed or StoreNetwork.
        """
        layout = Layout(fs or FS(), os.path.abspath(root))
        if mode == "read":
            return cls(layout, load_beside(layout, hot=hot), now, None)
        if not allow_network_fs:
            refuse_network(layout.fs, layout.root)
        lock = Lock(layout.fs, layout.lock)
        if deferred and not layout.fs.exists(layout.root):
            store = cls(layout, load_beside(layout, hot=True), now, lock)
            store._deferred = durability
            return store
        _occupy(layout, lock, now())
        try:
            store = cls(layout, load_locked(layout), now, lock)
            store._begin(durability)
            store._finish_erasure()
        except BaseException:
            lock.release()
            raise
        return store

    def _begin_now(self) -> None:
        """What :meth:`open` deferred. Another process may have written here meanwhile."""
        with self._making:
            if self._deferred is not None and self._lock is not None:
                _occupy(self._layout, self._lock, self._now())
                self._take(load_locked(self._layout))
                self._begin(self._deferred)
                self._deferred = None

    def _begin(self, durability: str) -> None:
        """Start writing: a new segment at once, so that a disk that takes nothing is found before any request."""
        self._fold.store_id = self._fold.store_id or os.urandom(8).hex()
        journal = Journal(self._layout, self._past.sizes, self._header, sync=durability != "os")
        try:
            number = max([self._base, *self._layout.numbers(self._layout.journal)]) + 1
            journal.start(number)
        except OSError as error:
            raise explain(error, error.filename or self._layout.journal, "begin a segment in") from error
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
            super().close()
            if self._lock is not None:
                self._lock.release()

    @property
    def read_only(self) -> bool:
        return self._lock is None

    def writer(self) -> int | None:
        return os.getpid() if self._committer is not None else super().writer()

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
        if self._deferred is not None:
            self._begin_now()
        if self._committer is None:
            raise StoreReadOnly(f"{self.root} is open for reading only: nothing can be saved to it from here")
        return self._committer

    def _used(self, entries: Sequence[Entry]) -> None:
        for entry in entries if self._fresh else ():
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

    # Forgetting

    def forget(self, names: Collection[str]) -> Forgotten:
        """Erase watches: every line, version, check and body of theirs, and the quarantine. Compacts the store.

        A salted hash of each name stays as the record of it. If it is interrupted, the next start finishes it.
        Raises StoreFull, StoreFailed or StoreReadOnly.
        """
        writing = self._writing()
        hosts = erase.lonely_hosts(self._fold, names)
        raw, gone, gone_hosts = erase.order(names, hosts, self._number, self._now())
        writing.write(raw)
        for name in gone:
            self._fold.forget(name)
            self._desk.drop(name)
        for host in gone_hosts:
            self._fold.hosts.pop(host, None)
        self._fold.erased |= gone
        self._fold.erased_hosts |= gone_hosts
        return self._erase()

    def _number(self) -> int:
        self._fold.n += 1
        return self._fold.n

    def _erase(self) -> Forgotten:
        """Do what the ``x`` lines order; the compaction at the end takes them away too."""
        layout = self._layout
        names, hosts = tuple(self._fold.erased), tuple(self._fold.erased_hosts)
        erased = erase.keys(self._fold.erased, self._fold.erased_hosts)
        try:
            files = erase.rewrite_past(layout, erased) + erase.clear_quarantine(layout)
            bodies = sweep(layout, self._bodies, self._fresh, erased)
            self.compact()
            remains = erase.traces(layout, erased)
        except OSError as error:
            raise explain(error, error.filename or self.root, "erase from") from error
        return Forgotten(names=names, hosts=hosts, files=files, bodies=bodies, remains=remains)

    def _finish_erasure(self) -> None:
        """Finish an erasure that was interrupted; if that fails now, say so and leave the order standing."""
        if self._fold.erased or self._fold.erased_hosts:
            try:
                self._erase()
            except StoreError as error:
                self.warnings.append(Problem(kind="erasure", file="", message=f"an erasure is unfinished: {error}"))

    def gc(
        self,
        now: float,
        retention: Mapping[str, float | None],
        class_of: Callable[[str], str],
        live: Container[str],
    ) -> Expired:
        """Expire what its class no longer keeps, and remove bodies nobody speaks of any more.

        ``retention`` maps a class to seconds (None or no entry: for ever; ``audit`` for the audit trail, else it
        is kept as long as the longest class). The newest version of a ``live`` watch never expires; a watch that
        is not live expires as a whole, by the class it was kept under. Leaves a line saying how much went.
        Raises StoreFull, StoreFailed or StoreReadOnly.
        """
        writing = self._writing()
        expiry = Expiry(self._layout, self._past, now, retention, class_of, live)
        try:
            if expiry.is_pressing(self._oldest()):
                self.compact()
            orphans = expiry.orphans(self._fold, self._class_and_age)
            if orphans:
                self.forget(orphans)
            rows, files = expiry.history()
            files += expiry.audit()
            bodies = sweep(self._layout, self._bodies, self._fresh, {})
        except OSError as error:
            raise explain(error, error.filename or self.root, "expire in") from error
        done = Expired(rows=rows, files=files, bodies=bodies, watches=len(orphans))
        if done != Expired():
            writing.write(lines.line(b"g", "", {"n": self._number(), "at": now, **msgspec.structs.asdict(done)}))
        return done

    def _oldest(self) -> float | None:
        """When the oldest live segment was begun."""
        number = min(self._past.sizes, default=None)
        if number is None:
            return None
        with self._layout.fs.reader(self._layout.segment(number)) as stream:
            first = stream.readline()
        return decode_header(first).at if lines.intact(first) else None

    def _class_and_age(self, name: str) -> tuple[str, float]:
        at, _ = places(self._fold.rows[name])
        raw = self._reader.line(at) if at is not None else None
        summary = self.summaries[name]
        seen = max(summary.last_fetched_at or 0.0, summary.last_changed_at or 0.0)
        return erase.class_of(raw) if raw is not None else "default", seen

    def repair(self) -> list[str]:
        """Repair what needs no guessing, and fold damaged segments away; says what was done, a sentence each.

        Nothing is lost that was not already: bad bytes go to the quarantine. Raises StoreError.
        """
        self._writing()
        done = repair(self._layout, self._bodies, self._base)
        if any(problem.kind in ("damaged", "shape") for problem in self.warnings):
            self.compact()
            done.append("journal: folded into a new snapshot, without the damaged lines kept in quarantine")
            self.warnings.clear()
        return done


def _occupy(layout: Layout, lock: Lock, at: float) -> None:
    """Make the directories and take the lock. Raises StoreLocked, StoreReadOnly, StoreFull or StoreFailed."""
    try:
        layout.make()
    except OSError as error:
        raise explain(error, layout.root, "create") from error
    lock.take(at)
