"""The loop: admit what is due, start one check per ready host, rest until something can happen, stop when told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from watcher.core.clock import Clock
from watcher.engine.agenda import Agenda, Turn

LONGEST_REST = 30.0
"""Seconds. A machine that slept counts no monotonic time, so due times are looked at again this often."""


class Loop:
    """Drives an :class:`Agenda`. ``perform`` makes one check; an error it raises ends the loop and is raised again.

    ``admit`` moves due watches into line; ``ready_in`` says in how many seconds a host may be asked again.
    """

    def __init__(
        self,
        agenda: Agenda,
        clock: Clock,
        perform: Callable[[Turn], Awaitable[None]],
        admit: Callable[[], None],
        ready_in: Callable[[str], float],
        concurrency: int,
        longest_rest: float = LONGEST_REST,
    ) -> None:
        self._agenda = agenda
        self._clock = clock
        self._perform = perform
        self._admit = admit
        self._ready_in = ready_in
        self._concurrency = concurrency
        self._longest_rest = longest_rest
        self._wake = asyncio.Event()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._names: dict[str, str] = {}
        self._stopping = False
        self._broken: Exception | None = None

    @property
    def running(self) -> frozenset[str]:
        """The names of the watches being checked."""
        return frozenset(self._names.values())

    def nudge(self) -> None:
        """Look again at once: something was asked for or changed."""
        self._wake.set()

    async def run(self) -> None:
        """Check what becomes due until :meth:`stop`. Leaves no task behind."""
        self._stopping = False
        try:
            while not self._stopping:
                self._wake.clear()
                self._admit()
                self._start()
                await self._rest()
        finally:
            await self._settle()

    async def run_line(self) -> None:
        """Check everything that stands in line now, however long its hosts take, and return."""
        self._stopping = False
        try:
            while (len(self._agenda) or self._running) and not self._stopping:
                self._wake.clear()
                self._start()
                if len(self._agenda) or self._running:
                    await self._rest()
        finally:
            await self._settle()

    def give_up(self) -> None:
        """Start nothing more; called from within a check, which is itself let finish."""
        self._stopping = True
        self._wake.set()

    async def stop(self, *, force: bool = False) -> None:
        """Start nothing more and wait for what is in flight; ``force`` cancels it."""
        self.give_up()
        await self._settle(cancel=force)

    def _start(self) -> None:
        room = self._concurrency - len(self._running)
        for host, turn in self._agenda.take(self._is_ready, room):
            self._names[host] = turn.name
            task = asyncio.create_task(self._one(host, turn), name=f"check {turn.name}")
            self._running[host] = task

    async def _one(self, host: str, turn: Turn) -> None:
        try:
            await self._perform(turn)
        except Exception as error:
            # Not even a failed check came of it: the watch would be lost to the schedule without a word.
            self._broken = error
            self._stopping = True
        finally:
            del self._running[host], self._names[host]
            self._wake.set()

    def _is_ready(self, host: str) -> bool:
        return host not in self._running and self._ready_in(host) <= 0

    async def _rest(self) -> None:
        if self._wake.is_set():
            return
        seconds = self._longest_rest
        if (due := self._agenda.next_due()) is not None:
            seconds = min(seconds, due - self._clock.now())
        if len(self._running) < self._concurrency:
            gaps = [self._ready_in(host) for host in self._agenda.hosts_waiting() if host not in self._running]
            seconds = min([seconds, *gaps])
        alarm = asyncio.ensure_future(self._clock.sleep(max(0.0, seconds)))
        alarm.add_done_callback(lambda done: None if done.cancelled() else self._wake.set())
        try:
            await self._wake.wait()
        finally:
            alarm.cancel()

    async def _settle(self, *, cancel: bool = False) -> None:
        tasks = list(self._running.values())
        if cancel:
            for task in tasks:
                task.cancel()
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)
        broken, self._broken = self._broken, None
        if broken is not None:
            raise broken
