"""A loopback site that answers as it is told, and remembers every request exactly.

Answers are descriptions (see :mod:`tests.support.wire`). A path has one answer, or a sequence of them whose last one
stays. ``/robots.txt`` is 404 unless given. The site has two origins or more: the same host on as many ports.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from tests.support import wire
from tests.support.wire import Spec

CONDITIONS = (b"if-none-match", b"if-modified-since", b"if-match", b"if-unmodified-since", b"if-range")
NOT_FOUND: Spec = {"status": 404, "headers": {"Content-Type": "text/plain"}, "body": "not here\n"}


@dataclass(frozen=True)
class Request:
    """One request as it came: the target as sent, the field lines as bytes, when, on which connection.

    ``answer`` is what it was answered with, ``ended_at`` holds when that was through.
    """

    origin: int
    method: str
    target: str
    headers: tuple[tuple[bytes, bytes], ...]
    at: float
    connection: int
    answer: Spec = field(default_factory=dict, compare=False)
    ended_at: list[float] = field(default_factory=list, compare=False)

    def header(self, name: str) -> str | None:
        """The field's value as latin-1 text, lines joined by a comma, or None."""
        found = [value for key, value in self.headers if key.lower() == name.lower().encode("ascii")]
        return b", ".join(found).decode("latin-1") if found else None

    @property
    def conditional(self) -> bool:
        return any(name.lower() in CONDITIONS for name, _ in self.headers)


class Server:
    """Origins on ports of ``127.0.0.1``. ``answers`` maps ``(origin, target)`` to the answers still to be given."""

    def __init__(self, now: Callable[[], float], sleep: Callable[[float], Any], origins: int = 2) -> None:
        self._now = now
        self._sleep = sleep
        self._origins = origins
        self._servers: list[asyncio.Server] = []
        self._handlers: set[asyncio.Task[None]] = set()
        self._connections = 0
        self.ports: list[int] = []
        self.answers: dict[tuple[int, str], list[Spec]] = {}
        self.fallback: Spec = NOT_FOUND
        self.log: list[Request] = []
        self.in_flight = 0
        self.problems: list[str] = []
        self.ipv6 = False

    async def __aenter__(self) -> Server:
        for origin in range(self._origins):
            server = await asyncio.start_server(self._accept(origin), "127.0.0.1", 0, limit=1 << 20)
            self.ports.append(server.sockets[0].getsockname()[1])
            self._servers.append(server)
        try:
            six = await asyncio.start_server(self._accept(0), "::1", self.ports[0], limit=1 << 20)
        except OSError:
            return self
        self.ipv6 = True
        self._servers.append(six)
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()
        for task in self._handlers:
            task.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        for server in self._servers:
            await server.wait_closed()

    @property
    def names(self) -> dict[str, str]:
        """What ``{base}``, ``{base2}``, ``{host}`` and ``{port}`` stand for."""
        first, second = self.ports[:2]
        return {
            "base": f"http://127.0.0.1:{first}",
            "base2": f"http://127.0.0.1:{second}",
            "host": "127.0.0.1",
            "port": str(first),
            "port2": str(second),
        }

    def locate(self, path: str) -> tuple[int, str]:
        """``/x``, ``{base}/x`` or ``{base2}/x`` as an origin and a target."""
        for origin, prefix in ((1, "{base2}"), (0, "{base}"), (1, self.names["base2"]), (0, self.names["base"])):
            if path.startswith(prefix):
                return origin, path[len(prefix) :] or "/"
        return 0, path

    def script(self, answers: Mapping[str, Spec | Iterable[Spec]]) -> None:
        """Replace every answer. A sequence's last answer stays."""
        self.answers = {
            self.locate(path): [spec] if isinstance(spec, Mapping) else list(spec) for path, spec in answers.items()
        }

    def requests(self, path: str) -> list[Request]:
        """The logged requests for ``path`` (see :meth:`locate`), oldest first."""
        origin, target = self.locate(path)
        return [request for request in self.log if (request.origin, request.target) == (origin, target)]

    def _accept(self, origin: int) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._handlers.add(task)
            self._connections += 1
            try:
                await self._serve(origin, self._connections, reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            except wire.Unsupported as problem:
                self.problems.append(str(problem))
            finally:
                self._handlers.discard(task)
                writer.close()
                await asyncio.gather(writer.wait_closed(), return_exceptions=True)

        return serve

    async def _serve(
        self, origin: int, connection: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        keep = True
        while keep:
            received = await reader.readuntil(b"\r\n\r\n")
            request = _parse(received, origin, self._now(), connection)
            request = replace(request, answer=self._choose(request))
            self.log.append(request)
            self.in_flight += 1
            try:
                keep = await self._answer(request, writer)
            finally:
                self.in_flight -= 1
                request.ended_at.append(self._now())

    def _choose(self, request: Request) -> Spec:
        queue = self.answers.get((request.origin, request.target))
        if queue is None:
            return NOT_FOUND if request.target == "/robots.txt" else self.fallback
        spec = queue.pop(0) if len(queue) > 1 else queue[0]
        if request.header("cookie") is not None and "if_cookie" in spec:
            return cast(Spec, spec["if_cookie"])
        return cast(Spec, spec.get("if_conditional" if request.conditional else "if_unconditional", spec))

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Play one answer. Returns whether the connection stays open."""
        spec = request.answer
        behaviour = spec.get("behaviour", "normal")
        play = getattr(self, f"_play_{behaviour}", None)
        if play is None:
            raise wire.Unsupported(f"behaviour {behaviour!r}")
        await play(spec, writer)
        return bool(spec.get("keep_alive"))

    async def _play_normal(self, spec: Spec, writer: asyncio.StreamWriter) -> None:
        names, now = self.names, self._now()
        if "generate" in spec:
            writer.write(wire.head(spec, names, now, None))
            await self._pour(wire.stream(spec["generate"]), writer)
            return
        body = wire.body_of(spec, names, now)
        writer.write(wire.head(spec, names, now, len(body)) + body)
        await writer.drain()

    async def _play_raw(self, spec: Spec, writer: asyncio.StreamWriter) -> None:
        writer.write(wire.raw_of(spec, self.names, self._now()))
        await writer.drain()

    async def _play_truncate(self, spec: Spec, writer: asyncio.StreamWriter) -> None:
        """Close early: after the whole body when a greater Content-Length is given, else after half of it."""
        names, now = self.names, self._now()
        body = wire.body_of(spec, names, now)
        given = any(name.lower() == "content-length" for name in spec.get("headers", {}))
        writer.write(wire.head(spec, names, now, len(body)) + (body if given else body[: len(body) // 2]))
        await writer.drain()

    async def _play_endless(self, spec: Spec, writer: asyncio.StreamWriter) -> None:
        names, now = self.names, self._now()
        piece = (wire.body_of(spec, names, now) or b"x") * 1_000
        writer.write(wire.head(spec, names, now, None))
        await self._pour(iter(lambda: piece, None), writer)

    async def _play_reset(self, spec: Spec, writer: asyncio.StreamWriter) -> None:
        """Close with a TCP reset, before the status line."""
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async def _play_drip(self, spec: Spec, writer: asyncio.StreamWriter) -> None:
        drip = spec.get("drip", {})
        names, now = self.names, self._now()
        body = wire.body_of(spec, names, now)
        forever, in_headers = bool(drip.get("forever")), drip.get("where") == "headers"
        start = wire.head(spec, names, now, None if forever else len(body))
        message = start + body if in_headers else body
        if not in_headers:
            writer.write(start)
        count, pause = int(drip.get("bytes", 1)), wire.seconds(str(drip.get("every", "1s")))
        for position in range(0, len(message), count):
            writer.write(message[position : position + count])
            await writer.drain()
            await self._sleep(pause)
        while forever:
            writer.write(b" " * count)
            await writer.drain()
            await self._sleep(pause)

    async def _pour(self, pieces: Iterable[bytes], writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)


def _parse(received: bytes, origin: int, at: float, connection: int) -> Request:
    lines = received.decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ", 2)
    headers = []
    for line in lines[1:]:
        if line:
            name, _, value = line.partition(":")
            headers.append((name.encode("latin-1"), value.strip(" \t").encode("latin-1")))
    return Request(origin, method, target, tuple(headers), at, connection)
