"""Many hosts at once: no time-out and no queue of our own making (CONDUCT part b, pool)."""

from __future__ import annotations

import asyncio

from tests.fetch.net import Net, virtual

HOSTS = 300


@virtual
async def test_hundreds_of_hosts_thirty_two_at_a_time(net: Net) -> None:
    room = asyncio.Semaphore(32)
    most = 0

    async def check(number: int) -> int:
        nonlocal most
        async with room:
            visit = await net.visit("/ok", host=f"h{number}.test")
            most = max(most, net.server.open)
            assert visit.response is not None, visit.failure
            return visit.response.status

    assert await asyncio.gather(*map(check, range(HOSTS))) == [200] * HOSTS
    assert set(net.server.most_in_flight.values()) == {1}
    assert len(net.hosts.take_dirty()) == HOSTS


@virtual
async def test_idle_connections_are_given_back(net: Net) -> None:
    for number in range(20):
        await net.visit("/ok", host=f"h{number}.test")
    await net.clock.advance(5)
    assert net.server.open == 0


@virtual
async def test_a_slow_host_holds_up_no_other(net: Net) -> None:
    began = net.clock.monotonic()
    slow = asyncio.create_task(net.visit("/slow/first/15", host="slow.test"))
    await asyncio.gather(*(net.visit("/ok", host=f"h{number}.test") for number in range(20)))
    assert net.clock.monotonic() - began < 1
    assert (await slow).response is not None
