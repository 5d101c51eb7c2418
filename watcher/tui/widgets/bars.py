"""One-line bars: a title with something at its right, and the keys that work here."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.strip import Strip

from watcher.tui.ink import Ink, Line, cut, width
from watcher.tui.keys import Key
from watcher.tui.widgets.paint import Painted

SEPARATOR = "  "


class Bar(Painted):
    """One line: parts from the left, the last of them dropped where there is no room, and one part at the right."""

    DEFAULT_CSS = """
    Bar { height: 1; background: $panel; color: $foreground; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._parts: tuple[Line, ...] = ()
        self._right: Line = ()
        self._between = Ink(" ")

    def show(self, parts: Sequence[Line], right: Line = (), *, between: str = " ") -> None:
        """Show ``parts``, the more important first."""
        fresh = tuple(parts), tuple(right), Ink(between, "muted")
        if fresh != (self._parts, self._right, self._between):
            self._parts, self._right, self._between = fresh
            self.refresh()

    def line(self, cells: int) -> Line:
        """The bar as ink of at most ``cells`` cells."""
        right = self._right if width(self._right) + 2 < cells else ()
        room = cells - width(right) - (4 if right else 1)
        kept: list[Ink] = []
        for part in self._parts:
            more = [*((self._between,) if kept else ()), *part]
            if width(kept) + width(more) > room and kept:
                break
            kept += more
        left = (Ink(" "), *cut(kept, room))
        gap = cells - width(left) - width(right) - (1 if right else 0)
        return (*left, Ink(" " * gap), *right) if right else left

    def render_line(self, y: int) -> Strip:
        """The only line."""
        return self.strip(self.line(self.size.width), self.size.width)


class KeyBar(Painted):
    """The footer: as many keys as fit, the most useful first. A click works like the key."""

    DEFAULT_CSS = """
    KeyBar { height: 1; background: $panel; color: $foreground; dock: bottom; }
    """

    def __init__(self, entries: Sequence[tuple[Key, str]], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._entries = entries

    def use(self, entries: Sequence[tuple[Key, str]]) -> None:
        """Offer other keys."""
        if entries != self._entries:
            self._entries = entries
            self.refresh()

    def fitting(self, cells: int) -> list[tuple[Key, Line]]:
        """The entries that fit, each as ink."""
        found: list[tuple[Key, Line]] = []
        left = cells - 1
        for key, name in self._entries:
            line = (Ink(name, "key"), Ink(f" {key.label}"), Ink(SEPARATOR))
            if width(line) - len(SEPARATOR) > left:
                continue
            found.append((key, line))
            left -= width(line)
        return found

    def render_line(self, y: int) -> Strip:
        """The only line."""
        line = [ink for _, part in self.fitting(self.size.width) for ink in part]
        return self.strip([Ink(" "), *line], self.size.width)

    async def on_click(self, event: events.Click) -> None:
        """Do what the entry under the pointer does."""
        at = 1
        for key, line in self.fitting(self.size.width):
            if at <= event.x < at + width(line):
                await self.run_action(key.action if key.action != "command_palette" else "app.command_palette")
                return
            at += width(line)
