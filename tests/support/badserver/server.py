"""The server itself: reads requests exactly, finds the scenario, writes what it says byte for byte."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qsl, unquote

Lines = list[tuple[bytes, bytes]]

REASONS = {200: b"OK", 301: b"Moved Permanently", 302: b"Found", 304: b"Not Modified", 404: b"Not Found"}


@dataclass
class Seen:
    """One request as it arrived: ``at`` is the server clock's time, ``nth`` counts requests for this path."""

    at: float
    connection: int
    method: str
    target: str
    headers: Lines
    nth: int
    body: bytes = b""
    status: int = 0
    ended_at: float = 0.0

    @property
    def path(self) -> str:
        return unquote(self.target.partition("?")[0])

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(self.target.partition("?")[2], keep_blank_values=True))

    def all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.headers if key.lower() == name]

    def get(self, name: bytes) -> bytes | None:
        found = self.all(name)
        return found[0] if found else None

    @property
    def host(self) -> str:
        return (self.get(b"host") or b"").decode("latin-1").partition(":")[0]

    @property
    def conditional(self) -> bool:
        return bool(self.all(b"if-none-match") or self.all(b"if-modified-since"))


@dataclass
class Reply:
    """A response in parts. Date and Content-Length are added unless given or switched off."""

    status: int = 200
    headers: list[tuple[str, bytes | str]] = field(default_factory=list)
    body: bytes = b""
    length: bool = True
    close: bool = False
    before: float = 0.0
    drip: float = 0.0
    reason: bytes | None = None
    version: bytes = b"HTTP/1.1"


class Abort(Exception):
    """Drop the connection; with True as the argument by a TCP reset."""


Writer = asyncio.StreamWriter
Scenario = Callable[["BadServer", Seen, Writer], "Reply | Awaitable[Reply | None] | None"]
SCENARIOS: dict[str, Scenario] = {}


def scenario(prefix: str) -> Callable[[Scenario], Scenario]:
    """Register what answers at ``prefix`` and below it."""

    def register(function: Scenario) -> Scenario:
        SCENARIOS[prefix] = function
        return function

    return register


def tail(seen: Seen, prefix: str) -> list[str]:
    """What the path says after the scenario's own prefix."""
    rest = seen.path[len(prefix) :].strip("/")
    return rest.split("/") if rest else []


class BadServer:
    """Serves every scenario under every host name. ``now`` and ``sleep`` are the clock it lives by.

    ``robots`` maps a host name (or ``*``) to its robots.txt; without one it is 404. ``pages`` maps a path to a
    function of the request, before any scenario.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.now = now
        self.sleep = sleep
        self._tls = tls
        self.port = 0
        self.log: list[Seen] = []
        self.counts: defaultdict[str, int] = defaultdict(int)
        self.versions: defaultdict[str, int] = defaultdict(lambda: 1)
        self.validators: defaultdict[str, list[tuple[bytes | None, bytes | None]]] = defaultdict(list)
        self.robots: dict[str, Reply] = {}
        self.pages: dict[str, Callable[[Seen], Reply]] = {}
        self.connections = 0
        self.open = 0
        self.in_flight = 0
        self.most_in_flight: defaultdict[str, int] = defaultdict(int)
        self._now_in_flight: defaultdict[str, int] = defaultdict(int)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> BadServer:
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", 0, ssl=self._tls, limit=1 << 20, backlog=4096
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def requests(self, path: str | None = None, *, host: str | None = None) -> list[Seen]:
        """The requests for pages so far (robots.txt only when asked for by ``path``)."""
        return [
            seen
            for seen in self.log
            if (seen.path == path if path else seen.path != "/robots.txt") and host in (None, seen.host)
        ]

    def bump(self, name: str) -> None:
        """Move the page called ``name`` to its next version."""
        self.versions[name] += 1

    def date(self, delta: float = 0.0) -> bytes:
        return formatdate(self.now() + delta, usegmt=True).encode()

    def page(self, name: str) -> bytes:
        return f"<!doctype html><title>{name}</title><p>version {self.versions[name]}</p>\n".encode()

    def modified(self, name: str) -> bytes:
        return formatdate(1_600_000_000 + 3600 * self.versions[name], usegmt=True).encode()

    async def _accept(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        number = self.connections
        self.open += 1
        try:
            while await self._one(number, reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        except Abort as abort:
            if abort.args and abort.args[0]:
                sock = writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
        finally:
            self.open -= 1
            self._tasks.discard(task)
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    async def _one(self, number: int, reader: asyncio.StreamReader, writer: Writer) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head[:-4].split(b"\r\n")
        method, target, _ = first.decode("latin-1").split(" ", 2)
        headers = [(name, value.strip(b" \t")) for name, _, value in (line.partition(b":") for line in lines)]
        seen = Seen(self.now(), number, method, target, headers, 0)
        self.counts[seen.path] += 1
        seen.nth = self.counts[seen.path]
        seen.body = await reader.readexactly(int(seen.get(b"content-length") or 0))
        self.log.append(seen)
        async with self._counted(seen):
            reply = await self._find(seen, writer)
            if reply is None:
                self.validators[seen.path].append((None, None))
                await writer.drain()
                return False
            seen.status = reply.status
            self._note(seen, reply)
            await self._write(writer, reply, head_only=method == "HEAD")
        return not (reply.close or (seen.get(b"connection") or b"").lower() == b"close")

    def _counted(self, seen: Seen) -> _Counted:
        return _Counted(self, seen)

    async def _find(self, seen: Seen, writer: Writer) -> Reply | None:
        if seen.path == "/robots.txt" and "/robots.txt" not in self.pages:
            return self.robots.get(seen.host) or self.robots.get("*") or Reply(404, body=b"none\n")
        if seen.path in self.pages:
            return self.pages[seen.path](seen)
        fitting = (p for p in SCENARIOS if seen.path == p or seen.path.startswith(p.rstrip("/") + "/"))
        best = max(fitting, key=len, default=None)
        if best is None:
            return Reply(404, [("Content-Type", "text/plain")], b"no such scenario\n")
        found = SCENARIOS[best](self, seen, writer)
        return found if isinstance(found, Reply) or found is None else await found

    def _note(self, seen: Seen, reply: Reply) -> None:
        """Remember what validators this path last gave out, for :mod:`tests.support.badserver.score`."""
        given: dict[str, bytes] = {name.lower(): _bytes(value) for name, value in reply.headers}
        etag, date = given.get("etag"), given.get("last-modified")
        history = self.validators[seen.path]
        if reply.status == 304 and history:
            etag, date = etag or history[-1][0], date or history[-1][1]
        history.append((etag, date))

    async def _write(self, writer: Writer, reply: Reply, *, head_only: bool) -> None:
        if reply.before:
            await self.sleep(reply.before)
        names = {name.lower() for name, _ in reply.headers}
        lines = [reply.version + b" %d " % reply.status + (reply.reason or REASONS.get(reply.status, b"X"))]
        if "date" not in names:
            lines.append(b"Date: " + self.date())
        lines += [name.encode() + b": " + _bytes(value) for name, value in reply.headers]
        if reply.length and not names & {"content-length", "transfer-encoding"} and reply.status != 304:
            lines.append(b"Content-Length: %d" % len(reply.body))
        if reply.close:
            lines.append(b"Connection: close")
        writer.write(b"\r\n".join(lines) + b"\r\n\r\n")
        if not head_only:
            async for piece in _pieces(reply, self.sleep):
                writer.write(piece)
                await writer.drain()
        await writer.drain()


class _Counted:
    """How many requests each host name has in flight, at most."""

    def __init__(self, server: BadServer, seen: Seen) -> None:
        self._server = server
        self._seen = seen

    async def __aenter__(self) -> None:
        counts = self._server._now_in_flight
        counts[self._seen.host] += 1
        most = self._server.most_in_flight
        most[self._seen.host] = max(most[self._seen.host], counts[self._seen.host])

    async def __aexit__(self, *_: object) -> None:
        self._server._now_in_flight[self._seen.host] -= 1
        self._seen.ended_at = self._server.now()


async def _pieces(reply: Reply, sleep: Callable[[float], Awaitable[Any]]) -> AsyncIterator[bytes]:
    if not reply.drip:
        yield reply.body
        return
    for place in range(len(reply.body)):
        yield reply.body[place : place + 1]
        await sleep(reply.drip)


def _bytes(value: bytes | str) -> bytes:
    return value if isinstance(value, bytes) else value.encode("latin-1")
