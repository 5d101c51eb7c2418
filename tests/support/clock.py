"""Virtual time with real sockets: days pass in milliseconds, and every byte still travels through the kernel.

``FakeClock.run(main())`` drives an event loop whose time is the clock's. When the loop has nothing left to do - no
callback ready, no byte to read, no worker thread busy - the clock jumps to the next timer. So ``clock.sleep``,
``asyncio.sleep``, ``asyncio.timeout`` and the HTTP library's own timeouts all see the same virtual time, and nothing
on the wire is ever overtaken by it.
"""

from __future__ import annotations

import asyncio
import heapq
import selectors
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, cast

T = TypeVar("T")

EPOCH = 1_767_607_200.0
"""2026-01-05 10:00:00 UTC, a Monday: where virtual time begins unless told otherwise."""

GRACE = 0.002
"""Real seconds an open connection may be silent before time moves on: far above the kernel's delay on loopback."""

TICK = 1e-6
"""Virtual seconds a sleep takes at least: less could vanish in the rounding of the wall clock, and time stand still."""

STUCK = 20.0
"""Real seconds without any event, timer or thread after which a run is declared stuck."""


class FakeClock:
    """A :class:`watcher.core.clock.Clock` that moves only when told, or when everything waits for it."""

    def __init__(self, at: float = EPOCH) -> None:
        self._wall = at
        self._monotonic = 1_000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = 0

    def now(self) -> float:
        """Unix seconds, UTC."""
        return self._wall

    def monotonic(self) -> float:
        """Seconds that never jump."""
        return self._monotonic

    async def sleep(self, seconds: float) -> None:
        """Return once ``seconds`` of virtual time have passed."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future = asyncio.get_running_loop().create_future()
        self._order += 1
        heapq.heappush(self._sleepers, (self._monotonic + max(seconds, TICK), self._order, future))
        await future

    async def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass; whoever is due on the way runs on the way, in order."""
        await self.sleep(seconds)

    async def run_until(self, at: float) -> None:
        """Let time pass until the wall shows ``at`` (unix seconds); an instant in the past is now."""
        await self.sleep(at - self._wall)

    def move(self, seconds: float) -> None:
        """Move both hands at once and wake who is due: for tests on an ordinary event loop."""
        self._wall += seconds
        self._monotonic += seconds
        while self._sleepers and self._sleepers[0][0] <= self._monotonic:
            future = heapq.heappop(self._sleepers)[2]
            if not future.done():
                future.set_result(None)

    def jump_wall(self, seconds: float) -> None:
        """Move the wall clock alone: a suspended machine, or somebody setting the clock."""
        self._wall += seconds

    def next_due(self) -> float | None:
        """Seconds until the first sleeper wakes, or None when nobody sleeps."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return max(0.0, self._sleepers[0][0] - self._monotonic) if self._sleepers else None

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run ``main`` on an event loop that lives in this clock's time."""
        with asyncio.Runner(loop_factory=lambda: VirtualLoop(self)) as runner:
            return runner.run(main)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose ``time()`` is a :class:`FakeClock`'s, jumping whenever nothing else can happen."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.threads = 0
        self.listening: set[int] = set()
        super().__init__(_IdleSelector(self))

    def time(self) -> float:
        return self.clock.monotonic()

    def run_forever(self) -> None:
        with _counted_threads(self):
            super().run_forever()

    def thread_begins(self) -> None:
        """A worker thread was given something to do; time stands still until it is done."""
        self.threads += 1

    def thread_ended(self) -> None:
        """It is done, and whoever waits for it was told."""
        self.threads -= 1

    async def create_server(self, *args: Any, **kwargs: Any) -> asyncio.Server:
        server = await super().create_server(*args, **kwargs)
        self.listening |= {sock.fileno() for sock in server.sockets}
        return server


@contextmanager
def _counted_threads(loop: VirtualLoop) -> Iterator[None]:
    """Let ``loop`` know of every job that a thread pool is given meanwhile."""
    original = ThreadPoolExecutor.submit

    def submit(pool: ThreadPoolExecutor, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Any = original(pool, fn, *args, **kwargs)
        loop.call_soon_threadsafe(loop.thread_begins)
        first, invoke = threading.Lock(), future._invoke_callbacks

        def end() -> None:
            if first.acquire(blocking=False):
                with suppress(RuntimeError):  # the loop may be closed by then
                    loop.call_soon_threadsafe(loop.thread_ended)

        def invoke_then_end() -> None:
            # Only here is it sure that whoever waits for the result has been told.
            invoke()
            end()

        future._invoke_callbacks = invoke_then_end
        if future.done():
            end()
        return cast(Future[Any], future)

    ThreadPoolExecutor.submit = submit  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        ThreadPoolExecutor.submit = original  # type: ignore[method-assign]


class _IdleSelector(selectors.DefaultSelector):
    """Polls the kernel at once, and moves the clock instead of waiting."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if events or (timeout is not None and timeout <= 0):
            return events
        if self._loop.threads:
            return self._wait(STUCK)
        if self._open() and (events := super().select(GRACE)):
            return events
        steps = [step for step in (timeout, self._loop.clock.next_due()) if step is not None]
        if not steps:
            return self._wait(STUCK)
        self._loop.clock.move(min(steps))
        return []

    def _open(self) -> bool:
        """Whether a connection exists, beyond the loop's own wake-up pipe and the listening sockets."""
        return len(self.get_map().keys() - self._loop.listening) > 1

    def _wait(self, seconds: float) -> list[tuple[selectors.SelectorKey, int]]:
        events: list[tuple[selectors.SelectorKey, int]] = super().select(seconds)
        if not events:
            raise RuntimeError(f"nothing happened for {seconds:.0f} s and no timer is set: the program waits for ever")
        return events


def running_clock() -> FakeClock:
    """The clock of the virtual loop that is running."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop), "run this through FakeClock.run"
    return loop.clock
