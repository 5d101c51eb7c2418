"""Painting lines of ink: what every widget of ours draws with."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from watcher.tui.ink import Ink, clean
from watcher.tui.themes import inks


class Painted(Widget):
    """A widget that paints its lines itself, in the inks of the current theme."""

    _inks: dict[str, Style] | None = None
    _inks_of: object = None
    _ground: Style | None = None

    def notify_style_update(self) -> None:
        """The CSS gives other colours now."""
        self._ground = None
        super().notify_style_update()

    @property
    def ground(self) -> Style:
        """Colour and background of plain text. Kept, as asking for it means asking every ancestor."""
        if self._ground is None:
            self._ground = self.rich_style
        return self._ground

    def ink(self, name: str) -> Style:
        """The style called ``name`` in the current theme."""
        variables = self.app.theme_variables
        if self._inks is None or self._inks_of is not variables:
            self._inks = inks(variables, self.app.current_theme.ansi)
            self._inks_of = variables
        return self._inks[name]

    def strip(self, line: Iterable[Ink], cells: int, *, under: str = "") -> Strip:
        """``line`` as exactly ``cells`` cells. ``under`` is the ink of the whole line; it drops the line's own,
        which would not be readable on it."""
        base = self.ground
        if under:
            base += self.ink(under)
        segments = [
            Segment(clean(text), base if under or not style else base + self.ink(style)) for text, style in line
        ]
        return Strip(segments).adjust_cell_length(cells, base)
