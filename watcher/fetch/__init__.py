"""The polite client: bytes of pages, and how they were come by. Only this package talks to hosts.

Importing it loads no HTTP library; the first :class:`Transport` does.
"""

from __future__ import annotations

from watcher.fetch.hosts import HostBook
from watcher.fetch.net import Resolver
from watcher.fetch.pacing import Pacer
from watcher.fetch.transport import Transport
from watcher.fetch.visit import Fetcher, names_private

__all__ = ["Fetcher", "HostBook", "Pacer", "Resolver", "Transport", "names_private"]
