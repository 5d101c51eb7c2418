"""The keys of a screen, from the one table of keys."""

from __future__ import annotations

from rich.cells import cell_len
from textual.app import ComposeResult

from watcher.tui import keys
from watcher.tui.desk import Desk, Room
from watcher.tui.ink import Ink, Line, wrap
from watcher.tui.view import GLYPHS
from watcher.tui.widgets.bars import Bar
from watcher.tui.widgets.lines import Lines

FILTERS = (
    ("lamp", "name or URL contains lamp"),
    ("status:failing", "how it stands: ok changed failing gone blocked paused"),
    ("tag:shop", "has the tag"),
    ("changed:<2d", "changed less than two days ago"),
    ('"desk lamp"', "words in a row; -word leaves out"),
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
        moving = [scope for scope in (keys.PANE, keys.ROWS) if scope in self._about]
        own = [scope for scope in self._about if scope not in moving]
        for title, entries in keys.sections([*own, keys.ALL, *moving], self.desk.keymap):
            lines += [(Ink(title.upper(), "head"),)]
            lines += self._entries([(shown, text, "key") for shown, text in entries], cells)
            lines += [()]
        if keys.WATCHES in self._about:
            lines += [(Ink("SIGNS", "head"),)]
            signs = self.desk.signs
            lines += self._entries([(signs.moods[how], text, how.value) for how, text in GLYPHS.items()], cells)
            lines += [(), (Ink("FILTER", "head"),)]
            lines += self._entries([(shown, text, "accent") for shown, text in FILTERS], cells)
        return lines

    @staticmethod
    def _entries(entries: list[tuple[str, str, str]], cells: int) -> list[Line]:
        wide = max(cell_len(shown) for shown, _, _ in entries) + 2
        lines: list[Line] = []
        for shown, text, style in entries:
            gap = " " * (wide - cell_len(shown))
            lines += wrap(
                [Ink(" "), Ink(shown.replace(" ", "\xa0"), style), Ink(gap), Ink(text)],
                cells,
                min(wide + 1, cells // 2),
            )
        return lines
