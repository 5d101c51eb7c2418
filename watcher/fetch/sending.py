"""One request, paced, bounded and audited: the only way anything leaves for a host."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from watcher.core.clock import Clock
from watcher.core.exchange import Exchange, Response
from watcher.core.freshness import retry_after
from watcher.core.model import Failure
from watcher.core.settings import HostSettings
from watcher.fetch.decode import Body, DecodeError, TooLarge
from watcher.fetch.errors import failure_of
from watcher.fetch.hosts import HostBook
from watcher.fetch.message import Answer, Request, Timing
from watcher.fetch.net import ProtocolError, is_private, literal
from watcher.fetch.pacing import Pacer

if TYPE_CHECKING:
    from watcher.fetch.transport import AnyTransport

AUDITED = frozenset(
    b"date age cache-control expires retry-after vary location etag last-modified content-type content-encoding "
    b"content-length content-range server cf-mitigated".split()
)
"""Response fields kept in the audit trail. Set-Cookie and the like are not."""

CONDITIONS = (b"if-none-match", b"if-modified-since", b"cache-control")
KEEP_BELOW = 2.0
"""Seconds of pause up to which a connection is worth keeping: it then still stands when the next request comes."""

DRAINED = 64 * 1024


class Deadline:
    """The network time of one check, redirects and robots.txt included. Waiting for a host's turn does not count."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.left = seconds


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A request and how to treat its answer.

    ``most`` and ``most_wire`` bound the body in bytes; with ``cut`` a longer one is cut there and is no error.
    ``hide`` takes secrets out of what is written down.
    """

    request: Request
    purpose: str
    hop: int = 0
    conditional: str | None = None
    most: int
    most_wire: int
    cut: bool = False
    hide: Callable[[str], str]
    robots: str | None = None
    flags: tuple[str, ...] = ()


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """What came of an order: a response or a failure, and its line of the audit trail."""

    exchange: Exchange
    response: Response | None = None
    failure: Failure | None = None
    private_peer: bool = False


class Sender:
    """Sends orders, each in its host's turn, and notes in the host book what the host asks for."""

    def __init__(self, transport: AnyTransport, clock: Clock, book: HostBook, pacer: Pacer) -> None:
        from watcher.fetch.transport import exchange  # loads httpx, which whoever made ``transport`` has done by now

        self._exchange = exchange
        self._transport = transport
        self._clock = clock
        self._book = book
        self._pacer = pacer

    async def send(self, order: Order, settings: HostSettings, deadline: Deadline) -> Sent:
        """Wait for the host's turn, ask, read. Trouble on the network is a failure, never an exception."""
        key = order.request.url.origin
        async with self._pacer.turn(key, settings) as waited:
            keep = order.request.method == "GET" and self._pacer.gap(key, settings.min_gap, 0.0) <= KEEP_BELOW
            sent = await self._ask(order, keep, waited, deadline)
        if sent.response is not None:
            self._heed(key, sent.response, order.purpose)
        return sent

    async def _ask(self, order: Order, keep: bool, waited: float, deadline: Deadline) -> Sent:
        loop = asyncio.get_running_loop()
        at, began = self._clock.now(), loop.time()
        answer: Answer | None = None
        body = None
        content, failure = b"", None
        request = msgspec.structs.replace(order.request, keep=keep) if keep else order.request
        try:
            async with asyncio.timeout(max(0.0, deadline.left)), self._exchange(self._transport, request) as answer:
                body = Body(_encodings(answer), most=order.most, most_wire=order.most_wire)
                content = await _read(answer, body, order, drain=keep)
        except (OSError, ProtocolError, DecodeError, TooLarge, UnicodeError) as error:
            failure = _explained(error, order, deadline)
        elapsed = loop.time() - began
        deadline.left -= elapsed
        exchange = _audit(order, at, waited, elapsed, answer, body, content, failure)
        peer = literal(answer.peer) if answer is not None and answer.peer else None
        private = order.request.proxy is None and peer is not None and is_private(peer)
        if failure is not None or answer is None:
            return Sent(exchange=exchange, failure=failure, private_peer=private)
        response = Response(
            url=order.hide(str(order.request.url)),
            status=answer.status,
            headers=answer.headers,
            body=content,
            received_at=self._clock.now(),
            elapsed=elapsed,
            bytes_wire=exchange.bytes_wire,
        )
        return Sent(exchange=exchange, response=response, private_peer=private)

    def _heed(self, key: str, response: Response, purpose: str) -> None:
        """Note what the host asks of us (CONDUCT rule 27); a page that is no failure ends its bad record."""
        wait = retry_after(response)
        now = response.received_at
        if response.status == 429:
            self._book.limited(key, now, wait)
        elif response.status == 503 and wait:
            self._book.hold(key, now + wait, "the host is unavailable (503) and names a time")
        if response.status < 500 and purpose != "robots":
            self._book.answered(key, limited=response.status == 429)


def _explained(error: BaseException, order: Order, deadline: Deadline) -> Failure:
    if type(error) is TimeoutError:
        error = TimeoutError(f"the {deadline.seconds:g} s this check may take are up")
    failure = failure_of(error, order.request.url)
    return msgspec.structs.replace(failure, message=order.hide(failure.message))


def _encodings(answer: Answer) -> Iterable[bytes]:
    """Statuses without a body have no coding to take off, whatever their headers say."""
    if answer.status != 200:
        return ()
    return [value for name, value in answer.headers if name.lower() == b"content-encoding"]


async def _read(answer: Answer, body: Body, order: Order, *, drain: bool) -> bytes:
    """The body of a 200, whole. Of anything else only what must be read to keep the connection."""
    if answer.status != 200:
        if drain or answer.status in (204, 304):
            async for piece in answer.pieces:
                body.wire += len(piece)
                if body.wire > DRAINED:
                    break
        return b""
    if not order.cut:
        body.announced([value for name, value in answer.headers if name.lower() == b"content-length"])
    try:
        async for piece in answer.pieces:
            body.feed(piece)
    except TooLarge:
        if not order.cut:
            raise
        return body.so_far(order.most)
    return body.finish()


def _audit(
    order: Order,
    at: float,
    waited: float,
    total: float,
    answer: Answer | None,
    body: Body | None,
    content: bytes,
    failure: Failure | None,
) -> Exchange:
    request = order.request
    timing = answer.timing if answer is not None else Timing()
    received = () if answer is None else answer.headers
    head = sum(len(name) + len(value) + 4 for name, value in received) + 19 if answer is not None else 0
    return Exchange(
        at=at,
        purpose=order.purpose,
        method=request.method,
        url=order.hide(str(request.url)),
        hop=order.hop,
        status=answer.status if answer is not None else None,
        conditional=order.conditional,
        sent=_texts(((n, v) for n, v in request.headers if n.lower() in CONDITIONS), order.hide),
        received=_texts(((n, v) for n, v in received if n.lower() in AUDITED), order.hide),
        peer=answer.peer if answer is not None else None,
        proxy=request.proxy.netloc if request.proxy is not None else None,
        http_version=answer.version if answer is not None else None,
        waited=round(waited, 3),
        dns=_rounded(timing.dns),
        connect=_rounded(timing.connect),
        first_byte=_rounded(timing.first_byte),
        total=round(total, 4),
        bytes_wire=head + (body.wire if body is not None else 0),
        bytes_body=len(content),
        coding=", ".join(body.codings) or None if body is not None else None,
        body_sha256=hashlib.sha256(content).hexdigest() if content else None,
        robots=order.robots,
        flags=order.flags,
        error=f"{failure.kind}: {failure.message}" if failure is not None else None,
    )


def _texts(lines: Iterable[tuple[bytes, bytes]], hide: Callable[[str], str]) -> tuple[tuple[str, str], ...]:
    texts = ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in lines)
    return tuple((name, hide(value)[:2048]) for name, value in texts)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 4)
