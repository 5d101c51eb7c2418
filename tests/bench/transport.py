"""CPU per check of HTTP clients against a small loopback server in another process; medians of interleaved runs.

    python -m tests.bench.transport [--checks 1500] [--runs 3] [--clients ours,httpx,...]

Each run is a process of its own that makes its checks over many hosts (127.0.x.y), 32 at a time and one per host, and
counts its own user and system time. ``ours`` is watcher's transport handed an httpx.Request, ``visit`` a whole
Fetcher.visit over it with robots.txt known, pacing off and its audit line; ``visit-httpx`` the same over httpx's own
transport. Clients that are not installed are left out. Ratios are to the first.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import importlib.util
import resource
import statistics
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import product

BODY = b"<html>" + b"x" * 8_000 + b"</html>"
DATES = b'Date: Tue, 01 Dec 2026 01:00:00 GMT\r\nETag: "abc"\r\nLast-Modified: Tue, 01 Dec 2026 00:00:00 GMT'
FULL = b"HTTP/1.1 200 OK\r\n%b\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (DATES, len(BODY), BODY)
SAME = b"HTTP/1.1 304 Not Modified\r\n%b\r\n\r\n" % DATES
NONE = b"HTTP/1.1 404 Not Found\r\n%b\r\nContent-Length: 0\r\n\r\n" % DATES
CLIENTS = ("httpx", "httpx-transport", "httpx-aiohttp", "aiohttp", "ours", "visit", "visit-httpx")
NEEDS = {"httpx-aiohttp": "httpx_aiohttp", "aiohttp": "aiohttp"}
HEADERS = {"User-Agent": "bench/1 (+https://example.org/)", "Accept": "*/*", "Accept-Encoding": "gzip"}

Check = Callable[[str], Awaitable[int]]


class Server(asyncio.Protocol):
    """Answers 304 to a condition, the page otherwise."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            head = head.lower()
            self._transport.write(NONE if b"/robots.txt" in head else SAME if b"if-none-match" in head else FULL)
            if b"connection: close" in head:
                self._transport.close()


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Server, "0.0.0.0", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@asynccontextmanager
async def httpx_client(headers: dict[str, str], kept: bool) -> AsyncIterator[Check]:
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None if kept else 0, keepalive_expiry=120)
    async with httpx.AsyncClient(limits=limits, trust_env=False, timeout=30) as client:

        async def check(url: str) -> int:
            return (await client.get(url, headers=headers)).status_code

        yield check


@asynccontextmanager
async def over_transport(transport: object, headers: dict[str, str]) -> AsyncIterator[Check]:
    import httpx

    assert isinstance(transport, httpx.AsyncBaseTransport)
    lines = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def check(url: str) -> int:
        response = await transport.handle_async_request(httpx.Request("GET", url, headers=lines))
        await response.aread()
        await response.aclose()
        return response.status_code

    async with transport:
        yield check


@asynccontextmanager
async def httpx_transport(headers: dict[str, str], kept: bool) -> AsyncIterator[Check]:
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None if kept else 0, keepalive_expiry=120)
    async with over_transport(httpx.AsyncHTTPTransport(limits=limits, trust_env=False), headers) as check:
        yield check


@asynccontextmanager
async def httpx_aiohttp(headers: dict[str, str], kept: bool) -> AsyncIterator[Check]:
    import aiohttp
    from httpx_aiohttp import AiohttpTransport

    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, force_close=not kept))
    async with over_transport(AiohttpTransport(client=session), headers) as check:
        yield check


@asynccontextmanager
async def aiohttp_client(headers: dict[str, str], kept: bool) -> AsyncIterator[Check]:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=0, force_close=not kept)
    async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as session:

        async def check(url: str) -> int:
            async with session.get(url, headers=headers) as response:
                await response.read()
                return response.status

        yield check


@asynccontextmanager
async def ours(headers: dict[str, str], kept: bool) -> AsyncIterator[Check]:
    from watcher.fetch import Transport

    closing = {} if kept else {"Connection": "close"}
    async with over_transport(Transport(guard=False), headers | closing) as check:
        yield check


@asynccontextmanager
async def visit(headers: dict[str, str], kept: bool, *, over_httpx: bool = False) -> AsyncIterator[Check]:
    import httpx

    from watcher.cli.clock import SystemClock
    from watcher.core.exchange import RequestPlan
    from watcher.core.model import RequestOptions
    from watcher.core.settings import HostSettings
    from watcher.fetch import Fetcher, HostBook, Transport, sending

    if not kept:
        sending.KEEP_BELOW = -1.0
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    transport = httpx.AsyncHTTPTransport(limits=limits, trust_env=False) if over_httpx else Transport()
    fetcher = Fetcher(transport, SystemClock(), HostBook())
    tag = headers.get("If-None-Match")
    conditions = () if tag is None else ((b"If-None-Match", tag.encode()),)
    settings, options = HostSettings(min_gap=0.0, checks_per_day=10**9), RequestOptions()

    async def check(url: str) -> int:
        plan = RequestPlan(url=url, conditions=conditions, conditional="etag" if tag else None)
        seen = await fetcher.visit(plan, options, settings=settings)
        return seen.response.status if seen.response is not None else 0

    yield check
    await fetcher.aclose()


MAKERS = {
    "httpx": httpx_client,
    "httpx-transport": httpx_transport,
    "httpx-aiohttp": httpx_aiohttp,
    "aiohttp": aiohttp_client,
    "ours": ours,
    "visit": visit,
    "visit-httpx": functools.partial(visit, over_httpx=True),
}


async def measure(client: str, port: int, hosts: int, same: bool, kept: bool, checks: int) -> float:
    """Microseconds of CPU per check."""
    headers = {**HEADERS, "If-None-Match": '"abc"'} if same else HEADERS
    urls = [f"http://127.0.{1 + n // 250}.{1 + n % 250}:{port}" for n in range(hosts)]
    rounds = max(1, checks // hosts)
    async with MAKERS[client](headers, kept) as check:
        room = asyncio.Semaphore(32)

        async def host(url: str, times: int) -> None:
            for number in range(times):
                async with room:
                    assert await check(f"{url}/page/{number}") == (304 if same else 200)

        await asyncio.gather(*(host(url, 1) for url in urls))
        before = _cpu()
        await asyncio.gather(*(host(url, rounds) for url in urls))
        return (_cpu() - before) / (rounds * hosts) * 1e6


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checks", type=int, default=1_500)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--clients", default=",".join(CLIENTS))
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve())
    elif given.one:
        client, port, hosts, same, kept = given.one
        print(asyncio.run(measure(client, int(port), int(hosts), same == "1", kept == "1", given.checks)))
    else:
        table(given.clients.split(","), given.runs, given.checks)


def table(wanted: list[str], runs: int, checks: int) -> None:
    """Run everything, interleaved, and print one row per situation."""
    clients = [name for name in wanted if name not in NEEDS or importlib.util.find_spec(NEEDS[name])]
    me = [sys.executable, "-m", "tests.bench.transport", "--checks", str(checks)]
    with subprocess.Popen([*me, "--serve"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        try:
            print(f"{'CPU us/check, ratio':22}" + "".join(f"{name:>20}" for name in clients))
            for kept, hosts, same in product((1, 0), (20, 250), (1, 0)):
                found: dict[str, list[float]] = {name: [] for name in clients}
                for _ in range(runs):
                    for name in clients:
                        one = [*me, "--one", name, port, str(hosts), str(same), str(kept)]
                        told = subprocess.run(one, capture_output=True, text=True, check=True).stdout
                        found[name].append(float(told))
                print(
                    row(f"{'kept' if kept else 'fresh'} {hosts:>3} hosts {'304' if same else '200'}", found), flush=True
                )
        finally:
            server.terminate()


def row(label: str, found: dict[str, list[float]]) -> str:
    """Medians, and their ratios to the first client's."""
    middle = {name: statistics.median(times) for name, times in found.items()}
    base = next(iter(middle.values()))
    return f"{label:22}" + "".join(f"{cost:>13.0f} {cost / base:.2f}x" for cost in middle.values())


if __name__ == "__main__":
    main()
