"""A small site, a clock and a store, and the engine over them."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.clock import FakeClock
from tests.support.server import Server
from tests.support.wire import Spec
from watcher.core.model import Cadence, Field, Watch
from watcher.core.settings import HostSettings, Settings
from watcher.engine.engine import Engine
from watcher.fetch import Transport
from watcher.store import Store

HOUR = 3600.0
HTML = {"Content-Type": "text/html; charset=utf-8"}


def page(title: str, price: str = "10.00", **headers: str) -> Spec:
    """A shop page; header names are given with underscores."""
    extra = {name.replace("_", "-"): value for name, value in headers.items()}
    body = f"<html><body><h1>{title}</h1><p class='price'>{price}</p></body></html>"
    return {"status": 200, "headers": {**HTML, **extra}, "body": body}


@dataclass
class World:
    """Everything a test needs at hand."""

    clock: FakeClock
    server: Server
    store: Store
    root: Path

    def watch(self, path: str, name: str | None = None, origin: int = 0, **changes: Any) -> Watch:
        """A watch of title and price, every hour."""
        fields = (Field(name="title", css="h1"), Field(name="price", css=".price"))
        known: dict[str, Any] = {"fields": fields, "cadence": Cadence(minimum=600.0, interval=HOUR), **changes}
        url = f"http://127.0.0.1:{self.server.ports[origin]}{path}"
        return Watch(name=name or path.strip("/"), url=url, **known)

    def engine(self, *watches: Watch, **options: Any) -> Engine:
        """An engine over these watches, its jitter from a fixed seed."""
        host = options.pop("host", HostSettings())
        settings = Settings(watches=watches, host_default=host)
        return Engine(settings, self.store, self.clock, Transport(), chance=random.Random(7), **options)

    def answers(self, path: str, *specs: Spec, origin: int = 0) -> None:
        """What this path says, one after the other; the last one stays."""
        self.server.answers[(origin, path)] = list(specs)

    def reopen(self) -> None:
        """Close the store and open it again, as a restart does."""
        self.store.close()
        self.store = Store.open(self.root, now=self.clock.now)


Play = Callable[[Callable[[World], Awaitable[None]]], None]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Run a test's coroutine in virtual time over real sockets and files."""
    clock = FakeClock()

    @asynccontextmanager
    async def world() -> AsyncIterator[World]:
        async with Server(clock.now, clock.sleep) as server:
            made = World(clock, server, Store.open(tmp_path / "data", now=clock.now), tmp_path / "data")
            try:
                yield made
            finally:
                made.store.close()

    def run(test: Callable[[World], Awaitable[None]]) -> None:
        async def main() -> None:
            async with world() as made:
                await test(made)

        clock.run(main())

    return run
