"""Sockets: names to addresses on threads of our own, the address guard, and one connection as bytes in and out."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor, Future
from ipaddress import IPv4Address, IPv6Address, ip_address
from ssl import SSLContext
from typing import Any, TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""Host name and port to addresses as text, best first. Raises OSError for a name that has none."""

LOOKUPS = 64
"""Names looked up at once. A name server that hangs may hold a thread of these, but nobody else's."""

EYEBALL = 0.25
"""Seconds until the next address is tried beside a silent one (RFC 8305 section 5)."""

BUFFERED = 256 * 1024
"""Unread bytes of one connection above which its socket is no longer read."""


class AddressRefused(OSError):
    """A name led to an address that this watch may not talk to (CONDUCT rule 40)."""


class ProtocolError(Exception):
    """What came is not HTTP, or not a whole message. ``heard`` is False when not one byte of an answer came."""

    def __init__(self, message: str, heard: bool = True) -> None:
        super().__init__(message)
        self.heard = heard


class TimedOut(TimeoutError):
    """The peer was silent for too long; ``str()`` says at what."""


class _Threads(Executor):
    """Daemon threads: a lookup that hangs for minutes must not keep the program from ending."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, name="lookup", daemon=True).start()
        return future


class SystemResolver:
    """``getaddrinfo`` away from the event loop's own few threads, so that hung names stop nobody else."""

    def __init__(self) -> None:
        self._threads = _Threads()
        self._room = asyncio.Semaphore(LOOKUPS)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        await self._room.acquire()
        loop = asyncio.get_running_loop()
        lookup = loop.run_in_executor(self._threads, _addresses, host, port)
        # The place is given back when the thread ends, not when its caller stops waiting.
        lookup.add_done_callback(self._done)
        return await asyncio.shield(lookup)

    def _done(self, lookup: asyncio.Future[Sequence[str]]) -> None:
        self._room.release()
        if not lookup.cancelled():
            lookup.exception()


def _addresses(host: str, port: int) -> Sequence[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def literal(host: str) -> Address | None:
    """The address that ``host`` is (brackets allowed), or None for a name."""
    if not (host[:1].isdigit() or ":" in host):
        return None
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None


def is_private(address: Address) -> bool:
    """Whether ``address`` is not on the public Internet, looking through IPv4-mapped, 6to4 and NAT64 forms."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address.packed[:12] == b"\x00\x64\xff\x9b" + bytes(8):
            inner = IPv4Address(address.packed[12:])
        if inner is not None:
            return is_private(inner)
    return not address.is_global or address.is_multicast


class Wire(asyncio.Protocol):
    """One connection. :meth:`receive` gives bytes as they come, ``b""`` at the end, or raises OSError."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._ended = False
        self._lost: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self.secured = False

    @property
    def transport(self) -> asyncio.Transport:
        assert self._transport is not None
        return self._transport

    @property
    def usable(self) -> bool:
        """Whether an idle connection may carry another request: open, and nothing came unasked."""
        return not (self._ended or self._lost or self._pieces or self.transport.is_closing())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._pieces.append(data)
        self._size += len(data)
        if self._size > BUFFERED:
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self._ended = True
        self._wake()
        return not self.secured

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._lost = exc
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def get_extra_info(self, name: str) -> Any:
        """What httpx asks of a ``network_stream``: ``server_addr``, ``client_addr`` or ``ssl_object``."""
        return self.transport.get_extra_info({"server_addr": "peername", "client_addr": "sockname"}.get(name, name))

    def send(self, data: bytes) -> None:
        """Send ``data``; what the peer does not take at once waits in memory."""
        self.transport.write(data)

    async def receive(self) -> bytes:
        """The next bytes; ``b""`` when the peer has closed. Raises OSError when the connection broke."""
        while not self._pieces:
            if self._lost is not None:
                raise self._lost
            if self._ended:
                return b""
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        piece = self._pieces.popleft()
        if self._size > BUFFERED >= self._size - len(piece) and not self._ended:
            self.transport.resume_reading()
        self._size -= len(piece)
        return piece

    def close(self) -> None:
        """Drop the connection at once; whatever is still on its way is not wanted."""
        self.transport.abort()


async def connect(addresses: Sequence[str], port: int, tls: SSLContext | None, name: str | None) -> Wire:
    """A connection to the first of ``addresses`` that answers, TLS included. Raises the first address's OSError."""
    if len(addresses) == 1:
        return await _connect(addresses[0], port, tls, name)
    pending: set[asyncio.Task[Wire]] = set()
    errors: list[BaseException] = []
    waiting = list(addresses)
    try:
        while waiting or pending:
            if waiting:
                pending.add(asyncio.create_task(_connect(waiting.pop(0), port, tls, name)))
            done, pending = await asyncio.wait(
                pending, timeout=EYEBALL if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                if (error := task.exception()) is None:
                    return task.result()
                errors.append(error)
    finally:
        for task in pending:
            task.cancel()
            task.add_done_callback(_close_late)
    raise errors[0]


async def _connect(address: str, port: int, tls: SSLContext | None, name: str | None) -> Wire:
    loop = asyncio.get_running_loop()
    _, wire = await loop.create_connection(Wire, address, port, ssl=tls, server_hostname=name if tls else None)
    wire.secured = tls is not None
    return wire


def _close_late(task: asyncio.Task[Wire]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().close()
