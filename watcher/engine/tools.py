"""What a check is made with: the store, the fetcher, the clock, and a little chance."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from watcher.core.clock import Clock
from watcher.core.exchange import RequestPlan, Visit
from watcher.core.model import Finding, Watch
from watcher.core.settings import HostSettings
from watcher.core.urls import UrlError, parse_url
from watcher.engine.events import Checked
from watcher.fetch import Fetcher
from watcher.store import Entry, Store


@dataclass(frozen=True, slots=True)
class Tools:
    """Handed to every check. ``jitter`` gives the share of the interval (0 to 0.1) by which to come later.

    ``crowd`` counts the active watches that share a URL's host; ``tell`` publishes what is durable besides the check.
    """

    store: Store
    fetcher: Fetcher
    clock: Clock
    jitter: Callable[[], float]
    host_settings: Callable[[str], HostSettings]
    crowd: Callable[[str], int]
    tell: Callable[[Checked], None]

    async def visit(self, plan: RequestPlan, watch: Watch, *, has_record: bool) -> Visit:
        """Carry out ``plan`` for ``watch``, as its host's settings say."""
        settings = self.host_settings(watch.url)
        return await self.fetcher.visit(
            plan,
            watch.request,
            settings=settings,
            trusted_private=True if settings.private else None,
            has_record=has_record,
        )

    async def keep_body(self, body: bytes, older: str | None) -> str:
        """Save a body beside the one it follows, off the loop: it is on the disk before any line names it."""
        return await asyncio.to_thread(self.store.put_body, body, base=older)

    def floor(self, url: str) -> float:
        """Seconds below which no interval goes: the host's crawl delay times its watches (CONDUCT rule 34)."""
        try:
            host = self.store.host(parse_url(url).origin)
        except UrlError:
            return 0.0
        return (host.crawl_delay or 0.0) * self.crowd(url) if host else 0.0

    def learn(self, url: str, findings: Sequence[Finding]) -> None:
        """Keep for the whole host what one of its pages taught; it is persisted with the check's own line."""
        if findings:
            with suppress(UrlError):
                self.fetcher.hosts.learn(parse_url(url).origin, findings)

    def part(self) -> None:
        """Persist what of the hosts no check carried along: a few counts. Raises StoreError."""
        if hosts := tuple(self.fetcher.hosts.take_dirty(final=True)):
            self.store.append([Entry(hosts=hosts)])
