"""The engine over real sockets and files: what it checks, when, and what it tells."""

from __future__ import annotations

import asyncio
import errno
import itertools
from dataclasses import dataclass

import pytest

from tests.engine.conftest import HOUR, Play, World, page
from watcher.core.model import Cadence, Field, Outcome, Policy, Status
from watcher.core.news import News
from watcher.core.settings import HostSettings, Settings
from watcher.engine.engine import Engine
from watcher.engine.events import Checked, EngineFailed, Event, Reloaded, Stopped
from watcher.fetch import Transport
from watcher.store import FS, Store

FREQUENT = Cadence(policy=Policy.FIXED, interval=60, minimum=60)


def outcomes(told: list[Checked]) -> list[Outcome]:
    return [event.check.outcome for event in told]


def test_a_page_from_its_first_check_to_its_change(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/kettle", page("Kettle", ETag='"a"'), {"status": 304, "headers": {"ETag": '"a"'}}, page("Pot"))
        engine = world.engine(world.watch("/kettle"))
        told = []
        for _ in range(3):
            told += await engine.check_once(all=True)
            await world.clock.advance(HOUR)
        assert outcomes(told) == [Outcome.FIRST, Outcome.NOT_MODIFIED, Outcome.CHANGED]
        assert [(c.field, c.before, c.after) for c in told[2].changes] == [("title", "Kettle", "Pot")]
        assert [request.header("If-None-Match") for request in world.server.requests("/kettle")] == [None, '"a"', '"a"']
        assert [v.outcome for v in engine.history("kettle")] == [Outcome.CHANGED, Outcome.FIRST]

    play(test)


def test_the_loop_asks_less_and_less_of_a_page_that_stands_still(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/still", page("Still"))
        engine = world.engine(world.watch("/still", cadence=Cadence(minimum=600, interval=HOUR, maximum=8 * HOUR)))
        running = asyncio.create_task(engine.run())
        await world.clock.advance(48 * HOUR)
        await engine.stop()
        await running
        asked = [request.at for request in world.server.requests("/still")]
        gaps = [later - earlier for earlier, later in itertools.pairwise(asked)]
        for gap, hours in zip(gaps, [1, 2, 4, 8, 8, 8, 8], strict=False):
            assert hours * HOUR <= gap <= hours * HOUR * 1.1 + 5
        assert 8 <= len(asked) <= 9

    play(test)


def test_one_exception_is_one_failed_check_of_one_watch(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    from watcher.engine import reading

    extract = reading.extract_for

    def broken(watch, body, **rest):  # type: ignore[no-untyped-def]
        if watch.name == "bad":
            raise RuntimeError("a bug of ours")
        return extract(watch, body, **rest)

    monkeypatch.setattr(reading, "extract_for", broken)

    async def test(world: World) -> None:
        world.answers("/bad", page("Bad"))
        world.answers("/good", page("Good"))
        engine = world.engine(world.watch("/bad"), world.watch("/good"))
        told = {event.check.name: event for event in await engine.check_once(all=True)}
        assert told["good"].check.outcome is Outcome.FIRST
        assert told["bad"].check.outcome is Outcome.ERROR
        assert told["bad"].message == "The check ended in an unforeseen RuntimeError; the log has the details."
        assert engine.failure is None
        state = world.store.state("bad")
        assert state is not None
        assert state.next_check_at is not None
        assert state.next_check_at > world.clock.now()

    play(test)


def test_what_is_told_is_on_disk(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/a", page("A"), page("B"))
        engine = world.engine(world.watch("/a"))
        seen: list[tuple[Outcome, bool]] = []

        def look(event: Checked) -> None:
            with Store.open(world.root, mode="read") as beside:
                found = list(beside.checks("a"))
                seen.append((event.check.outcome, found[-1].at == event.check.at))

        await engine.check_once(all=True, report=look)
        await engine.check_once(all=True, report=look)
        assert seen == [(Outcome.FIRST, True), (Outcome.CHANGED, True)]

    play(test)


def test_quitting_finishes_what_is_in_flight_and_starts_nothing_more(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/slow", {**page("Slow"), "delay": 20})
        world.answers("/next", page("Next"))
        engine = world.engine(world.watch("/slow"), world.watch("/next"))
        running = asyncio.create_task(engine.run())
        while not world.server.requests("/slow") and not world.server.requests("/next"):
            await world.clock.advance(0.5)
        await engine.stop()
        await running
        checks = list(world.store.checks())
        assert len(checks) == 1
        assert checks[0].outcome is Outcome.FIRST
        assert not engine.running()

    play(test)


def test_a_restart_neither_rechecks_nor_forgets(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/a", page("A", ETag='"1"'), {"status": 304, "headers": {"ETag": '"1"'}})
        await world.engine(world.watch("/a")).check_once()
        world.reopen()
        again = world.engine(world.watch("/a"))
        assert await again.check_once() == []
        await world.clock.advance(1.2 * HOUR)
        assert outcomes(await again.check_once()) == [Outcome.NOT_MODIFIED]
        assert len(world.server.requests("/robots.txt")) == 1

    play(test)


def test_a_night_asleep_is_one_check_a_watch_and_the_gap_holds(play: Play) -> None:
    async def test(world: World) -> None:
        for number in range(4):
            world.answers(f"/{number}", page(str(number)))
        engine = world.engine(*(world.watch(f"/{number}") for number in range(4)))
        running = asyncio.create_task(engine.run())
        await world.clock.advance(0.5 * HOUR)
        before = len(world.server.log)
        world.clock.jump_wall(8 * HOUR)
        await world.clock.advance(120)
        caught_up = world.server.log[before:]
        assert sorted(request.target for request in caught_up) == ["/0", "/1", "/2", "/3"]
        starts = [request.at for request in caught_up]
        assert all(later - earlier >= 5 for earlier, later in itertools.pairwise(starts))
        await engine.stop()
        await running

    play(test)


def test_a_budget_that_is_spent_waits_for_the_next_day(play: Play) -> None:
    async def test(world: World) -> None:
        for number in range(5):
            world.answers(f"/{number}", page(str(number)))
        watches = [world.watch(f"/{n}", cadence=FREQUENT) for n in range(5)]
        engine = world.engine(*watches, host=HostSettings(min_gap=1.0, checks_per_day=20))
        running = asyncio.create_task(engine.run())
        await world.clock.advance(20 * HOUR)
        assert len(world.server.log) <= 20
        await world.clock.advance(6 * HOUR)
        assert 20 < len(world.server.log) <= 40
        await engine.stop()
        await running

    play(test)


def test_pausing_is_remembered_and_seen_marks_too(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/a", page("A"), page("B"))
        engine = world.engine(world.watch("/a"))
        await engine.check_once(all=True)
        await engine.check_once(all=True)
        summary = engine.summary("a")
        assert summary is not None
        assert summary.unseen
        engine.mark_seen(["a"])
        engine.set_paused(["a"], True)
        world.reopen()
        again = world.engine(world.watch("/a"))
        summary = again.summary("a")
        assert summary is not None
        assert not summary.unseen
        assert summary.paused
        await world.clock.advance(10 * HOUR)
        assert await again.check_once() == []
        again.set_paused(["a"], False)
        assert outcomes(await again.check_once()) == [Outcome.UNCHANGED]

    play(test)


def test_an_edited_configuration_is_taken_in_and_a_broken_one_is_not(play: Play) -> None:
    async def test(world: World) -> None:
        for path in ("/a", "/b"):
            world.answers(path, page(path))
        found: list[Settings | tuple[str, ...]] = []
        engine = world.engine(world.watch("/a"), reload=lambda: found.pop() if found else None)
        heard: list[Event] = []
        with engine.subscribe() as events:
            running = asyncio.create_task(engine.run())
            await world.clock.advance(60)
            found.append(("config.toml:3: unknown key 'urll'",))
            await world.clock.advance(60)
            assert engine.names() == ["a"]
            found.append(Settings(watches=(world.watch("/b"),)))
            await world.clock.advance(120)
            assert engine.names() == ["b"]
            found.append(engine.settings)  # Saved again as it was: nobody is told.
            await world.clock.advance(60)
            found.append(Settings(watches=(world.watch("/b", tags=("x",)),)))
            await world.clock.advance(60)
            await engine.stop()
            await running
            heard = events.drain()
        assert next(e.errors for e in heard if isinstance(e, Reloaded)) == ("config.toml:3: unknown key 'urll'",)
        taken = [(e.added, e.removed, e.edited) for e in heard if isinstance(e, Reloaded)][1:]
        assert taken == [(("b",), ("a",), ()), ((), (), ("b",))]
        assert world.store.state("a") is not None
        assert isinstance(heard[-1], Stopped)

    play(test)


def test_an_edit_of_the_fields_is_no_change_and_no_304_hides_it(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/a", page("A", "10.00", ETag='"1"'))
        await world.engine(world.watch("/a")).check_once()
        edited = world.watch("/a", fields=(Field(name="cost", css=".price"),))
        engine = world.engine(edited)
        heard: list[Event] = []
        with engine.subscribe() as events:
            running = asyncio.create_task(engine.run())
            await world.clock.advance(30)
            state = world.store.state("a")
            assert state is not None
            assert state.record is not None
            assert state.record.values == {"cost": "10.00"}
            assert len(world.server.requests("/a")) == 1, "the saved page is read again, the host is not asked"
            await world.clock.advance(2 * HOUR)
            await engine.stop()
            await running
            heard = events.drain()
        assert [e.news for e in heard if isinstance(e, Checked) and e.news] == []
        assert world.server.requests("/a")[1].header("If-None-Match") is None
        assert [v.outcome for v in engine.history("a")] == [Outcome.REDEFINED, Outcome.FIRST]

    play(test)


def test_an_edit_that_the_saved_page_cannot_give_is_checked_like_any_other(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/a", page("A"))
        await world.engine(world.watch("/a")).check_once()
        edited = world.watch("/a", fields=(Field(name="new", css=".new"),))
        for times in (2, 3):
            await world.clock.advance(3 * HOUR)
            assert outcomes(await world.engine(edited).check_once()) == [Outcome.ERROR]
            assert len(world.server.requests("/a")) == times

    play(test)


def test_re_extraction_announces_nothing_and_uses_a_304(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/a", page("A", ETag='"1"'), {"status": 304, "headers": {"ETag": '"1"'}})
        engine = world.engine(world.watch("/a"))
        await engine.check_once()
        before = world.store.state("a")
        told = await engine.check_once(["a"], re_extract=True)
        after = world.store.state("a")
        assert outcomes(told) == [Outcome.REDEFINED]
        assert told[0].news is None
        assert told[0].check.silent
        assert told[0].check.status == 304
        assert before is not None
        assert after is not None
        assert after.fingerprint == before.fingerprint
        assert after.check_interval == before.check_interval
        assert after.unchanged_streak == before.unchanged_streak

    play(test)


@dataclass
class FullDisk(FS):
    """A disk that takes nothing more, from the moment it is told."""

    full: bool = False

    def write(self, fd: int, data: bytes) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().write(fd, data)


def test_a_full_disk_ends_the_loop_with_a_sentence_and_loses_nothing(play: Play) -> None:
    async def test(world: World) -> None:
        world.store.close()
        disk = FullDisk()
        world.store = Store.open(world.root, fs=disk, now=world.clock.now)
        world.answers("/a", page("A"), page("B"))
        engine = world.engine(world.watch("/a"))
        await engine.check_once()
        disk.full = True
        with engine.subscribe() as events:
            running = asyncio.create_task(engine.run())
            await world.clock.advance(3 * HOUR)
            await running
            heard = events.drain()
        failed = [event for event in heard if isinstance(event, EngineFailed)]
        assert len(failed) == 1
        assert failed[0].failure.kind == "store"
        disk.full = False
        again = asyncio.create_task(engine.run())
        await world.clock.advance(60)
        await engine.stop()
        await again
        assert [v.outcome for v in engine.history("a")] == [Outcome.CHANGED, Outcome.FIRST]

    play(test)


def test_trouble_is_announced_when_it_lasts_and_its_end_once(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/a", page("A"), *[{"status": 502, "headers": {}, "body": ""}] * 5, page("A"))
        engine = world.engine(world.watch("/a"))
        told = []
        for _ in range(7):
            told += await engine.check_once(all=True)
            await world.clock.advance(HOUR)
        assert [event.news for event in told] == [News.FIRST, None, None, News.FAILING, None, None, News.RECOVERED]
        summary = engine.summary("a")
        assert summary is not None
        assert summary.status is Status.OK

    play(test)


def test_a_grown_journal_is_folded_beside_the_checks_and_personal_history_expires(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/a", *[page(str(number)) for number in range(4)])
        watch = world.watch("/a", retention="brief", cadence=Cadence(policy=Policy.FIXED, interval=HOUR, minimum=600))
        engine = world.engine(watch)
        for _ in range(3):
            await engine.check_once(all=True)
            await world.clock.advance(HOUR)
        world.store.compact()
        brief = Settings(watches=(watch,), retention={"default": None, "brief": 2 * 86_400.0})
        engine = Engine(brief, world.store, world.clock, Transport())
        running = asyncio.create_task(engine.run())
        await world.clock.advance(5 * 86_400)
        await engine.stop()
        await running
        assert [version.outcome for version in engine.history("a")] == [Outcome.CHANGED]
        state = world.store.state("a")
        assert state is not None
        assert state.record is not None
        assert state.record.values["title"] == "3"

    play(test)
