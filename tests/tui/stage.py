"""Opening a screen in a test, waiting without guessing how long, and reading what stands on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from tests.tui.support import ListHandle, read_shelf
from watcher import paths
from watcher.core.settings import ScreenSettings, Settings
from watcher.tui.app import WatcherApp
from watcher.tui.options import ScreenOptions

PATIENCE = 300
"""How often a condition is looked at, 10 ms apart at least."""


class Stage:
    """An open screen."""

    def __init__(self, app: WatcherApp, pilot: Pilot[int], handle: ListHandle) -> None:
        self.app = app
        self.pilot = pilot
        self.handle = handle

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that must become true."""
        for _ in range(PATIENCE):
            if condition():
                return
            await self.pilot.pause(0.01)
        raise AssertionError("it never became so; the screen says:\n" + self.text)

    async def until_it_says(self, *words: str) -> None:
        """Wait until all of ``words`` stand on the screen."""
        await self.until(lambda: all(word in self.text for word in words))

    @property
    def lines(self) -> list[str]:
        """The text of the screen."""
        strips = self.app.screen._compositor.render_strips(self.app.size)
        return [strip.text.rstrip() for strip in strips]

    @property
    def text(self) -> str:
        """The text of the screen in one."""
        return "\n".join(self.lines)

    @property
    def current(self) -> str | None:
        """The watch under the cursor."""
        return self.app.desk.current

    @property
    def toasts(self) -> list[str]:
        """What the toasts say."""
        return [": ".join(filter(None, (toast.title, toast.message))) for toast in self.app._notifications]

    @property
    def screen_name(self) -> str:
        """The class of the screen on top."""
        return type(self.app.screen).__name__


def with_screen(handle: ListHandle, **screen: Any) -> ListHandle:
    """The handle with other settings of the screen."""
    handle.settings = Settings(
        watches=handle.settings.watches, notify=handle.settings.notify, screen=ScreenSettings(**screen)
    )
    return handle


@asynccontextmanager
async def stage(handle: ListHandle, size: tuple[int, int] = (100, 30), **options: Any) -> AsyncIterator[Stage]:
    """Open the screen over ``handle``."""
    known: dict[str, Any] = {
        "themes": [paths.shipped_themes()],
        "save_watches": lambda watches: None,
        "try_fields": read_shelf,
        "tick": 3600.0,
    }
    app = WatcherApp(handle, ScreenOptions(**{**known, **options}))
    async with app.run_test(size=size) as pilot:
        opened = Stage(app, pilot, handle)
        await pilot.pause()
        yield opened
