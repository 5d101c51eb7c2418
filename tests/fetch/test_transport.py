"""The seam is httpx's own: what we send and read is the same over our transport and over httpx's."""

from __future__ import annotations

import functools
import gzip
from collections.abc import Awaitable, Callable

import httpx
import pytest

from tests.fetch.net import DAY, Net, Poller
from tests.support.badserver import BadServer, Reply
from tests.support.clock import FakeClock
from watcher.core.exchange import RequestPlan
from watcher.core.model import RequestOptions
from watcher.core.settings import HostSettings
from watcher.fetch import Fetcher, HostBook, Transport


class Httpx(httpx.AsyncHTTPTransport):
    """httpx's own transport; every name leads to this machine, as :class:`Net` has it for ours."""

    def __init__(self) -> None:
        limits = httpx.Limits(max_connections=None, keepalive_expiry=4.0)
        super().__init__(limits=limits, trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        there = httpx.Request(
            request.method,
            request.url.copy_with(host="127.0.0.1"),
            headers=request.headers.raw,
            stream=request.stream,
            extensions=request.extensions,
        )
        return await super().handle_async_request(there)


Test = Callable[[Net], Awaitable[None]]


def over_both(test: Test) -> Callable[[str], None]:
    """Run a test over our transport and over httpx's, in virtual time."""

    @pytest.mark.parametrize("transport", ["ours", "httpx"])
    def run(transport: str) -> None:
        clock = FakeClock()

        async def main() -> None:
            async with Net(clock) as net:
                if transport == "httpx":
                    await net.transport.aclose()
                    net.transport = Httpx()
                    net.new_fetcher()
                await test(net)

        clock.run(main())

    functools.update_wrapper(run, test)
    del run.__wrapped__  # type: ignore[attr-defined]
    run.__annotations__ = {"transport": str}
    return run


@over_both
async def test_the_request_is_ours_to_the_byte(net: Net) -> None:
    tag = b'W/"caf\xe9 \\"'
    path = "/ok?q=a+b&c=%7e%2F%e9&d[]=1|2"
    await net.visit(path, conditions=((b"If-None-Match", tag),), conditional="etag")
    seen = net.seen()[-1]
    assert seen.target == path
    assert [name for name, _ in seen.headers] == [
        b"Host",
        b"User-Agent",
        b"Accept",
        b"Accept-Encoding",
        b"If-None-Match",
    ]
    assert seen.all(b"host") == [f"site.test:{net.server.port}".encode()]
    assert seen.all(b"if-none-match") == [tag]


@over_both
async def test_the_response_is_the_servers_to_the_byte(net: Net) -> None:
    body = gzip.compress(b"hello", mtime=0) + gzip.compress(b" again", mtime=0)
    lines = [("eTaG", b'"\xff\xfe"'), ("X-Two", "one"), ("X-Two", "two"), ("Content-Encoding", "gzip")]
    net.server.pages["/page"] = lambda seen: Reply(200, lines, body)
    response = await net.page("/page")
    assert response.body == b"hello again"
    assert [(name, value) for name, value in response.headers if name in (b"eTaG", b"X-Two")] == [
        (b"eTaG", b'"\xff\xfe"'),
        (b"X-Two", b"one"),
        (b"X-Two", b"two"),
    ]


@over_both
async def test_the_audit_line_knows_peer_version_and_time(net: Net) -> None:
    line = (await net.visit("/slow/first/2")).exchanges[-1]
    assert (line.peer, line.http_version, line.status) == ("127.0.0.1", "1.1", 200)
    assert line.first_byte == pytest.approx(2, abs=0.1)


@over_both
async def test_a_page_is_asked_again_with_its_validator(net: Net) -> None:
    for path, name in (("/cond/strong", "if-none-match"), ("/cond/lm", "if-modified-since")):
        sent = await Poller(net, path).checks(4, every=DAY)
        assert [list(fields) for fields in sent] == [[], [name], [name], [name]]


@over_both
async def test_redirects_are_followed_by_hand(net: Net) -> None:
    visit = await net.visit("/hops/302/3")
    assert [e.status for e in visit.exchanges if e.purpose != "robots"] == [302, 302, 302, 200]


@over_both
async def test_a_post_carries_its_body_and_its_length(net: Net) -> None:
    await net.visit("/ok", RequestOptions(method="POST", body="a=1", headers=(("Content-Type", "text/x"),)))
    seen = net.seen()[-1]
    assert (seen.method, seen.body, seen.all(b"content-length")) == ("POST", b"a=1", [b"3"])


KINDS = {
    "/bomb/gzip/64": "too-large",
    "/body/endless": "too-large",
    "/enc/as/cut?label=gzip": "transient:cut",
    "/enc/as/gzip?label=br": "broken:encoding",
    "/body/short": "transient:cut",
    "/body/chunk-cut": "transient:cut",
    "/body/bad-chunk": "transient:protocol",
    "/conn/garbage": "transient:protocol",
    "/conn/reset": "transient:reset",
    "/slow/first/25": "transient:timeout",
    "/hops/302/7": "broken:redirect",
}


@over_both
async def test_trouble_has_the_same_kind(net: Net) -> None:
    told = {path: await net.kind(path, host=f"h{number}.test") for number, path in enumerate(KINDS)}
    assert told == KINDS


@over_both
async def test_a_host_that_is_not_there_refuses(net: Net) -> None:
    port = net.server.port
    await net.server.__aexit__(None, None, None)
    try:
        assert await net.kind(f"http://site.test:{port}/ok") == "transient:refused"
    finally:
        await net.server.__aenter__()


@over_both
async def test_robots_and_pacing_do_not_depend_on_the_transport(net: Net) -> None:
    net.server.robots["*"] = Reply(200, body=b"User-agent: watcher\nDisallow: /cond/\nCrawl-delay: 7\n")
    assert await net.kind("/cond/strong") == "refused:robots"
    began = net.clock.monotonic()
    await net.page("/ok")
    assert net.clock.monotonic() - began == pytest.approx(7, abs=0.1)
    assert [seen.target for seen in net.server.log] == ["/robots.txt", "/ok"]


async def test_another_transport_is_checked_by_its_peer() -> None:
    """httpx's has no address guard: what it brings from a private address is refused unread."""
    async with BadServer() as server:
        transport = Httpx()
        fetcher = Fetcher(transport, FakeClock(), HostBook())
        visit = await fetcher.visit(
            RequestPlan(url=f"http://public.example:{server.port}/ok"), RequestOptions(), settings=HostSettings()
        )
        await fetcher.aclose()
    assert visit.failure is not None
    assert visit.failure.kind == "refused:address"


async def test_another_transport_never_passes_by_a_watchs_proxy() -> None:
    async with BadServer() as server:
        fetcher = Fetcher(Httpx(), FakeClock(), HostBook())
        options = RequestOptions(proxy=f"http://127.0.0.1:{server.port}", obey_robots=False)
        plan = RequestPlan(url=f"http://site.test:{server.port}/ok")
        visit = await fetcher.visit(plan, options, settings=HostSettings())
        await fetcher.aclose()
        assert server.log == []
    assert visit.failure is not None
    assert "proxy" in visit.failure.message


async def test_our_transport_serves_httpx_itself() -> None:
    async with BadServer() as server, httpx.AsyncClient(transport=Transport(guard=False)) as client:
        assert (await client.get(f"http://127.0.0.1:{server.port}/enc/as/gzip?label=gzip")).status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(f"http://127.0.0.1:{server.port}/body/short")
        with pytest.raises(httpx.ConnectError):
            await client.get("http://127.0.0.1:1/")
