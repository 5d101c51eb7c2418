"""What every screen is handed: the engine's handle, the options, the list behind the list, and how to draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from textual.message import Message
from textual.screen import Screen

from watcher.engine.handle import Handle
from watcher.tui import keys
from watcher.tui.board import Board
from watcher.tui.bridge import Batch
from watcher.tui.options import ScreenOptions
from watcher.tui.past import Past
from watcher.tui.signs import Signs, signs
from watcher.tui.widgets.bars import KeyBar


@dataclass
class Desk:
    """The things on the desk. ``current`` is the watch all screens speak of."""

    handle: Handle
    options: ScreenOptions
    board: Board
    past: Past
    current: str | None = None
    draining: int | None = None
    failure: str = ""
    _signs: Signs | None = field(default=None, repr=False)

    @property
    def signs(self) -> Signs:
        """The characters to draw with."""
        if self._signs is None:
            self._signs = signs(self.handle.settings.screen.ascii)
        return self._signs

    @property
    def keymap(self) -> Mapping[str, str]:
        """The keys the user moved."""
        return self.handle.settings.screen.keys

    def forget_settings(self) -> None:
        """The settings may be others now."""
        self._signs = None


class Goto(Message):
    """Someone wants to see the watch called ``name``."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Room(Screen[None]):
    """A screen of ours: told what happens, asked to step back, with its keys in the footer."""

    SCOPES: tuple[str, ...] = ()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk

    def footer(self) -> KeyBar:
        """The line of keys."""
        return KeyBar(keys.footer(self.SCOPES, self.desk.keymap))

    def take(self, batch: Batch) -> None:
        """Show what happened."""

    def tick(self) -> None:
        """Show what the passing of time changes."""

    def step_back(self) -> bool:
        """Undo the last thing escape can undo here; False when there is nothing and the screen itself should go."""
        return False

    def say(self, message: str, *, wrong: bool = False) -> None:
        """A sentence for the user, in a toast."""
        self.notify(message, severity="error" if wrong else "information", markup=False)
