"""One request and its answer over HTTP/1.1, proxies and TLS included. Nothing here knows watches, robots or records.

There is no HTTP client library under it: :mod:`h11` reads and writes messages on sockets of our own. That keeps every
header byte as received, lets the address guard stand where the connection is made, makes each limit ours, and costs a
tenth of the usual client's CPU (tests/bench/transport.py). h11 is loaded when the first :class:`Transport` is made.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from watcher.core.exchange import Headers
from watcher.core.urls import Url
from watcher.fetch.net import (
    AddressRefused,
    ProtocolError,
    Resolver,
    SystemResolver,
    TimedOut,
    Wire,
    connect,
    is_private,
    literal,
)

if TYPE_CHECKING:
    from watcher.fetch.http1 import Http1

CONNECT = 10.0
IDLE = 20.0
"""Seconds for a connection (TLS included), and for each silence after it."""

KEPT = 4.0
"""Seconds an idle connection is kept for the next request to its host; servers drop them after five at the earliest."""


Place: TypeAlias = tuple[str, str, bool]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What to send. ``headers`` come after Host, in order; ``keep`` asks to leave the connection open for the next one.

    ``private`` lets the name lead to an address that is not on the public Internet.
    """

    url: Url
    method: str = "GET"
    headers: Headers = ()
    body: bytes = b""
    proxy: Url | None = None
    private: bool = False
    keep: bool = False


class Timing(msgspec.Struct, kw_only=True):
    """Seconds each stage took; None for a stage that was skipped (a kept connection, an address given as such)."""

    dns: float | None = None
    connect: float | None = None
    first_byte: float | None = None


class Answer:
    """The head of an answer; :meth:`pieces` is its body as it comes off the wire, content codings still on."""

    def __init__(self, status: int, version: str, headers: Headers, peer: str | None, timing: Timing) -> None:
        self.status = status
        self.version = version
        self.headers = headers
        self.peer = peer
        self.timing = timing
        self.http: Http1

    def pieces(self) -> AsyncIterator[bytes]:
        """Raises ProtocolError, TimedOut or OSError when the body does not come whole."""
        return self.http.pieces()


class Transport:
    """Makes connections and keeps the few that pay. One request per host at a time is the caller's promise.

    ``resolver`` maps a host to addresses (tests and the demo give names to loopback); ``guard`` False takes its word
    for every address, private ones included. ``tls`` replaces the system's trusted authorities.
    """

    def __init__(
        self,
        *,
        resolver: Resolver | None = None,
        tls: ssl.SSLContext | None = None,
        guard: bool = True,
        connect_timeout: float = CONNECT,
        idle_timeout: float = IDLE,
    ) -> None:
        from watcher.fetch import http1  # loads h11, which a program that only lists watches never needs

        self._http1 = http1
        self._resolver = resolver
        self._tls = tls
        self._guard = guard
        self._connect_timeout = connect_timeout
        self._idle_timeout = idle_timeout
        self._kept: dict[Place, tuple[Http1, str | None, asyncio.TimerHandle]] = {}

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Answer]:
        """Send ``request`` and give its answer's head; leaving the block ends the exchange, read to its end or not.

        Raises ProtocolError, TimedOut, AddressRefused, ssl.SSLError or another OSError. An error on a kept connection
        is tried once more on a fresh one: the server may have closed it while the request was on its way.
        """
        answer = await self._reuse(request) or await self._fresh(request)
        try:
            yield answer
        finally:
            if request.keep and answer.http.reusable:
                self._keep(request, answer)
            else:
                answer.http.wire.close()

    async def aclose(self) -> None:
        """Close what is kept open."""
        for http, _, timer in self._kept.values():
            timer.cancel()
            http.wire.close()
        self._kept.clear()
        await asyncio.sleep(0)

    def _keep(self, request: Request, answer: Answer) -> None:
        place = _place(request)
        timer = asyncio.get_running_loop().call_later(KEPT, self._drop, place)
        if place in self._kept:
            self._drop(place)
        self._kept[place] = answer.http, answer.peer, timer

    def _drop(self, place: Place) -> None:
        http, _, timer = self._kept.pop(place)
        timer.cancel()
        http.wire.close()

    async def _reuse(self, request: Request) -> Answer | None:
        kept = self._kept.pop(_place(request), None)
        if kept is None:
            return None
        http, peer, timer = kept
        timer.cancel()
        if not http.reusable or request.method != "GET":
            http.wire.close()
            return None
        try:
            return await self._ask(http, request, peer, Timing())
        except BaseException as error:
            http.wire.close()
            if isinstance(error, (ConnectionError, ProtocolError)):
                return None
            raise

    async def _fresh(self, request: Request) -> Answer:
        timing = Timing()
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect_timeout):
                wire = await self._connect(request, timing, loop.time())
        except TimeoutError as error:
            if isinstance(error, TimedOut):
                raise
            raise TimedOut(f"no connection within {self._connect_timeout:g} s") from None
        peername: Any = wire.transport.get_extra_info("peername")
        peer = str(peername[0]) if peername else None
        http = self._http1.Http1(wire, self._idle_timeout)
        try:
            return await self._ask(http, request, peer, timing)
        except BaseException:
            wire.close()
            raise

    async def _ask(self, http: Http1, request: Request, peer: str | None, timing: Timing) -> Answer:
        url, loop = request.url, asyncio.get_running_loop()
        headers: list[tuple[bytes, bytes]] = [(b"Host", url.netloc.encode("ascii")), *request.headers]
        target = url.target
        if request.proxy is not None and url.scheme == "http":
            target = str(url)
            headers += _proxy_authorization(request.proxy)
        if request.body or request.method in ("POST", "PUT", "PATCH"):
            headers.append((b"Content-Length", b"%d" % len(request.body)))
        if not request.keep:
            headers.append((b"Connection", b"close"))
        began = loop.time()
        status, version, lines = await http.ask(
            request.method.encode("ascii"), target.encode("ascii"), headers, request.body
        )
        timing.first_byte = loop.time() - began
        answer = Answer(status, version, lines, peer, timing)
        answer.http = http
        return answer

    async def _connect(self, request: Request, timing: Timing, began: float) -> Wire:
        url, proxy, loop = request.url, request.proxy, asyncio.get_running_loop()
        tls = self._context() if url.scheme == "https" else None
        first = url if proxy is None else proxy
        addresses = await self._addresses(first)
        if literal(first.host) is None:
            timing.dns = loop.time() - began
        if proxy is None:
            addresses = self._permitted(url, addresses, request.private)
            wire = await connect(addresses, url.port, tls, url.host.strip("[]"))
        else:
            own = literal(url.host)
            if own is not None:
                self._permitted(url, [str(own)], request.private)
            wire = await self._through(proxy, addresses, url, tls)
        timing.connect = loop.time() - began - (timing.dns or 0.0)
        return wire

    async def _addresses(self, url: Url) -> Sequence[str]:
        address = literal(url.host)
        if address is not None:
            return [str(address)]
        if self._resolver is None:
            self._resolver = SystemResolver()
        return await self._resolver(url.host, url.port)

    async def _through(self, proxy: Url, addresses: Sequence[str], url: Url, tls: ssl.SSLContext | None) -> Wire:
        outer = self._context() if proxy.scheme == "https" else None
        wire = await connect(addresses, proxy.port, outer, proxy.host.strip("[]"))
        if tls is None:
            return wire
        try:
            authority = f"{url.host}:{url.port}".encode("ascii")
            tunnel = self._http1.Http1(wire, self._idle_timeout)
            status, _, _ = await tunnel.ask(
                b"CONNECT", authority, [(b"Host", authority), *_proxy_authorization(proxy)], b""
            )
            if not 200 <= status < 300:
                raise ProtocolError(f"the proxy answers {status} to the request for a tunnel")
            inner = Wire()
            transport = await asyncio.get_running_loop().start_tls(
                wire.transport, inner, tls, server_hostname=url.host.strip("[]")
            )
            assert transport is not None
            inner.connection_made(transport)
            inner.secured = True
            return inner
        except BaseException:
            wire.close()
            raise

    def _permitted(self, url: Url, addresses: Sequence[str], private: bool) -> Sequence[str]:
        """The addresses this request may go to (CONDUCT rule 40). Raises AddressRefused when none is left."""
        if private or not self._guard:
            return addresses
        kept = [text for text in addresses if not is_private(ip_address(text.partition("%")[0]))]
        if not kept:
            raise AddressRefused(f"{url.host} leads to the private address {addresses[0]}")
        return kept

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = trusted_context()
        return self._tls


def trusted_context() -> ssl.SSLContext:
    """A context that trusts the system's authorities, or certifi's where Python finds no system store."""
    context = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    if not (context.cert_store_stats()["x509_ca"] or paths.cafile or paths.capath):
        import certifi

        context.load_verify_locations(certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


def _place(request: Request) -> Place:
    """Requests that may share a connection: what the address guard allowed for one is allowed for the other."""
    proxy = "" if request.proxy is None else f"{request.proxy.user}@{request.proxy.origin}"
    return request.url.origin, proxy, request.private


def _proxy_authorization(proxy: Url) -> list[tuple[bytes, bytes]]:
    if proxy.user is None:
        return []
    token = base64.b64encode(f"{proxy.user}:{proxy.password or ''}".encode())
    return [(b"Proxy-Authorization", b"Basic " + token)]
