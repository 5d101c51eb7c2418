"""The whole program in a directory of its own, on the fake clock, facing the scripted server."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import tomli_w

from tests.replay.watches import Table
from tests.support.clock import running_clock
from tests.support.server import Server
from watcher import config
from watcher.core.settings import Settings
from watcher.core.state import UrlState
from watcher.engine.engine import Engine
from watcher.engine.events import Checked
from watcher.fetch import Transport
from watcher.store import Store


def load_settings(root: Path, tables: Sequence[Table] | None = None, **more: Any) -> Settings:
    """Read ``root/config.toml``, written first from ``[[watch]]`` ``tables`` and further top-level tables if given."""
    path = root / "config.toml"
    if tables is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(tomli_w.dumps({**more, "watch": list(tables)}), encoding="utf-8")
    return config.load(path)


def strict_json(line: str) -> Any:
    """Parse one JSON text as RFC 8259 has it: no NaN, no Infinity."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    return json.loads(line, parse_constant=refuse)


class World:
    """Server, store and engine together. ``tables`` are the ``[[watch]]`` tables, ``more`` the rest of the config."""

    def __init__(self, root: Path, origins: int = 2) -> None:
        self.root = root
        self.data = root / "data"
        self.clock = running_clock()
        self.server = Server(self.clock.now, self.clock.sleep, origins)
        self.tables: list[Table] = []
        self.more: dict[str, Any] = {}
        self.engine: Engine | None = None
        self._store: Store | None = None
        self._transport: Transport | None = None

    async def __aenter__(self) -> World:
        await self.server.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()
        await self.server.__aexit__(*exc)

    @property
    def store(self) -> Store:
        assert self._store is not None, "the world is not started"
        return self._store

    async def start(self) -> None:
        """Load the configuration, open the store and stand the engine up. Nothing is checked yet."""
        settings = load_settings(self.root, self.tables, **self.more)
        self._store = Store.open(self.data, now=self.clock.now)
        self._transport = Transport()
        self.engine = Engine(settings, self._store, self.clock, self._transport)

    async def stop(self) -> None:
        """Drain the engine and close everything."""
        if self.engine is not None:
            await self.engine.stop()
        if self._transport is not None:
            await self._transport.aclose()
        if self._store is not None:
            self._store.close()
        self.engine = self._store = self._transport = None

    async def restart(self) -> None:
        """Stop and start over the same data."""
        await self.stop()
        await self.start()

    async def crash(self) -> None:
        """Start over what was on disk at this instant, as after kill -9: nothing of a clean end gets into it."""
        left = self.root / "left-by-kill"
        shutil.copytree(self.data, left)
        await self.stop()
        shutil.rmtree(self.data)
        left.rename(self.data)
        await self.start()

    async def check(self, *names: str, force: bool = False, all: bool = True) -> list[Checked]:
        """One pass over ``names`` (every watch when empty), due or not; what the engine told."""
        assert self.engine is not None
        return await self.engine.check_once(names or None, force=force, all=all)

    def state(self, name: str) -> UrlState | None:
        return self.store.state(name)

    def assert_store_is_strict(self, where: str) -> None:
        """Every line on disk is strict JSON and ends with a line end."""
        for path in sorted(self.data.rglob("*.jsonl")):
            raw = path.read_bytes()
            assert raw.endswith(b"\n") or not raw, f"{where}: {path.name} does not end with a line end"
            for number, line in enumerate(raw.decode("utf-8").splitlines(), 1):
                try:
                    strict_json(line)
                except ValueError as error:
                    raise AssertionError(f"{where}: {path.name}:{number} is not strict JSON: {error}") from None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The engine's loop runs while the block does, and drains at its end."""
        assert self.engine is not None
        task = asyncio.create_task(self.engine.run())
        try:
            yield
        finally:
            await self.engine.stop()
            await task
