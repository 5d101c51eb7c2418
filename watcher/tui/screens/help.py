"""The keys of a screen, from the one table of keys."""

from __future__ import annotations

from rich.cells import cell_len
from textual.app import ComposeResult

from watcher.tui import keys
from watcher.tui.desk import Desk, Room
from watcher.tui.ink import Ink, Line, fit, wrap
from watcher.tui.view import GLYPHS
from watcher.tui.widgets.bars import Bar
from watcher.tui.widgets.lines import Lines

FILTERS = (
    ("lamp", "name, URL or tag contains lamp"),
    ('"desk lamp"', "these words in a row"),
    ("status:failing,gone", "how it stands: ok failing blocked deferred gone new changed paused unseen ..."),
    ("tag:shop", "has the tag; type:detail and host:example.org likewise"),
    ("changed:<2d", "changed less than two days ago"),
    ("every:<1h", "is checked more often than hourly"),
    ("-tag:old", "a minus turns any of them round"),
)


class HelpScreen(Room):
    """Keys, signs, and the filter language. Any way back leads back."""

    SCOPES = (keys.HELP,)

    def __init__(self, desk: Desk, about: tuple[str, ...]) -> None:
        super().__init__(desk)
        self._about = about

    def compose(self) -> ComposeResult:
        """Title, text, keys."""
        yield Bar(id="top")
        yield Lines(self._write)
        yield self.footer()

    def on_mount(self) -> None:
        """Scrollable at once."""
        self.query_one(Bar).show([(Ink("HELP", "strong"),), (Ink("esc goes back", "muted"),)])
        self.query_one(Lines).focus()

    def _write(self, cells: int) -> list[Line]:
        lines: list[Line] = []
        ellipsis = self.desk.signs.ellipsis
        moving = [scope for scope in (keys.PANE, keys.ROWS) if scope in self._about]
        own = [scope for scope in self._about if scope not in moving]
        for title, entries in keys.sections([*own, keys.ALL, *moving], self.desk.keymap):
            lines += [(Ink(title.upper(), "head"),)]
            lines += self._entries([(shown, text, "key") for shown, text in entries], cells, ellipsis)
            lines += [()]
        if keys.WATCHES in self._about:
            lines += [(Ink("SIGNS", "head"),)]
            signs = self.desk.signs
            lines += self._entries(
                [(signs.moods[how], text, how.value) for how, text in GLYPHS.items()], cells, ellipsis
            )
            lines += [(), (Ink("FILTER", "head"),)]
            lines += self._entries([(shown, text, "accent") for shown, text in FILTERS], cells, ellipsis)
        return lines

    @staticmethod
    def _entries(entries: list[tuple[str, str, str]], cells: int, ellipsis: str) -> list[Line]:
        wide = min(cells // 2, max(cell_len(shown) for shown, _, _ in entries) + 2)
        lines: list[Line] = []
        for shown, text, style in entries:
            first, *rest = wrap([Ink(text)], cells - wide - 1)
            lines.append((Ink(" "), Ink(fit(shown, wide - 1, ellipsis=ellipsis), style), Ink(" "), *first))
            lines += [(Ink(" " * (wide + 1)), *more) for more in rest]
        return lines
