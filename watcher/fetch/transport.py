"""The seam to HTTP, and the only module that imports httpx: what asks through it can ask through any transport.

:func:`exchange` puts one request to an ``httpx.AsyncBaseTransport`` and gives its answer. It uses httpx's types and not
its client, which adds headers, unpacks bodies without a limit and costs more CPU than all the rest of a check.
:class:`Transport` is such a transport over sockets of our own, where the address guard stands at the connection and
each limit is ours; h11 reads and writes its messages. tests/bench/transport.py compares both with httpx's own.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from watcher.fetch.connecting import Connector, Place, proxy_authorization
from watcher.fetch.http1 import Http1, spoken
from watcher.fetch.message import Answer, Request, Timing
from watcher.fetch.net import AddressRefused, ProtocolError, Resolver, TimedOut, is_private, literal

# Where click is installed, httpx loads its own command line and rich with it, 120 ms, unless that module is not there.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
import httpx  # noqa: E402

AnyTransport: TypeAlias = httpx.AsyncBaseTransport

CONNECT = 10.0
IDLE = 20.0
"""Seconds for a connection (TLS included), and for each silence after it."""

TIMEOUTS = {"connect": CONNECT, "read": IDLE, "write": IDLE, "pool": CONNECT}

KEPT = 4.0
"""Seconds an idle connection is kept for the next request to its host; servers drop them after five at the earliest."""


@asynccontextmanager
async def exchange(transport: AnyTransport, request: Request) -> AsyncIterator[Answer]:
    """Send ``request`` and give its answer's head; leaving the block ends the exchange, read to its end or not.

    Raises ProtocolError, TimedOut, AddressRefused, ssl.SSLError or another OSError, from reading the body too. Another
    transport than :class:`Transport` is refused a watch's proxy, and its peer is looked at once the head is here.
    """
    began = asyncio.get_running_loop().time()
    own = isinstance(transport, Transport)
    if request.proxy is not None and not own:
        raise ProtocolError("the transport in use does not go through the proxy of a watch")
    try:
        response = await transport.handle_async_request(_built(request))
        assert isinstance(response.stream, httpx.AsyncByteStream)
        try:
            answer = _answer(response, response.stream, began)
            address = literal(answer.peer) if answer.peer else None
            if not own and not request.private and address is not None and is_private(address):
                raise AddressRefused(f"{request.url.host} leads to the private address {address}")
            yield answer
        finally:
            await response.stream.aclose()
    except httpx.HTTPError as error:
        raise _underneath(error) from error
    except httpx.InvalidURL:
        raise ProtocolError("the request cannot be sent (its URL is too long or not one to httpx)") from None


def _built(request: Request) -> httpx.Request:
    """Our bytes in httpx's request: the target travels beside the URL, which httpx would encode anew."""
    url = request.url
    headers = [(b"Host", url.netloc.encode("ascii")), *request.headers]
    if request.body or request.method in ("POST", "PUT", "PATCH"):
        headers.append((b"Content-Length", b"%d" % len(request.body)))
    if not request.keep:
        headers.append((b"Connection", b"close"))
    extensions = {
        "timeout": TIMEOUTS,
        "target": url.target.encode("ascii"),
        "proxy": request.proxy,
        "private": request.private,
    }
    # With a stream of its own a request gets no header that is not in the list.
    return httpx.Request(
        request.method, str(url), headers=headers, stream=httpx.ByteStream(request.body), extensions=extensions
    )


def _answer(response: httpx.Response, pieces: httpx.AsyncByteStream, began: float) -> Answer:
    extensions = response.extensions
    timing = extensions.get("timing") or Timing(first_byte=asyncio.get_running_loop().time() - began)
    stream = extensions.get("network_stream")
    address: Any = stream.get_extra_info("server_addr") if stream is not None else None
    return Answer(
        status=response.status_code,
        version=extensions.get("http_version", b"HTTP/1.1").decode("ascii").removeprefix("HTTP/"),
        headers=tuple(response.headers.raw),
        peer=str(address[0]) if address else None,
        timing=timing,
        pieces=pieces,
    )


def _underneath(error: httpx.HTTPError) -> Exception:
    """What happened on the connection: the deepest cause that says so, or the error in our words."""
    found: Exception | None = None
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, (OSError, ProtocolError)):
            found = cause
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.TimeoutException) and not isinstance(found, TimedOut):
        if isinstance(error, httpx.ConnectTimeout):
            return TimedOut(f"no connection within {CONNECT:g} s")
        return TimedOut(f"the server was silent for {IDLE:g} s")
    return found or ProtocolError(spoken(error))


def _in_words_of_httpx(error: Exception, *, connecting: bool) -> httpx.TransportError:
    if isinstance(error, ProtocolError):
        return httpx.RemoteProtocolError(str(error))
    if isinstance(error, TimeoutError):
        return (httpx.ConnectTimeout if connecting else httpx.ReadTimeout)(str(error))
    return (httpx.ConnectError if connecting else httpx.ReadError)(str(error))


class Transport(httpx.AsyncBaseTransport):
    """An httpx transport on sockets of our own, HTTP/1.1 only. One request per host at a time is the caller's promise.

    ``resolver`` maps a host to addresses (tests and the demo give names to loopback); ``guard`` False takes its word
    for every address, private ones included. ``tls`` replaces the system's trusted authorities.

    A request's extensions say more, as httpx's own do: ``timeout``, ``target``, and ours ``proxy`` (a Url) and
    ``private``. A response's say ``network_stream``, ``http_version`` and ``timing`` (:class:`Timing`).
    """

    def __init__(
        self, *, resolver: Resolver | None = None, tls: ssl.SSLContext | None = None, guard: bool = True
    ) -> None:
        self._connector = Connector(resolver, tls, guard=guard)
        self._kept: dict[Place, tuple[Http1, asyncio.TimerHandle]] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send ``request``; the response's stream is the body as it comes off the wire, content codings still on.

        Raises the httpx.TransportError that fits, from what happened. An error on a kept connection is tried once
        more on a fresh one: the server may have closed it while the request was on its way.
        """
        url = request.url
        place = Place(
            url.scheme == "https",
            url.raw_host.decode("ascii"),
            url.port or (443 if url.scheme == "https" else 80),
            request.extensions.get("proxy"),
            request.extensions.get("private", False),
        )
        return await self._reuse(place, request) or await self._fresh(place, request)

    async def aclose(self) -> None:
        """Close what is kept open."""
        for http, timer in self._kept.values():
            timer.cancel()
            http.wire.close()
        self._kept.clear()
        await asyncio.sleep(0)

    def _keep(self, place: Place, http: Http1) -> None:
        timer = asyncio.get_running_loop().call_later(KEPT, self._drop, place)
        if place in self._kept:
            self._drop(place)
        self._kept[place] = http, timer

    def _drop(self, place: Place) -> None:
        http, timer = self._kept.pop(place)
        timer.cancel()
        http.wire.close()

    def _done(self, place: Place, http: Http1) -> None:
        if http.reusable:
            self._keep(place, http)
        else:
            http.wire.close()

    async def _reuse(self, place: Place, request: httpx.Request) -> httpx.Response | None:
        kept = self._kept.pop(place, None)
        if kept is None:
            return None
        http, timer = kept
        timer.cancel()
        if not http.reusable or request.method != "GET":
            http.wire.close()
            return None
        try:
            return await self._ask(place, http, request, Timing())
        except httpx.ReadTimeout:
            raise
        except httpx.TransportError:
            return None

    async def _fresh(self, place: Place, request: httpx.Request) -> httpx.Response:
        timing = Timing()
        connect, idle = _timeouts(request)
        try:
            async with asyncio.timeout(connect):
                wire = await self._connector.open(place, timing, idle)
        except (OSError, ProtocolError, UnicodeError) as error:
            if type(error) is TimeoutError:
                error = TimedOut(f"no connection within {connect:g} s")
            raise _in_words_of_httpx(error, connecting=True) from error
        return await self._ask(place, Http1(wire, idle), request, timing)

    async def _ask(self, place: Place, http: Http1, request: httpx.Request, timing: Timing) -> httpx.Response:
        target = request.extensions.get("target", request.url.raw_path)
        headers = request.headers.raw
        if place.proxy is not None and not place.secure:
            target = f"http://{request.url.netloc.decode('ascii')}".encode("ascii") + target
            headers = [*headers, *proxy_authorization(place.proxy)]
        began = asyncio.get_running_loop().time()
        try:
            status, version, lines = await http.ask(
                request.method.encode("ascii"), target, headers, await request.aread()
            )
        except (OSError, ProtocolError) as error:
            http.wire.close()
            raise _in_words_of_httpx(error, connecting=False) from error
        except BaseException:
            http.wire.close()
            raise
        timing.first_byte = asyncio.get_running_loop().time() - began
        extensions = {"network_stream": http.wire, "http_version": version, "timing": timing}
        return httpx.Response(status, headers=lines, stream=_Pieces(self, place, http), extensions=extensions)


class _Pieces(httpx.AsyncByteStream):
    """The body on the wire; closing it gives the connection back."""

    def __init__(self, transport: Transport, place: Place, http: Http1) -> None:
        self._transport = transport
        self._place = place
        self._http: Http1 | None = http

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if self._http is None:
            raise StopAsyncIteration
        try:
            piece = await self._http.piece()
        except (OSError, ProtocolError) as error:
            raise _in_words_of_httpx(error, connecting=False) from error
        if piece is None:
            raise StopAsyncIteration
        return piece

    async def aclose(self) -> None:
        if self._http is not None:
            self._transport._done(self._place, self._http)
            self._http = None


def _timeouts(request: httpx.Request) -> tuple[float, float]:
    """Seconds for a connection and for each silence; the contract's where the request names none."""
    given = request.extensions.get("timeout") or {}
    return given.get("connect") or CONNECT, given.get("read") or IDLE
