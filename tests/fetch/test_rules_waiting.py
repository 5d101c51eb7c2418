"""CONDUCT rules 27 and 42 as the fetcher keeps them: hosts that ask us to wait are waited for."""

from __future__ import annotations

import pytest

from tests.fetch.net import DAY, Net, virtual
from watcher.fetch import HostBook

HOUR = 3_600.0


@virtual
async def test_rule_27_a_429_holds_the_whole_host_and_sends_nothing(net: Net) -> None:
    visit = await net.visit("/status/429?ra=7200")
    assert visit.retry_after == 7200
    asked = len(net.server.log)
    held = await net.visit("/ok")
    assert held.failure is not None
    assert (held.failure.kind, held.sent, held.exchanges) == ("held", False, ())
    assert held.not_before_at == pytest.approx(net.clock.now() + 7200, abs=1)
    assert (await net.page("/ok", host="other.test")).status == 200
    assert len([seen for seen in net.server.log if seen.host == "site.test"]) == asked
    await net.clock.advance(7201)
    assert (await net.page("/ok")).status == 200


@pytest.mark.parametrize(
    ("value", "seconds"), [("+9000", 9000), ("99999999999999999999", 7 * DAY), ("+99999999", 7 * DAY)]
)
@virtual
async def test_rule_27_dates_and_the_cap(net: Net, value: str, seconds: float) -> None:
    visit = await net.visit(f"/status/503?ra={value}")
    assert visit.retry_after == pytest.approx(seconds, abs=1)
    assert await net.kind("/ok") == "held"


@pytest.mark.parametrize("value", ["-1", "1.5", "soon", "", "Sun, 06 Nov 1994 08:49:37 GMT"])
@virtual
async def test_rule_27_values_that_mean_nothing(net: Net, value: str) -> None:
    visit = await net.visit(f"/status/503?ra={value}")
    assert visit.retry_after is None
    assert (await net.page("/ok")).status == 200


@virtual
async def test_rule_27_a_429_without_a_time_doubles_from_an_hour_to_a_day(net: Net) -> None:
    waits = []
    for _ in range(7):
        visit = await net.visit("/status/429")
        assert visit.retry_after is not None
        waits.append(round(visit.retry_after))
        await net.clock.advance(visit.retry_after + 1)
    assert waits == [3600, 7200, 14400, 28800, 57600, 86400, 86400]
    assert (await net.page("/ok")).status == 200
    assert round((await net.visit("/status/429")).retry_after or 0) == 3600


@virtual
async def test_rule_27_of_several_lines_the_longest_and_any_status(net: Net) -> None:
    assert (await net.visit("/ra2")).retry_after == 3600
    assert (await net.visit("/status/404?ra=50", host="b.test")).retry_after == 50
    assert (await net.page("/ok", host="b.test")).status == 200


@virtual
async def test_rule_27_a_wait_outlives_the_process(net: Net) -> None:
    await net.visit("/status/429?ra=7200")
    net.new_fetcher(HostBook(net.hosts.take_dirty()))
    assert await net.kind("/ok") == "held"


@virtual
async def test_rule_42_a_wait_from_a_clock_that_was_wrong_is_over(net: Net) -> None:
    net.clock.jump_wall(400 * DAY)
    await net.visit("/status/429?ra=7200")
    net.clock.jump_wall(-400 * DAY)
    assert (await net.page("/ok")).status == 200
