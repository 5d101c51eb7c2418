"""CONDUCT rules 30-35: robots.txt as servers give it, and the pauses between requests."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from tests.fetch.net import DAY, Net, virtual, virtual_anywhere
from tests.support.badserver import Reply, Seen
from watcher.core.model import RequestOptions
from watcher.core.settings import HostSettings
from watcher.fetch import HostBook

HOUR = 3_600.0
BAN = b"User-agent: *\nDisallow: /ok\n"


def robots(net: Net) -> list[Seen]:
    return net.seen("/robots.txt")


@virtual
async def test_rule_30_asked_first_and_once_a_day(net: Net) -> None:
    for _ in range(3):
        await net.visit("/ok")
        await net.clock.advance(7 * HOUR)
    assert [seen.path for seen in net.server.log] == ["/robots.txt", "/ok", "/ok", "/ok"]
    await net.clock.advance(4 * HOUR)
    await net.visit("/ok")
    assert len(robots(net)) == 2


@virtual
async def test_rule_30_per_origin(net: Net) -> None:
    for host in ("a.test", "b.test"):
        await net.visit("/ok", host=host)
    assert [seen.host for seen in robots(net)] == ["a.test", "b.test"]


@virtual
async def test_rule_30_conditional_with_its_own_validators(net: Net) -> None:
    net.server.robots["*"] = Reply(200, [("ETag", '"r"'), ("Last-Modified", net.server.date(-DAY))], BAN)
    assert await net.kind("/ok") == "refused:robots"
    await net.clock.advance(25 * HOUR)
    net.server.robots["*"] = Reply(304, [("ETag", '"r"')])
    assert await net.kind("/ok") == "refused:robots"
    assert robots(net)[1].get(b"if-none-match") == b'"r"'
    assert robots(net)[1].get(b"if-modified-since") is None


@pytest.mark.parametrize(("max_age", "again_after"), [("60", HOUR), ("7200", 2 * HOUR), ("9999999", DAY)])
@virtual
async def test_rule_30_max_age_may_shorten_down_to_an_hour(net: Net, max_age: str, again_after: float) -> None:
    net.server.robots["*"] = Reply(200, [("Cache-Control", f"max-age={max_age}")], b"User-agent: x\nDisallow: /\n")
    began_at = net.clock.now()
    await net.visit("/ok")
    await net.clock.run_until(began_at + again_after - 1)
    await net.visit("/ok")
    assert len(robots(net)) == 1
    await net.clock.run_until(began_at + again_after + 1)
    await net.visit("/ok")
    assert len(robots(net)) == 2


@virtual
async def test_rule_30_a_fresh_copy_survives_a_restart(net: Net) -> None:
    net.server.robots["*"] = Reply(200, body=BAN)
    await net.visit("/ok")
    bodies = net.hosts
    saved = net.hosts.take_dirty(final=True)
    net.new_fetcher(HostBook(saved, load_body=bodies.load_body, save_body=bodies.save_body))
    assert await net.kind("/ok") == "refused:robots"
    assert len(robots(net)) == 1


@virtual
async def test_rule_31_only_whole_lines_within_512_kib_count(net: Net) -> None:
    filler = b"# " + b"x" * 997 + b"\n"
    inside = b"User-agent: *\n" + filler * 500 + b"Disallow: /ok\n"
    outside = b"User-agent: *\n" + filler * 600 + b"Disallow: /ok\n"
    cut = b"User-agent: *\n"
    cut += b"#" * (512 * 1024 - len(cut) - 11) + b"\nDisallow: /ok\n"
    assert len(inside) < 512 * 1024 < len(outside)
    for host, body in (("inside.test", inside), ("outside.test", outside), ("cut.test", cut)):
        net.server.robots[host] = Reply(200, body=body)
    assert await net.kind("/ok", host="inside.test") == "refused:robots"
    assert (await net.page("/ok", host="outside.test")).status == 200
    assert (await net.page("/ok", host="cut.test")).status == 200


@virtual
async def test_rule_31_an_endless_file_is_cut(net: Net) -> None:
    net.server.pages["/robots.txt"] = lambda seen: Reply(200, body=BAN + b"# more\n" * 400_000)
    assert await net.kind("/ok") == "refused:robots"


@virtual
async def test_rule_31_bom_and_bad_bytes(net: Net) -> None:
    net.server.robots["*"] = Reply(200, body=b"\xef\xbb\xbfUser-agent: *\nDisallow: /caf\xff\nDisallow: /ok\n")
    assert await net.kind("/ok") == "refused:robots"


@pytest.mark.parametrize("body", [b"", b"<html><h1>Not found</h1></html>", b"\x00\x01\x02" * 1000])
@virtual
async def test_rule_31_no_recognised_line_allows(net: Net, body: bytes) -> None:
    net.server.robots["*"] = Reply(200, body=body)
    assert (await net.page("/ok")).status == 200


@virtual_anywhere
async def test_rule_32_redirects_count_for_the_asking_origin(net: Net) -> None:
    net.server.robots["a.test"] = Reply(301, [("Location", net.url("/robots.txt", "b.test"))])
    net.server.robots["b.test"] = Reply(200, body=BAN)
    assert await net.kind("/ok", host="a.test") == "refused:robots"
    assert [seen.host for seen in robots(net)] == ["a.test", "b.test"]


@virtual
async def test_rule_32_more_than_five_redirects_allow(net: Net) -> None:
    for hop in range(8):
        to = f"/hop/{hop + 1}"
        net.server.pages[f"/hop/{hop}"] = lambda seen, to=to: Reply(302, [("Location", to)])  # type: ignore[misc]
    net.server.robots["*"] = Reply(302, [("Location", "/hop/0")])
    assert (await net.page("/ok")).status == 200
    assert len([seen for seen in net.server.log if seen.path.startswith("/hop")]) == 5


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 204])
@virtual
async def test_rule_32_4xx_allows_for_a_day(net: Net, status: int) -> None:
    net.server.robots["*"] = Reply(status, body=b"" if status == 204 else BAN)
    for _ in range(2):
        assert (await net.page("/ok")).status == 200
        await net.clock.advance(23 * HOUR)
    assert len(robots(net)) == 1


@pytest.mark.parametrize("status", [500, 502, 503])
@virtual
async def test_rule_32_unreachable_refuses_and_is_tried_again_later_and_later(net: Net, status: int) -> None:
    net.server.robots["*"] = Reply(status, body=b"User-agent: *\nAllow: /\n")
    waits = []
    for _ in range(9):
        visit = await net.visit("/ok")
        assert visit.failure is not None
        assert (visit.failure.kind, visit.sent) == ("refused:robots-unreachable", False)
        assert visit.not_before_at is not None
        waits.append(visit.not_before_at - net.clock.now())
        await net.clock.run_until(visit.not_before_at)
    assert waits == [min(300 * 2**k, 6 * HOUR) for k in range(9)]
    assert net.seen() == []
    net.server.robots["*"] = Reply(200, body=b"User-agent: *\nAllow: /\n")
    assert (await net.page("/ok")).status == 200


@virtual
async def test_rule_32_a_429_holds_the_whole_host(net: Net) -> None:
    net.server.robots["*"] = Reply(429, [("Retry-After", "7200")])
    visit = await net.visit("/ok")
    assert visit.failure is not None
    assert visit.failure.kind == "held"
    assert visit.not_before_at == net.clock.now() + 7200


@virtual
async def test_rule_32_a_good_copy_stands_in_for_thirty_days(net: Net) -> None:
    net.server.robots["*"] = Reply(200, body=b"User-agent: *\nDisallow: /cond\n")
    assert (await net.page("/ok")).status == 200
    net.server.robots["*"] = Reply(500)
    await net.clock.advance(29 * DAY)
    assert (await net.page("/ok")).status == 200
    assert await net.kind("/cond/strong") == "refused:robots"
    await net.clock.advance(2 * DAY)
    assert await net.kind("/ok") == "refused:robots-unreachable"


@virtual
async def test_rule_32_a_host_that_is_down_is_told_as_such(net: Net) -> None:
    visit = await net.visit(f"http://site.test:{net.server.port + 1}/")
    assert visit.failure is not None
    assert visit.failure.kind == "transient:refused"
    assert not visit.sent


@virtual
async def test_rule_33_a_refused_page_sends_nothing_and_is_asked_again_once_allowed(net: Net) -> None:
    net.server.robots["*"] = Reply(200, body=b"User-agent: watcher\nDisallow: /ok?a=\nAllow: /ok\n")
    assert await net.kind("/ok?a=1") == "refused:robots"
    assert (await net.page("/ok?b=1")).status == 200
    assert [seen.target for seen in net.seen()] == ["/ok?b=1"]
    net.server.robots["*"] = Reply(200, body=b"")
    await net.clock.advance(DAY + 1)
    assert (await net.page("/ok?a=1")).status == 200


@virtual
async def test_rule_33_the_override_is_explicit_and_audited(net: Net) -> None:
    net.server.robots["*"] = Reply(200, body=BAN)
    visit = await net.visit("/ok", RequestOptions(obey_robots=False))
    assert visit.response is not None
    (page,) = visit.exchanges
    assert (page.robots, page.flags) == ("overridden by this watch", ("robots-overridden",))
    assert robots(net) == []


@pytest.mark.parametrize(
    ("line", "gap"), [("Crawl-delay: 20", 20.0), ("Crawl-delay: 0.5", 5.0), ("Request-rate: 1/60", 60.0)]
)
@virtual
async def test_rule_34_crawl_delay_is_the_gap_between_any_two_requests(net: Net, line: str, gap: float) -> None:
    net.server.robots["*"] = Reply(200, body=f"User-agent: *\n{line}\n".encode())
    paced = HostSettings(min_gap=5.0)
    await net.visit("/hops/302/1", settings=paced)
    await net.visit("/ok", settings=paced)
    log = net.server.log
    gaps = [after.at - before.ended_at for before, after in pairwise(log)]
    assert len(gaps) == 3
    assert min(gaps) >= gap
    assert max(gaps) < gap + 1


@pytest.mark.parametrize("line", ["Crawl-delay: -1", "Crawl-delay: inf", "Crawl-delay: 1,5", "Crawl-delay: soon"])
@virtual
async def test_rule_34_a_delay_that_means_nothing_is_none(net: Net, line: str) -> None:
    net.server.robots["*"] = Reply(200, body=f"User-agent: *\n{line}\n".encode())
    await net.visit("/ok")
    assert net.hosts.get(net.url("").rstrip("/")).crawl_delay is None


@virtual
async def test_rule_34_at_most_a_day_and_it_outlives_the_process(net: Net) -> None:
    net.server.robots["*"] = Reply(200, body=b"User-agent: *\nCrawl-delay: 999999\n")
    visit = asyncio.create_task(net.visit("/ok"))
    await net.clock.advance(DAY + 60)
    assert (await visit).response is not None
    origin = net.url("").rstrip("/")
    saved = net.hosts.take_dirty(final=True)
    fetcher = net.new_fetcher(HostBook(saved))
    assert DAY - 120 < fetcher.ready_in(origin) <= DAY


@pytest.mark.parametrize(("took", "gap"), [(0.1, 5.0), (2.0, 10.0), (15.0, 30.0)])
@virtual
async def test_rule_35_slow_hosts_rest_longer(net: Net, took: float, gap: float) -> None:
    origin = net.url("").rstrip("/")
    await net.visit("/ok", settings=HostSettings(min_gap=5.0))
    await net.visit(f"/slow/first/{took}", settings=HostSettings(min_gap=5.0))
    assert net.fetcher.ready_in(origin) == pytest.approx(gap, abs=0.6)


@virtual
async def test_rule_35_one_request_in_flight_per_host(net: Net) -> None:
    visits = [net.visit(f"/slow/first/0.2?{n}", host=f"h{n % 3}.test") for n in range(30)]
    await asyncio.gather(*visits)
    assert set(net.server.most_in_flight.values()) == {1}
    assert len(net.seen()) == 30


@virtual
async def test_every_request_counts_against_the_budget(net: Net) -> None:
    origin = net.url("").rstrip("/")
    settings = HostSettings(min_gap=0.0, checks_per_day=10)
    await net.visit("/hops/302/3", settings=settings)
    await net.visit("/ok", settings=settings, conditions=((b"If-None-Match", b'"ok"'),))
    assert net.fetcher.budget_left(origin, settings) == 10 - len(net.server.log) == 4
    for _ in range(4):
        assert (await net.page("/ok", settings=settings)).status == 200
    held = await net.visit("/ok", settings=settings)
    assert held.failure is not None
    assert held.failure.kind == "held"
    assert held.not_before_at == net.fetcher.budget_frees_at(origin)
    await net.clock.run_until(held.not_before_at)
    assert (await net.page("/ok", settings=settings)).status == 200


@virtual
async def test_the_budget_outlives_the_process(net: Net) -> None:
    for _ in range(3):
        await net.visit("/ok")
        net.hosts.take_dirty()
    fetcher = net.new_fetcher(HostBook(net.hosts.take_dirty(final=True)))
    assert fetcher.budget_left(net.url("").rstrip("/"), HostSettings(checks_per_day=100)) == 96
