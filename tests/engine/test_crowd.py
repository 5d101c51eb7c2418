"""Many hosts, and many days: what hosts see of a whole engine."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from tests.support.badserver import BadServer
from tests.support.badserver.score import score
from tests.support.clock import FakeClock
from watcher.core.model import Cadence, Outcome, Watch
from watcher.core.settings import HostSettings, Settings
from watcher.engine.engine import Engine
from watcher.fetch import Transport
from watcher.store import Store

HOUR = 3_600.0
DAY = 24 * HOUR
HOSTS = 1_000
FLOOR = HOUR


async def to_loopback(host: str, port: int) -> tuple[str, ...]:
    return ("127.0.0.1",)


def test_a_thousand_hosts_one_page_each(tmp_path: Path) -> None:
    """32 at a time, every page had, no time-out of our own making, and never two requests at one host."""
    clock = FakeClock()

    async def run() -> None:
        async with BadServer(clock.now, clock.sleep) as server:
            watches = tuple(
                Watch(name=f"h{number}", url=f"http://h{number}.test:{server.port}/cond/both")
                for number in range(HOSTS)
            )
            transport = Transport(resolver=to_loopback)
            with Store.open(tmp_path / "data", now=clock.now) as store:
                engine = Engine(Settings(watches=watches), store, clock, transport, chance=random.Random(7))
                for outcome in (Outcome.FIRST, Outcome.NOT_MODIFIED):
                    most = 0

                    def note(told: object) -> None:
                        nonlocal most
                        most = max(most, len(engine.running()))

                    told = await engine.check_once(all=True, report=note)
                    assert {event.check.outcome for event in told} == {outcome}, told[0].message
                    assert len(told) == HOSTS
                    assert most <= 32
                    await clock.advance(HOUR)
            await transport.aclose()
            assert set(server.most_in_flight.values()) == {1}
            assert len(server.most_in_flight) == HOSTS

    clock.run(run())


HONEST = ("/cond/strong", "/cond/weak", "/cond/lm", "/cond/both")
NEVER = ("unconditional_after_first", "bogus", "out_of_sequence", "cookies", "referer", "added_query", "no_user_agent")


def test_thirty_days_earn_a_clean_feed_reader_score(tmp_path: Path) -> None:
    """The counters of the feed-reader-score project, on pages that move every other day."""
    clock = FakeClock()

    async def run() -> None:
        async with BadServer(clock.now, clock.sleep) as server:
            cadence = Cadence(minimum=FLOOR, interval=2 * FLOOR, maximum=DAY)
            watches = tuple(
                Watch(name=path, url=f"http://site.test:{server.port}{path}", cadence=cadence) for path in HONEST
            )
            transport = Transport(resolver=to_loopback)
            with Store.open(tmp_path / "data", now=clock.now) as store:
                settings = Settings(watches=watches, host_default=HostSettings())
                engine = Engine(settings, store, clock, transport, chance=random.Random(7))
                running = asyncio.create_task(engine.run())
                for day in range(30):
                    await clock.advance(DAY)
                    if day % 2:
                        for path in HONEST:
                            server.versions[path.removeprefix("/cond/")] += 1
                await engine.stop()
                await running
            await transport.aclose()
            for path in HONEST:
                told = score(server, path)
                assert told["requests"] > 30, path
                assert {name: told[name] for name in NEVER} == dict.fromkeys(NEVER, 0), path
                assert told["current"] == told["requests"] - 1, path
                assert told["min_gap"] >= FLOOR, path

    clock.run(run())
