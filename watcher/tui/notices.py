"""How the screen gets attention: a toast, the terminal's title, the bell, a desktop notification (OSC 9)."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from datetime import tzinfo
from time import monotonic
from typing import Any

from textual.app import App
from textual.notifications import SeverityLevel

from watcher.core.news import SAYINGS, News
from watcher.core.quiet import is_quiet
from watcher.core.settings import NotifySettings
from watcher.engine.events import Checked
from watcher.tui.ink import clean
from watcher.tui.view import listed, plural

MOST = 2
"""Toasts of news at a time: more of them would hide the list, which says it all with its own signs."""
TIMEOUT = 5.0
"""Seconds a toast of news stays."""

_GRAVE = (News.FAILING, News.BLOCKED, News.GONE)


def told(event: Checked) -> str:
    """One piece of news in a few lines."""
    if event.news is News.CHANGED and event.changes:
        # The first paint does without the differ, and most batches bring no change.
        from watcher.core.diff import diff_changes
        from watcher.core.render import sentence

        return "\n".join(sentence(diff, 80) for diff in diff_changes(event.changes)[:3])
    if event.check.failure is not None and event.news in _GRAVE:
        return event.check.failure.message
    return event.message or event.check.reason


def heading(event: Checked) -> str:
    """``Desk lamp changed``."""
    return f"{event.check.name} {SAYINGS[event.news]}" if event.news else event.check.name


class Notices:
    """Tells news on one terminal. Toasts always; the rest as the settings say, bell and desktop only unfocused."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._title = ""
        self._shown: deque[float] = deque()

    def tell(self, events: Sequence[Checked], settings: NotifySettings, now: float) -> None:
        """Show the news among ``events``."""
        news = [event for event in events if event.news not in (None, News.FIRST)]
        if not news:
            return
        room = self._room()
        if len(news) > room:
            names = list(dict.fromkeys(event.check.name for event in news))
            if room:
                self._toast(plural(len(news), "piece") + " of news", listed(names, 5), grave=False)
        else:
            for event in news:
                self._toast(heading(event), told(event), grave=event.news in _GRAVE)
        if not self._app.app_focus and not is_quiet(settings.quiet, _zone(settings), now):
            self._call(settings, heading(news[0]) if len(news) == 1 else plural(len(news), "page") + " with news")

    def _room(self) -> int:
        """How many more toasts there is room for."""
        while self._shown and self._shown[0] <= monotonic() - TIMEOUT:
            self._shown.popleft()
        return MOST - len(self._shown)

    def title(self, unseen: int) -> None:
        """Put the number of unseen changes into the terminal's title."""
        title = f"watcher ({unseen})" if unseen else "watcher"
        if title != self._title:
            self._title = title
            self._write(f"\x1b]2;{title}\x07")

    def keep_title(self) -> None:
        """Remember the title the terminal had, for :meth:`give_back_title`."""
        self._write("\x1b[22;2t")

    def give_back_title(self) -> None:
        """Restore the terminal's own title. The screen is closed by then, so this goes straight to the terminal."""
        if self._title and sys.__stderr__ is not None and sys.__stderr__.isatty():
            sys.__stderr__.write("\x1b[23;2t")
            sys.__stderr__.flush()

    def _toast(self, title: str, message: str, *, grave: bool) -> None:
        self._shown.append(monotonic())
        severity: SeverityLevel = "warning" if grave else "information"
        self._app.notify(clean_lines(message), title=clean(title), severity=severity, timeout=TIMEOUT, markup=False)

    def _call(self, settings: NotifySettings, message: str) -> None:
        if settings.bell:
            self._app.bell()
        if settings.desktop:
            self._write(f"\x1b]9;watcher: {clean(message)}\x07")

    def _write(self, sequence: str) -> None:
        # Textual has no public way to send what is neither paint nor clipboard.
        driver = self._app._driver
        if driver is not None and not self._app.is_headless:
            driver.write(sequence)


def _zone(settings: NotifySettings) -> tzinfo | None:
    """The time zone of the quiet hours; None is this machine's."""
    from zoneinfo import ZoneInfo

    return ZoneInfo(settings.timezone) if settings.timezone else None


def clean_lines(text: str) -> str:
    """``text`` safe for the terminal, its line ends kept."""
    return "\n".join(clean(line) for line in text.split("\n"))
