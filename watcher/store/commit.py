"""Group commit: what arrives while one batch is on its way to the disk makes the next batch.

An idle journal writes at once, so nobody waits for company; a busy one writes as often as the disk can.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from watcher.store.drafts import Base, Desk, Draft, Entry
from watcher.store.errors import StoreError
from watcher.store.journal import Journal

BATCH_LINES = 1000
BATCH_BYTES = 256 * 1024


class _Flight:
    """One batch between encoding and settling."""

    def __init__(self, drafts: list[Draft], waiting: list[asyncio.Future[None]], done: Future[tuple[int, int]]) -> None:
        self.drafts = drafts
        self.waiting = waiting
        self.done = done


class Committer:
    """The one way into the journal. Memory moves only after the disk has; everything but the write itself
    happens in the thread that calls."""

    def __init__(self, desk: Desk, journal: Journal, durability: str) -> None:
        self._desk = desk
        self._journal = journal
        self._each = durability == "each"
        self._queue: deque[tuple[Entry, asyncio.Future[None]]] = deque()
        self._flight: _Flight | None = None
        self._called = False
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="watcher-journal")

    async def commit(self, entry: Entry) -> None:
        """Return once ``entry`` is durable. Raises StoreFull, StoreFailed or ValueError; it then did not happen."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self._queue.append((entry, waiter))
        self._call(loop)
        await waiter

    def _call(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._queue and self._flight is None and not self._called:
            self._called = True
            loop.call_soon(self._take_off, loop)

    def _take_off(self, loop: asyncio.AbstractEventLoop) -> None:
        self._called = False
        if self._flight is not None:
            return
        drafts, waiting = self._board()
        if drafts:
            batch = b"".join(raw for draft in drafts for raw in draft.lines)
            done = self._pool.submit(self._journal.write, batch)
            flight = self._flight = _Flight(drafts, waiting, done)
            done.add_done_callback(lambda _: self._announce(loop, flight))

    def _announce(self, loop: asyncio.AbstractEventLoop, flight: _Flight) -> None:
        with contextlib.suppress(RuntimeError):
            # A loop closed meanwhile: `finish` lands the flight instead.
            loop.call_soon_threadsafe(self._arrive, loop, flight)

    def _arrive(self, loop: asyncio.AbstractEventLoop, flight: _Flight) -> None:
        if self._flight is flight:
            self._land(flight)
        self._call(loop)

    def _board(self) -> tuple[list[Draft], list[asyncio.Future[None]]]:
        """Encode as much of the queue as fits one batch. An entry that cannot be encoded fails alone."""
        drafts: list[Draft] = []
        waiting: list[asyncio.Future[None]] = []
        ahead: dict[str, Base] = {}
        count = size = 0
        while self._queue and count < BATCH_LINES and size < BATCH_BYTES:
            entry, waiter = self._queue.popleft()
            try:
                draft = self._desk.draft(entry, ahead)
            except (ValueError, TypeError) as error:
                _tell(waiter, error)
                continue
            drafts.append(draft)
            waiting.append(waiter)
            count += len(draft.lines)
            size += draft.size
            if self._each:
                break
        return drafts, waiting

    def _land(self, flight: _Flight) -> None:
        """Settle a batch that has come back from the disk, one way or the other."""
        self._flight = None
        error = flight.done.exception()
        if error is None:
            self._desk.settle(flight.drafts, *flight.done.result())
        for waiter in flight.waiting:
            _tell(waiter, error)

    def finish(self) -> None:
        """Wait for the batch on its way and settle it."""
        if self._flight is not None:
            wait([self._flight.done])
            self._land(self._flight)

    def append(self, entries: Sequence[Entry]) -> None:
        """Write ``entries`` and return when they are durable; all of them or none. Raises like :meth:`commit`."""
        self.finish()
        ahead: dict[str, Base] = {}
        drafts = [self._desk.draft(entry, ahead) for entry in entries]
        for group in self._groups(drafts):
            spot = self._journal.write(b"".join(raw for draft in group for raw in draft.lines))
            self._desk.settle(group, *spot)

    def _groups(self, drafts: list[Draft]) -> list[list[Draft]]:
        return [[draft] for draft in drafts] if self._each else [drafts] if drafts else []

    def write(self, raw: bytes) -> None:
        """Append lines that move no row, durably."""
        self.finish()
        self._journal.write(raw)

    def close(self) -> None:
        """Write what is still queued, and stop. Whoever waits is told what became of it."""
        self.finish()
        while self._queue:
            entry, waiter = self._queue.popleft()
            try:
                self.append([entry])
            except (StoreError, ValueError, TypeError) as error:
                _tell(waiter, error)
            else:
                _tell(waiter, None)
        self._pool.shutdown()


def _tell(waiter: asyncio.Future[None], error: BaseException | None) -> None:
    if waiter.done() or waiter.get_loop().is_closed():
        return
    if error is None:
        waiter.set_result(None)
    else:
        waiter.set_exception(error)
