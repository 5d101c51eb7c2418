"""The engine: owns the loop, performs checks, tells what happened once it is on disk. Screens are its guests."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from watcher.core.clock import Clock
from watcher.core.model import Failure, Field, Watch
from watcher.core.revisit import RevisitCandidate, clamp_due
from watcher.core.settings import HostSettings, Settings
from watcher.core.state import UrlState
from watcher.core.urls import UrlError, parse_url
from watcher.engine.agenda import Agenda, Manner, Turn
from watcher.engine.check import check, mishap
from watcher.engine.events import Checked, Draining, EngineFailed, Event, Reloaded, Started, StateChanged, Stopped
from watcher.engine.handle import Preview
from watcher.engine.housekeeping import Housekeeping
from watcher.engine.loop import LONGEST_REST, Loop
from watcher.engine.preview import preview
from watcher.engine.reader import Reader
from watcher.engine.redefine import is_redefined, redefined
from watcher.engine.tools import Tools
from watcher.fetch import Fetcher, HostBook
from watcher.notify import Outbox
from watcher.store import Entry, Store, StoreError

if TYPE_CHECKING:
    from watcher.fetch import AnyTransport

log = logging.getLogger(__name__)

JITTER = 0.1

SLICE = 200
"""Watches whose stored definition is looked at in one go, so that a start with many stays short."""

RELOAD_PERIOD = 1.0
"""Seconds between two looks at the configuration, where nobody says otherwise."""

Reload = Callable[[], Settings | tuple[str, ...] | None]
"""Asked now and then: new settings, the errors of a broken file, or None when nothing changed."""


class Engine(Reader):
    """Watches what ``settings`` name, through ``transport``, into ``store``, by ``clock``.

    ``reload`` brings in an edited configuration, asked every ``reload_period`` seconds; ``chance`` gives the
    jitter and may be seeded; ``outbox`` carries news out of the program. The store stays the caller's to close, after
    :meth:`run` or :meth:`check_once` has returned.
    """

    read_only = False

    def __init__(
        self,
        settings: Settings,
        store: Store,
        clock: Clock,
        transport: AnyTransport,
        *,
        reload: Reload | None = None,
        reload_period: float = RELOAD_PERIOD,
        chance: random.Random | None = None,
        outbox: Outbox | None = None,
    ) -> None:
        super().__init__(settings, store, clock)
        self._reload = reload
        self._outbox = outbox
        self._chance = chance or random.Random()
        self._crowds: Counter[str] = Counter()
        self._origins: dict[str, str] = {}
        self._agenda = Agenda(self._origin_of)
        hosts = HostBook(store.hosts().values(), load_body=store.body, save_body=store.put_body)
        self._fetcher = Fetcher(
            transport, clock, hosts, contact=settings.contact, settings_for=lambda host: self._settings.host(host)
        )
        self._tools = Tools(
            store=store,
            fetcher=self._fetcher,
            clock=clock,
            jitter=lambda: self._chance.uniform(0.0, JITTER),
            host_settings=self._host_settings,
            crowd=self._crowd,
            tell=self._tell,
        )
        self._loop = Loop(
            self._agenda,
            clock,
            self._perform,
            self._look_round,
            self._fetcher.ready_in,
            self._settings.concurrency,
            LONGEST_REST if reload is None else reload_period,
        )
        self._housekeeping = Housekeeping(store, clock, lambda: self._settings, lambda: not self._loop.running)
        self._report: Callable[[Checked], None] | None = None
        self.failure: Failure | None = None
        self._adopt(settings)

    # -- the loop

    async def run(self) -> None:
        """Check what becomes due until :meth:`stop`; everything told is on disk when this returns.

        A failure of the store or of the loop itself ends it: ``failure`` says why, and it may be run again.
        """
        self.failure = None
        housekeeping = asyncio.create_task(self._housekeeping.run(), name="housekeeping")
        try:
            await self._loop.run()
        except Exception as error:
            log.exception("the loop stopped")
            self._fail(Failure(kind="internal", message=f"The loop stopped on an unforeseen {type(error).__name__}."))
        finally:
            housekeeping.cancel()
            await asyncio.gather(housekeeping, return_exceptions=True)
        self._part()
        self._tell(Stopped())

    async def check_once(
        self,
        names: Iterable[str] | None = None,
        *,
        all: bool = False,
        force: bool = False,
        re_extract: bool = False,
        report: Callable[[Checked], None] | None = None,
    ) -> list[Checked]:
        """One pass: over what is due, over ``names``, or over ``all`` watches not paused.

        ``force`` sends no conditions; ``re_extract`` reads every page anew, also one that is not modified, and
        announces nothing. Pacing, robots.txt and Retry-After hold all the same. ``report`` is called
        as each check is durable.
        """
        told: list[Checked] = []

        def note(event: Checked) -> None:
            told.append(event)
            if report:
                report(event)

        self._report = note
        try:
            if names is not None or all or re_extract:
                manner = Manner.RE_EXTRACT if re_extract else Manner.FORCE if force else Manner.CHECK
                self._agenda.ask(self._active() if names is None else names, manner)
            else:
                self._admit()
            await self._loop.run_line()
            self._part()
            await self._housekeeping.fold()
        finally:
            self._report = None
        return told

    async def stop(self, *, force: bool = False) -> None:
        """Finish the checks in flight and end the loop; ``force`` cancels them."""
        self._tell(Draining(len(self._loop.running)))
        await self._loop.stop(force=force)

    def running(self) -> frozenset[str]:
        """The watches being checked at this moment."""
        return self._loop.running

    # -- what a person may ask for

    def check_now(self, names: Iterable[str], *, force: bool = False) -> None:
        """Put these watches at the head of their hosts' lines."""
        idle = (name for name in names if name in self._watches and name not in self._loop.running)
        self._agenda.ask(idle, Manner.FORCE if force else Manner.CHECK)
        self._loop.nudge()

    def check_due(self) -> None:
        """Look at once for what is due."""
        self._loop.nudge()

    def set_paused(self, names: Iterable[str], paused: bool) -> None:
        """Stop or resume checking these watches; remembered over restarts."""
        for name in self._change(names, paused=paused):
            if paused:
                self._agenda.drop(name)
            else:
                self._schedule(name)
        self._loop.nudge()

    def mark_seen(self, names: Iterable[str], seen: bool = True) -> None:
        """Note that the last change of these watches was looked at (or take that back)."""
        self._change(names, seen_at=self._clock.now() if seen else None)

    async def preview(self, url: str, fields: Sequence[Field] = ()) -> Preview:
        """Fetch ``url`` once, politely, and say what its record would be. Nothing is stored."""
        return await preview(Watch(name=url, url=url, fields=tuple(fields)), self._tools)

    # -- one check

    async def _perform(self, turn: Turn) -> None:
        watch = self._watches.get(turn.name)
        if watch is None:
            return
        self._tell(Started(turn.name))
        before = self._store.state(watch.name) or UrlState.new(watch.name, watch.url, watch.cadence, self._clock.now())
        try:
            try:
                told = await self._take(turn, watch, before)
            except StoreError:
                raise
            except Exception as error:
                log.exception("check of %s", watch.name)
                told = await mishap(watch, before, self._tools, error)
        except StoreError as error:
            self._schedule(watch.name)
            self._fail(Failure(kind="store", message=str(error)))
            return
        self._schedule(watch.name)
        if told is not None:
            self._tell(told)

    async def _take(self, turn: Turn, watch: Watch, before: UrlState) -> Checked | None:
        if turn.manner is Manner.REREAD:
            await redefined(watch, before, self._tools)
            return None
        force, anew = turn.manner is Manner.FORCE, turn.manner is Manner.RE_EXTRACT
        return await check(watch, before, self._tools, force=force, re_extract=anew)

    def _part(self) -> None:
        """Leave the hosts' budgets on disk, so that a restart spends no request twice."""
        try:
            self._tools.part()
        except StoreError as error:
            self._fail(Failure(kind="store", message=str(error)))

    def _fail(self, failure: Failure) -> None:
        if self.failure is None:
            self.failure = failure
            self._tell(EngineFailed(failure))
        self._loop.give_up()

    def _tell(self, event: Event) -> None:
        if isinstance(event, Checked):
            self._recent.append(event.check)
            self._send_out(event)
            if self._report:
                self._report(event)
        self._bus.publish(event)

    def _send_out(self, event: Checked) -> None:
        watch, summary = self._watches.get(event.check.name), self.summary(event.check.name)
        if self._outbox is not None and watch is not None and summary is not None:
            self._outbox.offer(event, watch, summary)

    # -- the schedule

    def _adopt(self, settings: Settings) -> None:
        """Make ``settings`` the ones in force. Absence from them deletes nothing: the store keeps what it knows."""
        self._settings = settings
        self._watches = {watch.name: watch for watch in settings.watches}
        self._origins = {name: _origin(watch.url) for name, watch in self._watches.items()}
        self._crowds = Counter(self._origins.values())
        for name in self._watches:
            self._schedule(name)
        self._unread = list(self._watches)

    def _schedule(self, name: str) -> None:
        summary = self.summary(name)
        if summary is None or summary.paused or summary.next_check_at is None:
            self._agenda.plan(name, None)
            return
        due = clamp_due(
            summary.next_check_at,
            now=self._clock.now(),
            interval=summary.check_interval,
            last_fetched_at=summary.last_fetched_at,
        )
        self._agenda.plan(name, due)

    def _look_round(self) -> None:
        """What the loop does before each start: edits first, so that what is due is checked by them."""
        self._take_in_edits()
        self._look_for_edits()
        self._admit()

    def _admit(self) -> None:
        """Put what is due in line. A single pass does only this: each check reads its own edits."""
        now = self._clock.now()
        for name in self._agenda.admit(now, self._candidate, self._budget):
            self._agenda.plan(name, self._fetcher.budget_frees_at(self._origin_of(name)))

    def _look_for_edits(self) -> None:
        """A slice of the watches: those whose fields were edited are read again from their saved page, at once."""
        names, self._unread = self._unread[:SLICE], self._unread[SLICE:]
        edited = [n for n in names if (w := self._watches.get(n)) and is_redefined(w, self._store.state(n))]
        self._agenda.ask((name for name in edited if name not in self._loop.running), Manner.REREAD)
        if self._unread:
            self._loop.nudge()

    def _candidate(self, name: str) -> RevisitCandidate | None:
        watch, summary = self._watches.get(name), self.summary(name)
        if watch is None or summary is None or summary.paused or name in self._loop.running:
            return None
        return RevisitCandidate(
            name=name,
            host=self._origin_of(name),
            due_at=summary.next_check_at or 0.0,
            interval=summary.check_interval,
            unchanged_streak=summary.unchanged_streak,
            last_fetched_at=summary.last_fetched_at,
            priority=watch.priority,
            force_after=watch.cadence.force_after,
            policy=watch.cadence.policy,
        )

    def _take_in_edits(self) -> None:
        found = self._reload() if self._reload else None
        if found is None or found == self._settings:
            return
        if isinstance(found, tuple):
            self._tell(Reloaded(errors=found))
            return
        old = dict(self._watches)
        for name in old.keys() - {watch.name for watch in found.watches}:
            self._agenda.drop(name)
        self._adopt(found)
        if self._outbox is not None:
            self._outbox.adopt(found.notify)
        new = self._watches
        added, removed = sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys())
        edited = sorted(name for name in new.keys() & old.keys() if new[name] != old[name])
        self._tell(Reloaded(added=tuple(added), removed=tuple(removed), edited=tuple(edited)))

    def _change(self, names: Iterable[str], **fields: object) -> list[str]:
        """Write ``fields`` into the states of the configured ``names``; return those written."""
        states = [(watch, self._store.state(watch.name)) for watch in map(self._watches.get, names) if watch]
        now = self._clock.now()
        changed = [
            msgspec.structs.replace(state or UrlState.new(watch.name, watch.url, watch.cadence, now), **fields)
            for watch, state in states
        ]
        if changed:
            self._store.append([Entry(state=state) for state in changed])
            self._tell(StateChanged(tuple(state.name for state in changed)))
        return [state.name for state in changed]

    def _active(self) -> list[str]:
        return [n for n in self._watches if (s := self.summary(n)) is not None and not s.paused]

    # -- hosts

    def _origin_of(self, name: str) -> str:
        return self._origins.get(name, "")

    def _crowd(self, url: str) -> int:
        return self._crowds[_origin(url)]

    def _host_settings(self, url: str) -> HostSettings:
        try:
            return self._settings.host(parse_url(url).host)
        except UrlError:
            return self._settings.host_default

    def _budget(self, origin: str) -> int:
        return self._fetcher.budget_left(origin, self._host_settings(origin))


def _origin(url: str) -> str:
    """The key of a URL's host. What has no host (a command, a file) is its own."""
    try:
        return parse_url(url).origin
    except UrlError:
        return url
