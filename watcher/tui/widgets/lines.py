"""A scrolling text of ink, laid out anew for every width."""

from __future__ import annotations

from collections.abc import Callable

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from watcher.tui import keys
from watcher.tui.ink import Line
from watcher.tui.widgets.paint import Painted

Writer = Callable[[int], list[Line]]
"""Cells there are -> the lines."""


class Lines(Painted, ScrollView, can_focus=True):
    """Shows what a writer writes. Wrapping or cutting to the width is the writer's part."""

    BINDINGS = keys.bindings(keys.ROWS)
    DEFAULT_CSS = """
    Lines { height: 1fr; background: $background; color: $foreground; scrollbar-size-vertical: 1;
            scrollbar-gutter: stable; overflow: hidden auto; }
    """

    def __init__(self, writer: Writer | None = None, *, id: str | None = None, can_focus: bool = True) -> None:
        super().__init__(id=id)
        self.can_focus = can_focus
        self._writer = writer
        self._lines: list[Line] = []
        self._cells = -1

    @property
    def lines(self) -> list[Line]:
        """What is shown."""
        return self._lines

    def write(self, writer: Writer, *, home: bool = True) -> None:
        """Show what ``writer`` writes, from the top when ``home``. Nothing is painted when it says the same."""
        self._writer = writer
        self._layout(home=home)

    def _layout(self, *, home: bool = False) -> None:
        cells = self.scrollable_content_region.width
        if self._writer is None or cells <= 0:
            return
        lines = self._writer(cells)
        if home and self.scroll_offset.y:
            self.scroll_to(0, 0, animate=False, immediate=True)
        if lines == self._lines and cells == self._cells:
            return
        self._lines, self._cells = lines, cells
        self.virtual_size = Size(0, len(lines))
        self.refresh(layout=self.styles.is_auto_height)

    def on_resize(self) -> None:
        """Lay out for the new width."""
        self._layout()

    def render_line(self, y: int) -> Strip:
        """The line at ``y`` from the top."""
        index, cells = y + self.scroll_offset.y, self.size.width
        if not 0 <= index < len(self._lines):
            return Strip.blank(cells, self.ground)
        return self.strip(self._lines[index], cells)

    def action_up(self) -> None:
        """One line up."""
        self.scroll_relative(y=-1, animate=False)

    def action_down(self) -> None:
        """One line down."""
        self.scroll_relative(y=1, animate=False)

    def action_page_up(self) -> None:
        """A page up."""
        self.scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        """A page down."""
        self.scroll_page_down(animate=False)

    def action_top(self) -> None:
        """To the first line."""
        self.scroll_home(animate=False)

    def action_bottom(self) -> None:
        """To the last line."""
        self.scroll_end(animate=False)
