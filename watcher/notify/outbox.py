"""The outbox: takes news from the engine, and sees to it that each piece reaches its destinations once."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias
from zoneinfo import ZoneInfo

from watcher.core.clock import Clock
from watcher.core.model import Secret, Watch
from watcher.core.phrase import HOUR, span
from watcher.core.quiet import is_quiet, quiet_until
from watcher.core.settings import NotifySettings
from watcher.core.state import Summary
from watcher.notify.bursts import free_at, portions
from watcher.notify.deliveries import Deliveries, Waiting
from watcher.notify.errors import NotDelivered
from watcher.notify.hook import PATIENCE, run_hook
from watcher.notify.message import Told, message_of, notice_of
from watcher.notify.rules import Destination, Rules
from watcher.notify.service import send_to_service

log = logging.getLogger(__name__)

GATHER = 5.0
"""Seconds that the first news for a destination waits for company, so that a burst is known for one."""
FIRST_RETRY = 30.0
LONGEST_RETRY = 6 * HOUR
TRIES = 16
"""Tries after which a delivery is given up, two days after the first."""
LONGEST_REST = 30.0
"""Seconds. A machine that slept counts no monotonic time, so the wall clock is looked at this often."""

Reveal: TypeAlias = Callable[[str | Secret], Awaitable[str]]
"""Reads a secret where it is kept. ``str()`` of what it raises is one sentence that repeats nothing of it."""


def retry_after(tries: int) -> float:
    """Seconds to wait after so many failed tries: 30 s, doubling up to 6 h."""
    return min(LONGEST_RETRY, FIRST_RETRY * 2.0 ** min(tries - 1, 32))


class Outbox:
    """Delivers news as ``settings`` say, with its own memory under the data directory ``root``.

    One process may have it, the one that holds the store's lock. Nothing here raises into the engine: what goes
    wrong is one sentence, handed to ``report`` when it comes up and standing in :meth:`problems` while it lasts.
    ``reveal`` reads secrets at the moment of use; ``patience`` bounds a command (seconds).
    """

    def __init__(
        self,
        settings: NotifySettings,
        root: Path,
        clock: Clock,
        *,
        reveal: Reveal,
        report: Callable[[str], None] = lambda sentence: None,
        patience: float = PATIENCE,
    ) -> None:
        self._clock = clock
        self._reveal = reveal
        self._report = report
        self._patience = patience
        self._problems: dict[str, str] = {}
        self._ripe_at: dict[str, float] = {}
        self._held_until = 0.0
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()
        self._stopping = False
        self._deliveries = Deliveries(root)
        self._usable = False
        self.adopt(settings)
        self._load()

    def adopt(self, settings: NotifySettings) -> None:
        """Make ``settings`` the ones in force. News waiting for a destination they no longer name is dropped."""
        self._settings = settings
        self._rules = Rules(settings.rules)
        self._zone = ZoneInfo(settings.timezone) if settings.timezone else None
        self._problems = {where: why for where, why in self._problems.items() if where in ("", *self._destinations)}
        self._wake.set()

    def offer(self, told: Told, watch: Watch, summary: Summary) -> None:
        """Take the news in ``told``, if there is any and a rule wants it. Kept even if the process is killed next."""
        if told.news is None or not self._usable:
            return
        now = self._clock.now()
        try:
            destinations = self._rules.destinations_for(told.news, watch, summary, now)
            if destinations and self._deliveries.offer(notice_of(told.news, told, watch), destinations):
                for destination in destinations:
                    self._ripe_at.setdefault(destination, now + GATHER)
                self._wake.set()
        except OSError as error:
            self._refused(error)
        except Exception as error:
            log.exception("news of %s", watch.name)
            self._problem("", f"News of {watch.name} cannot be told: an unforeseen {type(error).__name__}.")

    async def run(self) -> None:
        """Deliver what is due until :meth:`stop`, then what may go at once; cancelling it kills commands running."""
        self._stopping = False
        try:
            while not self._stopping:
                self._wake.clear()
                self._start(gather=True)
                await self._rest()
            await self.flush()
        finally:
            await self._settle()

    def stop(self) -> None:
        """Let :meth:`run` end: it delivers what need not wait, and returns."""
        self._stopping = True
        self._wake.set()

    async def flush(self) -> None:
        """Deliver everything that need not wait for quiet hours, a burst's end or another try."""
        self._start(gather=False)
        while self._busy:
            await asyncio.gather(*self._busy.values(), return_exceptions=True)
            self._start(gather=False)

    def pending(self) -> Sequence[Waiting]:
        """What is not delivered yet, oldest first."""
        return self._deliveries.waiting()

    def problems(self) -> tuple[str, ...]:
        """What keeps news from being told, one sentence each."""
        return tuple(self._problems.values())

    def forget(self, names: Iterable[str]) -> None:
        """Erase what is kept about these watches, on the disk too."""
        try:
            self._deliveries.forget(names)
        except OSError as error:
            self._refused(error)

    def close(self) -> None:
        """Let go of the file."""
        self._deliveries.close()

    # -- what goes when

    @property
    def _destinations(self) -> dict[str, Destination]:
        return self._rules.destinations

    def _lines(self) -> dict[str, list[Waiting]]:
        """What waits for each destination. What waits for none is dropped on the way."""
        lines: defaultdict[str, list[Waiting]] = defaultdict(list)
        for delivery in self._deliveries.waiting():
            if not delivery.sending:
                lines[delivery.to].append(delivery)
        for to in lines.keys() - self._destinations.keys():
            try:
                self._deliveries.drop(lines.pop(to), self._clock.now(), "no rule leads there any more")
            except OSError as error:
                self._refused(error)
        return lines

    def _portions(self, to: str, line: Sequence[Waiting], now: float) -> list[Sequence[Waiting]]:
        """The messages to send ``to`` its destination now, whatever may still come."""
        if is_quiet(self._settings.quiet, self._zone, now) or now < self._held_until <= now + FIRST_RETRY:
            return []
        # A due time further off than any retry is a wrong clock's, here and where news ripens.
        ready = [delivery for delivery in line if not now < delivery.due_at <= now + LONGEST_RETRY]
        return portions(ready, self._deliveries.sent(to, now), now, self._destinations[to].digest_after)

    def _start(self, *, gather: bool) -> None:
        """Set about each destination that something can go to."""
        if not self._usable:
            return
        now = self._clock.now()
        for to, line in self._lines().items():
            unripe = gather and now < self._ripe_at.get(to, now) <= now + GATHER
            if to not in self._busy and not unripe and (batches := self._portions(to, line, now)):
                self._ripe_at.pop(to, None)
                self._busy[to] = asyncio.create_task(self._send_all(self._destinations[to], batches))

    def _next_at(self, now: float) -> float:
        """When something may be due that is not now."""
        times = [now + LONGEST_REST]
        shut = max(self._held_until, quiet_until(self._settings.quiet, self._zone, now) or now)
        for to, line in self._lines().items():
            if to not in self._busy:
                sent = self._deliveries.sent(to, now)
                free = free_at(sent, now, self._destinations[to].digest_after)
                due = max(self._ripe_at.get(to, now), min(delivery.due_at for delivery in line))
                times.append(max(free, due, shut))
        return min(times)

    async def _rest(self) -> None:
        if self._wake.is_set():
            return
        now = self._clock.now()
        alarm = asyncio.ensure_future(self._clock.sleep(max(0.0, self._next_at(now) - now)))
        alarm.add_done_callback(lambda _: self._wake.set())
        try:
            await self._wake.wait()
        finally:
            alarm.cancel()

    async def _settle(self) -> None:
        for task in self._busy.values():
            task.cancel()
        await asyncio.gather(*self._busy.values(), return_exceptions=True)

    # -- one destination

    async def _send_all(self, destination: Destination, batches: Sequence[Sequence[Waiting]]) -> None:
        """Send ``batches`` one after the other; the first failure ends it, as the next would fail alike."""
        try:
            for batch in batches:
                if not await self._send(destination, batch):
                    break
        except OSError as error:
            self._held_until = self._clock.now() + FIRST_RETRY
            self._refused(error)
        finally:
            del self._busy[destination.id]
            self._wake.set()

    async def _send(self, destination: Destination, batch: Sequence[Waiting]) -> bool:
        await self._deliveries.begin(batch)
        try:
            await self._hand_over(destination, batch)
        except NotDelivered as error:
            await self._failed(destination, batch, str(error))
            return False
        except Exception as error:
            log.exception("notice to %s", destination)
            await self._failed(destination, batch, f"An unforeseen {type(error).__name__} stopped {destination}.")
            return False
        await self._deliveries.end(batch, self._clock.now())
        self._problems.pop(destination.id, None)
        self._problems.pop("", None)
        return True

    async def _hand_over(self, destination: Destination, batch: Sequence[Waiting]) -> None:
        message = message_of([delivery.notice for delivery in batch])
        if destination.command:
            await run_hook(destination.command, message, patience=self._patience)
        elif destination.url is not None:
            try:
                url = await self._reveal(destination.url)
            except Exception as error:
                raise NotDelivered(str(error)) from None
            await send_to_service(url, message)

    async def _failed(self, destination: Destination, batch: Sequence[Waiting], why: str) -> None:
        now = self._clock.now()
        tries = max(delivery.tries for delivery in batch) + 1
        wait = retry_after(tries)
        if tries < TRIES:
            self._problem(destination.id, f"{why} Tried again in {span(wait)}.")
            await self._deliveries.end(batch, now, why=why, retry_at=now + wait)
        else:
            self._problem(destination.id, f"{why} Given up after {tries} tries.")
            await self._deliveries.end(batch, now, why=why)

    # -- what goes wrong

    def _load(self) -> None:
        try:
            lost = self._deliveries.load(self._clock.now())
        except OSError as error:
            # Without knowing what was told already, nothing can be told without telling it twice.
            why = error.strerror or error
            self._problem("", f"No news can be told, as {self._deliveries.path} cannot be read: {why}.")
            return
        self._usable = True
        for delivery in lost:
            self._report(
                f"The notice {delivery.notice.title!r} may not have been told: watcher was ended while it was sent."
            )
        if self._deliveries.damaged:
            self._report(f"Damaged lines of {self._deliveries.path} were left out: {self._deliveries.damaged}.")

    def _refused(self, error: OSError) -> None:
        why = error.strerror or error
        self._problem("", f"News waits, as {self._deliveries.path} cannot be written: {why}.")

    def _problem(self, where: str, sentence: str) -> None:
        if self._problems.get(where) != sentence:
            self._problems[where] = sentence
            self._report(sentence)
