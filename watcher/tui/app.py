"""The application: opens screens, carries events to them, wears a theme, and ends in order."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textual._styles_cache import StylesCache
from textual.app import App
from textual.command import Provider
from textual.screen import Screen
from textual.worker import WorkerFailed

from watcher.engine.bus import Subscription
from watcher.engine.handle import Handle
from watcher.tui import keys, themes
from watcher.tui.board import Board
from watcher.tui.bridge import Batch, carry
from watcher.tui.desk import Desk, Goto, Room
from watcher.tui.notices import Notices
from watcher.tui.options import ScreenOptions
from watcher.tui.past import Past
from watcher.tui.screens.watches import WatchesScreen

PLAIN = "terminal"
"""The theme worn when colours are not wanted: it uses the terminal's own and leaves the rest to attributes."""


def _actions() -> type[Provider]:
    from watcher.tui.commands import Actions

    return Actions


def _watches() -> type[Provider]:
    from watcher.tui.commands import Watches

    return Watches


def _themes() -> type[Provider]:
    from watcher.tui.commands import Themes

    return Themes


class WatcherApp(App[int]):
    """The screen over one handle. It owns nothing that must survive it."""

    TITLE = "watcher"
    CSS_PATH = "app.tcss"
    COMMANDS = {_actions, _watches, _themes}  # noqa: RUF012 - Textual's own declaration is mutable
    BINDINGS = keys.bindings(keys.ALL)
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (18, "-short"), (30, "-tall")]  # noqa: RUF012

    def __init__(self, handle: Handle, options: ScreenOptions) -> None:
        self.colourless = bool(os.environ.get("NO_COLOR"))
        with _without_empty_no_color():
            super().__init__(ansi_color=True if self.colourless else None)
        self.desk = Desk(handle=handle, options=options, board=Board(handle), past=Past(handle))
        self.notices = Notices(self)
        self._theme_stamps: dict[Path, float] = {}
        self._leaving = False
        self._problems: list[str] = []
        self._load_themes()
        self._use_settings()

    # -- themes and settings

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own colours for themes that do not know them."""
        return themes.variable_defaults(self.current_theme)

    def _load_themes(self) -> None:
        self._theme_stamps = themes.stamps(self.desk.options.themes)
        found, problems = themes.load_themes(self.desk.options.themes)
        for theme in found.values():
            self.register_theme(theme)
        self._problems += problems

    def _reload_themes(self) -> None:
        """Wear the user's own theme anew when its file was written."""
        if themes.stamps(self.desk.options.themes) == self._theme_stamps:
            return
        self._load_themes()
        if self.theme in self.available_themes:
            self._watch_theme(self.theme)
        self._tell_problems()

    def _use_settings(self) -> None:
        screen = self.desk.handle.settings.screen
        self.desk.forget_settings()
        wanted = PLAIN if self.colourless else screen.theme
        if wanted not in self.available_themes:
            known = themes.FALLBACK if themes.FALLBACK in self.available_themes else "textual-dark"
            if not self.colourless:
                self._problems.append(f"There is no theme called {wanted!r}; {known} is used instead.")
            wanted = known if not self.colourless else "ansi-dark"
        self.theme = wanted
        self.set_class(screen.ascii, "-ascii")
        for strange in keys.unknown(screen.keys):
            self._problems.append(f"[keys] {strange}: there is no such action; ? lists them all.")
        self.set_keymap({**screen.keys})

    def _tell_problems(self) -> None:
        for sentence in self._problems:
            self.notify(sentence, severity="error", timeout=12, markup=False)
        self._problems.clear()

    # -- life

    def get_default_screen(self) -> Screen[Any]:
        """The list of watches is always at the bottom of the stack."""
        return WatchesScreen(self.desk)

    def on_mount(self) -> None:
        """Begin to listen, and to look at the clock."""
        self.notices.keep_title()
        self.run_worker(self._listen(), group="bridge", exit_on_error=True)
        self.set_interval(self.desk.options.tick, self._tick)
        self._tell_problems()
        self.notices.title(self.desk.board.unseen)

    async def _listen(self) -> None:
        with self.desk.handle.subscribe() as subscription:
            await self._carry(subscription)

    async def _carry(self, subscription: Subscription) -> None:
        await carry(subscription, self.take)

    def take(self, batch: Batch) -> None:
        """Show a batch of events on every open screen."""
        desk = self.desk
        if batch.draining is not None:
            desk.draining = batch.draining
        if batch.failure is not None:
            desk.failure = batch.failure.message
        elif batch.checked:
            desk.failure = ""
        if batch.reloaded:
            self._reloaded(batch)
        desk.past.add(event.check for event in batch.checked)
        if batch.lost or batch.reloaded:
            desk.board.load()
        else:
            desk.board.touch(batch.moved)
        for screen in self.screen_stack:
            # One that is still being built shows everything once it stands.
            if isinstance(screen, Room) and screen.is_mounted:
                screen.take(batch)
        self.notices.tell(batch.checked, desk.handle.settings.notify, desk.handle.now())
        self.notices.title(desk.board.unseen)

    def _reloaded(self, batch: Batch) -> None:
        for event in batch.reloaded:
            for error in event.errors:
                self.notify(error, title="The old configuration stays in force", severity="error", markup=False)
            if not event.errors:
                moved = (("added", event.added), ("removed", event.removed), ("edited", event.edited))
                counts = [f"{len(names)} {word}" for word, names in moved if names]
                self.notify(f"Configuration read again{': ' if counts else ''}{', '.join(counts)}", markup=False)
        self._use_settings()
        self._tell_problems()

    def _tick(self) -> None:
        # Textual remembers colours per widget, and with them the last 1,024 widgets that are gone, paint and all.
        StylesCache.get_inner_outer.cache_clear()
        self._reload_themes()
        # The last tick may come when the screens are gone already.
        for screen in self.screen_stack[-1:]:
            if isinstance(screen, Room):
                screen.tick()

    # -- what keys do everywhere

    def action_show(self, name: str) -> None:
        """Go to a screen by its name."""
        if name == "watches":
            self._only_watches()
            return
        room = self._room(name)
        if room is None or type(self.screen) is type(room):
            return
        if len(self.screen_stack) == 1:
            self.push_screen(room)
        elif isinstance(self.screen, Room):
            self.switch_screen(room)

    def _room(self, name: str) -> Room | None:
        # Imported when first opened: the list is painted without waiting for them.
        desk = self.desk
        if name == "diff":
            if desk.current is None:
                return None
            from watcher.tui.screens.diff import DiffScreen

            return DiffScreen(desk, desk.current)
        if name == "numbers":
            from watcher.tui.screens.numbers import NumbersScreen

            return NumbersScreen(desk)
        from watcher.tui.screens.activity import ActivityScreen

        return ActivityScreen(desk)

    def _only_watches(self) -> None:
        while len(self.screen_stack) > 1:
            self.pop_screen()

    def action_help(self) -> None:
        """The keys of this screen."""
        from watcher.tui.screens.help import HelpScreen

        if isinstance(self.screen, Room) and not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.desk, self.screen.SCOPES))

    async def action_back(self) -> None:
        """One step back."""
        self._step_back()

    def _step_back(self) -> None:
        screen = self.screen
        if isinstance(screen, Room) and screen.step_back():
            return
        if len(self.screen_stack) > 1:
            self.pop_screen()

    def action_leave(self) -> None:
        """Quit from the list, go back from elsewhere."""
        if len(self.screen_stack) > 1 and not self._leaving:
            self._step_back()
        elif self.desk.handle.settings.screen.confirm_quit and not self._leaving:
            from watcher.tui.screens.confirm import Confirm

            self.push_screen(Confirm("Quit watcher?"), lambda yes: self.leave() if yes else None)
        else:
            self.leave()

    def action_interrupt(self) -> None:
        """Quit from anywhere."""
        self.leave()

    def leave(self) -> None:
        """Quit once the checks in flight are finished; asked again, without waiting for them."""
        if self.desk.handle.read_only:
            self.exit(0)
            return
        force, self._leaving = self._leaving, True
        if not force:
            self.desk.draining = len(self.desk.handle.running())
        self.run_worker(self._drain(force), group="force" if force else "drain", exit_on_error=True)
        self._tick()

    async def _drain(self, force: bool) -> None:
        await self.desk.handle.stop(force=force)
        self.exit(0)

    def action_restart(self) -> None:
        """Run the engine again."""
        if self.desk.failure and self.desk.options.restart is not None:
            self.desk.failure = ""
            self.desk.options.restart()
            self._tick()

    def _handle_exception(self, error: Exception) -> None:
        """End with ``error``, for :func:`run_screen` to raise: Textual would print it whole, with its locals."""
        self._return_code = 1
        if self._exception is None:
            cause = error.error if isinstance(error, WorkerFailed) else error
            self._exception = cause if isinstance(cause, Exception) else error
            self._exception_event.set()
        self._close_messages_no_wait()

    def on_goto(self, message: Goto) -> None:
        """Show the list with the cursor on a watch."""
        self._only_watches()
        if isinstance(self.screen, WatchesScreen):
            self.screen.goto(message.name)


@contextmanager
def _without_empty_no_color() -> Iterator[None]:
    """Textual takes an empty NO_COLOR for a set one; no-color.org does not."""
    empty = os.environ.get("NO_COLOR") == ""
    if empty:
        del os.environ["NO_COLOR"]
    try:
        yield
    finally:
        if empty:
            os.environ["NO_COLOR"] = ""


async def run_screen(handle: Handle, *, options: ScreenOptions) -> int:
    """Show ``handle`` until the user quits; the exit code. The engine must run, and be ended, outside.

    Raises what no screen foresaw, when the terminal is the user's again.
    SIGTERM quits like the key; SIGHUP (the terminal is gone) quits without another paint.
    """
    app = WatcherApp(handle, options)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, app.call_later, app.leave)
    loop.add_signal_handler(signal.SIGHUP, app.exit, 0)
    try:
        await app.run_async(mouse=handle.settings.screen.mouse)
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        loop.remove_signal_handler(signal.SIGHUP)
        app.notices.give_back_title()
    if app._exception is not None:
        raise app._exception
    return app.return_code or 0
