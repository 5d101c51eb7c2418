"""The polite client: bytes of pages, and how they were come by. Only this package talks to hosts.

Importing it loads no HTTP library; touching :class:`Transport` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from watcher.fetch.hosts import HostBook
from watcher.fetch.net import Resolver
from watcher.fetch.pacing import Pacer
from watcher.fetch.visit import Fetcher, names_private

if TYPE_CHECKING:
    from watcher.fetch.transport import AnyTransport, Transport

__all__ = ["AnyTransport", "Fetcher", "HostBook", "Pacer", "Resolver", "Transport", "names_private"]


def __getattr__(name: str) -> object:
    if name not in ("AnyTransport", "Transport"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from watcher.fetch import transport

    return getattr(transport, name)
