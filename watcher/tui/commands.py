"""The palette: every action with its key, every watch, every theme."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from watcher.tui import keys
from watcher.tui.desk import Goto, Room
from watcher.tui.keys import Key

NEVER = ("palette", "up", "down")
"""Actions that make no sense from inside the palette."""
MOST = 50
"""Watches offered at once."""


class Actions(Provider):
    """Everything a key of this screen does."""

    async def discover(self) -> Hits:
        """All of it, before anything is typed."""
        for text, key, spelled in self._offered():
            yield DiscoveryHit(text, partial(self._do, key), help=f"key {spelled}")

    async def search(self, query: str) -> Hits:
        """What matches ``query``."""
        matcher = self.matcher(query)
        for text, key, spelled in self._offered():
            score = matcher.match(f"{text} {key.label}")
            if score > 0:
                yield Hit(score, matcher.highlight(text), partial(self._do, key), text=text, help=f"key {spelled}")

    def _offered(self) -> Iterator[tuple[str, Key, str]]:
        room = self.screen
        if isinstance(room, Room):
            # What is particular to the screen comes first, moving about last.
            scopes = [*(scope for scope in room.SCOPES if scope != keys.ROWS), keys.ALL, *room.SCOPES]
            offered = [key for scope in dict.fromkeys(scopes) for key in keys.TABLE if key.scope == scope]
            for key in offered:
                if key.id not in NEVER:
                    yield key.help, key, " or ".join(keys.spelled_for(key, room.desk.keymap))

    async def _do(self, key: Key) -> None:
        if key.scope == keys.ALL:
            await self.app.run_action(key.action)
        elif key.scope == keys.ROWS:
            await self.app.run_action(key.action, default_namespace=self.screen.focused or self.screen)
        else:
            await self.app.run_action(key.action, default_namespace=self.screen)


class Watches(Provider):
    """Every watch by its name."""

    async def search(self, query: str) -> Hits:
        """The watches whose name matches ``query``, the best first."""
        room = self.screen
        if not isinstance(room, Room):
            return
        matcher = self.matcher(query)
        found = sorted(((matcher.match(name), name) for name in room.desk.handle.names()), reverse=True)
        for score, name in found[:MOST]:
            if score > 0:
                yield Hit(score, matcher.highlight(name), partial(self._go, name), text=name, help="go to this page")

    async def _go(self, name: str) -> None:
        self.screen.post_message(Goto(name))


class Themes(Provider):
    """Every theme, worn at once when chosen."""

    async def search(self, query: str) -> Hits:
        """The themes whose name matches ``query``."""
        matcher = self.matcher(query)
        for name in sorted(self.app.available_themes):
            text = f"Theme {name}"
            score = matcher.match(text)
            if score > 0:
                yield Hit(score, matcher.highlight(text), partial(self._wear, name), text=text, help="until you quit")

    async def _wear(self, name: str) -> None:
        self.app.theme = name
