"""Cases told in prose: those we know, each as a test of the real thing. Keyed by the case's title, not its number."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.replay.cases import Case
from tests.replay.tables import FIELDS, PAGE, Handler
from tests.replay.watches import Table
from tests.replay.world import World
from tests.support.clock import EPOCH
from watcher.core.model import Outcome
from watcher.engine.events import Checked

HOUR, DAY = 3_600.0, 86_400.0


def watches(world: World, count: int, origin: int = 0, **more: Any) -> list[Table]:
    """``count`` watches of pages of one origin, asked for every hour."""
    base = f"http://127.0.0.1:{world.server.ports[origin]}"
    fixed = {"policy": "fixed", "interval": "1h", "fields": FIELDS, **more}
    return [{"name": f"{origin}-{i}", "url": f"{base}/{origin}-{i}", **fixed} for i in range(count)]


def outcomes(checked: list[Checked]) -> dict[str, str]:
    return {event.check.name: event.check.outcome.value for event in checked}


async def many_watches_on_one_host(case: Case, root: Path) -> list[str]:
    async with World(root) as world:
        world.server.fallback = PAGE
        world.tables = [*watches(world, 30), *watches(world, 3, origin=1)]
        world.more = {"hosts": {"default": {"min_gap": "1s"}}}
        await world.start()
        await world.check(all=False)
        log = world.server.log
        for origin in (0, 1):
            asked = [request for request in log if request.origin == origin]
            for before, after in pairwise(asked):
                assert before.ended_at, f"{before.target} was still open when {after.target} was asked for"
                assert after.at - before.ended_at[0] >= 1.0, f"{after.target} came too soon after {before.target}"
        pages = [request for request in log if request.target != "/robots.txt"]
        assert sorted(request.target for request in pages) == sorted(f"/{table['name']}" for table in world.tables)
        assert max(request.at for request in pages if request.origin == 1) <= EPOCH + 6
        due = [world.store.summaries[str(table["name"])].next_check_at for table in world.tables]
        assert len(set(due)) == len(due), "the watches come due in one clump again"
    return []


async def two_watches_one_url(case: Case, root: Path) -> list[str]:
    async with World(root) as world:
        world.server.script({"/g": {**PAGE, "body": "<nav>Contents</nav><article>Intro</article>"}})
        url = f"{world.server.names['base']}/g"
        toc, intro = (
            {"name": n, "url": url, "fields": {"t": css}} for n, css in (("toc", "nav"), ("intro", "article"))
        )
        world.tables = [toc, intro]
        await world.start()
        assert outcomes(await world.check()) == {"toc": "first", "intro": "first"}
        assert outcomes(await world.check()) == {"toc": "unchanged", "intro": "unchanged"}
        world.tables = [{**toc, "name": "contents"}, intro]
        await world.restart()
        assert outcomes(await world.check()) == {"contents": "first", "intro": "unchanged"}
        assert [version.outcome for version in world.store.history("toc")] == [Outcome.FIRST]
        world.tables.reverse()
        await world.restart()
        assert outcomes(await world.check()) == {"contents": "unchanged", "intro": "unchanged"}
    return []


async def config_missing_for_a_moment(case: Case, root: Path) -> list[str]:
    async with World(root) as world:
        world.server.fallback = PAGE
        everything = world.tables = watches(world, 3)
        await world.start()
        await world.check()
        for left in (everything[:1], []):
            world.tables = left
            await world.restart()
            await world.clock.advance(DAY)
            await world.check()
        world.tables = everything
        await world.restart()
        assert outcomes(await world.check()) == dict.fromkeys(("0-0", "0-1", "0-2"), "unchanged")
        assert [len(world.store.history(str(table["name"]))) for table in everything] == [1, 1, 1]
    return []


async def suspend_and_resume(case: Case, root: Path) -> list[str]:
    async with World(root, origins=4) as world:
        world.server.fallback = PAGE
        world.tables = [table for origin in range(4) for table in watches(world, 5, origin)]
        await world.start()
        assert world.engine is not None
        async with world.running():
            await world.clock.advance(10 * 60)
            slept_from = len(world.server.log)
            world.clock.jump_wall(8 * HOUR)
            resumed_at = world.clock.now()
            await world.clock.advance(30 * 60)
        asked = [request for request in world.server.log[slept_from:] if request.target != "/robots.txt"]
        assert sorted(request.target for request in asked) == sorted(f"/{table['name']}" for table in world.tables)
        for origin in range(4):
            mine = [request for request in world.server.log[slept_from:] if request.origin == origin]
            assert mine[0].at - resumed_at <= 60, "nothing happened within a minute of resuming"
            gaps = [after.at - before.ended_at[0] for before, after in pairwise(mine)]
            assert min(gaps) >= 5.0
        for table in world.tables:
            due = world.store.summaries[str(table["name"])].next_check_at
            assert due is not None
            assert due >= resumed_at + HOUR
    return []


async def clock_was_in_the_future(case: Case, root: Path) -> list[str]:
    async with World(root) as world:
        page = {**PAGE, "headers": {"Content-Type": "text/html", "Last-Modified": "Sun, 4 Jan 2026 08:00:00 GMT"}}
        world.server.fallback = page
        world.tables = watches(world, 1)
        world.clock.jump_wall(14 * DAY)
        await world.start()
        await world.check()
        await world.stop()
        world.clock.jump_wall(-14 * DAY)
        await world.start()
        since = len(world.server.log)
        async with world.running():
            await world.clock.advance(4 * DAY)
        asked = [request for request in world.server.log[since:] if request.target == "/0-0"]
        assert asked, "the watch stands still until the clock has caught up"
        assert asked[0].header("If-Modified-Since") == "Sun, 4 Jan 2026 08:00:00 GMT"
        stamps = [check.at for check in world.store.checks("0-0")]
        assert stamps[0] == max(stamps), "history is not in the order of the file"
    return []


async def restart_must_not_recheck_everything(case: Case, root: Path) -> list[str]:
    async with World(root) as world:
        world.server.fallback = PAGE
        world.tables = [*watches(world, 9), *watches(world, 1, origin=1)]
        await world.start()
        held = f"http://127.0.0.1:{world.server.ports[1]}/1-0"
        world.server.script({held: {"status": 429, "headers": {"Retry-After": "10800"}}})
        await world.check()
        before = {str(table["name"]): world.state(str(table["name"])) for table in world.tables}
        await world.clock.run_until(EPOCH + 20 * 60)
        since = len(world.server.log)
        for _ in range(5):
            await world.crash()
            async with world.running():
                await world.clock.advance(10)
        assert world.server.log[since:] == [], "a restart asked for pages that were not due"
        assert {name: world.state(name) for name in before} == before
        async with world.running():
            await world.clock.run_until(EPOCH + HOUR - 60)
            assert world.server.log[since:] == []
            await world.clock.run_until(EPOCH + 3 * HOUR - 60)
            assert {request.origin for request in world.server.log[since:]} == {0}
            await world.clock.run_until(EPOCH + 5 * HOUR)
            assert {request.origin for request in world.server.log[since:]} == {0, 1}
    return []


PROSE: dict[str, Handler] = {
    "many-watches-on-one-host": many_watches_on_one_host,
    "two-watches-one-url-mixed-state": two_watches_one_url,
    "config-missing-for-a-moment": config_missing_for_a_moment,
    "suspend-and-resume": suspend_and_resume,
    "clock-was-in-the-future": clock_was_in_the_future,
    "restart-must-not-recheck-everything": restart_must_not_recheck_everything,
}
