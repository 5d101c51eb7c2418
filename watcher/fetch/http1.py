"""HTTP/1.1 on one connection: h11 reads and writes the messages, this gives them to us piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import h11

from watcher.core.exchange import Headers
from watcher.fetch.net import ProtocolError, TimedOut, Wire

HEAD = 100 * 1024
"""Bytes a response's head may have."""

INTERIM = 20
"""1xx answers before the real one that are put up with."""


class Http1:
    """Requests on one connection, one after the other."""

    def __init__(self, wire: Wire, idle: float) -> None:
        self.wire = wire
        self._idle = idle
        self._state = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD)
        self._heard = False
        self.served = 0

    @property
    def reusable(self) -> bool:
        """Whether the last message ended cleanly and the peer keeps the connection open."""
        return (
            self._state.our_state is h11.DONE
            and self._state.their_state is h11.DONE
            and not self._state.trailing_data[0]
            and self.wire.usable
        )

    async def ask(
        self, method: bytes, target: bytes, headers: Sequence[tuple[bytes, bytes]], body: bytes
    ) -> tuple[int, bytes, Headers]:
        """Send a request; return the final answer's status, HTTP version and raw field lines.

        Raises ProtocolError, OSError, or TimedOut after ``idle`` seconds of silence.
        """
        if self.served:
            self._state.start_next_cycle()
        self.served += 1
        self._heard = False
        try:
            sent = self._state.send(h11.Request(method=method, target=target, headers=list(headers)))
        except h11.LocalProtocolError as error:
            raise ProtocolError(f"the request cannot be sent ({error})") from None
        message = [sent or b""]
        if body:
            message.append(self._state.send(h11.Data(data=body)) or b"")
        message.append(self._state.send(h11.EndOfMessage()) or b"")
        self.wire.send(b"".join(message))
        for _ in range(INTERIM):
            event = await self._event()
            if isinstance(event, h11.Response):
                lines = tuple(event.headers.raw_items())
                if sum(len(name) + len(value) + 4 for name, value in lines) > HEAD:
                    raise ProtocolError("the head of the answer is over 100 KiB")
                return event.status_code, b"HTTP/" + event.http_version, lines
            if not isinstance(event, h11.InformationalResponse):
                raise ProtocolError("the server closed the connection without an answer", self._heard)
        raise ProtocolError(f"more than {INTERIM} interim answers and no final one")

    async def piece(self) -> bytes | None:
        """The next piece of the body, content codings still on; None at its end. Raises as :meth:`ask` does."""
        event = await self._event()
        if isinstance(event, h11.Data):
            return bytes(event.data)
        if not isinstance(event, h11.EndOfMessage):
            raise ProtocolError("the body is cut short")
        return None

    async def _event(self) -> h11.Event | type[h11.PAUSED]:
        while True:
            try:
                event = self._state.next_event()
            except h11.RemoteProtocolError as error:
                raise ProtocolError(spoken(error), self._heard) from None
            if event is not h11.NEED_DATA:
                return event  # type: ignore[return-value]
            try:
                async with asyncio.timeout(self._idle):
                    data = await self.wire.receive()
            except TimeoutError:
                raise TimedOut(f"the server was silent for {self._idle:g} s") from None
            self._heard = self._heard or bool(data)
            self._state.receive_data(data)


def spoken(error: Exception) -> str:
    """What h11, or a library above it, found wrong with an answer: one clause."""
    told = str(error)
    if "closed connection" in told or "sending complete message" in told:
        return "the answer is cut short"
    if "too long" in told or getattr(error, "error_status_hint", 0) == 431:
        return "the head of the answer is over 100 KiB"
    return f"the answer is not valid HTTP ({told[:100]})"
