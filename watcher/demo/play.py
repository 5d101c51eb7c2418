"""The demo put together: town, clock, configuration and engine over a directory that is gone afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from watcher import config
from watcher.core.clock import Clock
from watcher.core.phrase import HOUR
from watcher.core.settings import Settings
from watcher.demo.clock import DemoClock
from watcher.demo.site import HOSTS, Site
from watcher.engine.engine import Engine
from watcher.fetch import Transport
from watcher.store import Store

EDIT_AT = 90.0
"""Hours into the demo at which somebody adds a field to the barometer's watch: what ``redefined`` looks like."""

EDITED = ('stock = ".stock"', 'stock = ".stock"\nrating = ".rating"')
PLACE = 'name = "Brass barometer"'


def settings_text(port: int) -> str:
    """The demo's configuration as it stands at first."""
    text = (files("watcher.demo") / "config.toml").read_text(encoding="utf-8")
    return text.replace("{port}", str(port))


def edited(text: str) -> str:
    """The same after the edit."""
    before, found, after = text.partition(PLACE)
    return before + found + after.replace(*EDITED, 1)


async def resolve(host: str, port: int) -> Sequence[str]:
    """The town's names lead to this machine; no other name leads anywhere. Raises OSError."""
    if host in HOSTS:
        return ("127.0.0.1",)
    raise OSError(f"{host} is not in the demo")


@asynccontextmanager
async def demo(clock: Clock | None = None) -> AsyncIterator[Engine]:
    """The engine over the town, ready to run. Its data lies in a temporary directory, removed at the end."""
    clock = clock or DemoClock()
    began = clock.monotonic()
    async with AsyncExitStack() as stack:
        root = Path(stack.enter_context(TemporaryDirectory(prefix="watcher-demo-")))
        site = await stack.enter_async_context(Site(clock.now))
        text = settings_text(site.port)
        settings = config.parse(text, root / "config.toml")
        store = stack.enter_context(Store.open(root / "data", durability="os", now=clock.now))
        transport = Transport(resolver=resolve, guard=False)
        stack.push_async_callback(transport.aclose)
        later = config.parse(edited(text), root / "config.toml")
        reload = _edit_once(later, lambda: clock.monotonic() - began >= EDIT_AT * HOUR)
        engine = Engine(settings, store, clock, transport, reload=reload, reload_period=HOUR)
        stack.push_async_callback(engine.stop)
        yield engine


def _edit_once(later: Settings, due: Callable[[], bool]) -> Callable[[], Settings | None]:
    waiting = [later]
    return lambda: waiting.pop() if waiting and due() else None
