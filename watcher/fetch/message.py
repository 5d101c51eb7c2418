"""A request and its answer as ``fetch`` sees them, free of any HTTP library's objects."""

from __future__ import annotations

from collections.abc import AsyncIterable

import msgspec

from watcher.core.exchange import Headers
from watcher.core.urls import Url


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


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The head of an answer; ``pieces`` is its body as it comes off the wire, content codings still on."""

    status: int
    version: str
    headers: Headers
    peer: str | None
    timing: Timing
    pieces: AsyncIterable[bytes]
