"""A list that asks for the rows it paints. It holds no rows, so its cost does not know how many there are."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from watcher.tui import keys
from watcher.tui.ink import Line
from watcher.tui.widgets.paint import Painted

Source = Callable[[int, int], Line]
"""Index of a row and cells there are for it -> what it says."""


class RowList(Painted, ScrollView, can_focus=True):
    """Rows painted from a source, with a cursor."""

    BINDINGS = keys.bindings(keys.ROWS)
    DEFAULT_CSS = """
    RowList { height: 1fr; background: $background; color: $foreground; scrollbar-size-vertical: 1;
              overflow: hidden auto; scrollbar-gutter: stable; }
    """
    cursor: reactive[int] = reactive(0, repaint=False)  # a repaint of every row at each key costs 20 times as much

    class Highlighted(Message):
        """The cursor stands on another row."""

        def __init__(self, rows: RowList, index: int) -> None:
            super().__init__()
            self.rows, self.index = rows, index

        @property
        def control(self) -> RowList:
            """The list."""
            return self.rows

    class Chosen(Message):
        """The row under the cursor was clicked."""

        def __init__(self, rows: RowList, index: int) -> None:
            super().__init__()
            self.rows, self.index = rows, index

        @property
        def control(self) -> RowList:
            """The list."""
            return self.rows

    def __init__(self, source: Source, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._source = source
        self._painted: dict[int, Line] = {}
        self.count = 0

    def resize_to(self, count: int, cursor: int | None = None) -> None:
        """There are ``count`` rows now and the cursor's is at ``cursor``; its place on the screen is kept."""
        line = self.cursor - self.scroll_offset.y
        moved = count != self.count
        self.count = count
        if moved:
            self.virtual_size = Size(0, count)
        if cursor is not None and cursor != self.cursor:
            self.set_reactive(RowList.cursor, self.validate_cursor(cursor))
            self.scroll_to(y=max(0, self.cursor - line), animate=False, immediate=True)
            moved = True
        elif self.cursor > max(0, count - 1):
            self.cursor = count - 1
        if moved:
            self.refresh()
        self.refresh_rows()

    def refresh_rows(self) -> None:
        """Paint again the visible rows that say something else now."""
        top, cells = self.scroll_offset.y, self.scrollable_content_region.width
        for index in range(top, min(self.count, top + self.size.height)):
            if self._painted.get(index) != self._source(index, cells):
                self._refresh_row(index)

    def _refresh_row(self, index: int) -> None:
        y = index - self.scroll_offset.y
        if 0 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        """The row at ``y`` lines from the top."""
        index, cells = y + self.scroll_offset.y, self.scrollable_content_region.width
        if y == 0:
            self._forget()
        if index >= self.count:
            return Strip.blank(cells, self.ground)
        line = self._painted[index] = self._source(index, cells)
        under = "" if index != self.cursor else "cursor" if self.has_focus else "resting"
        return self.strip(line, cells, under=under)

    def _forget(self) -> None:
        """Keep only what is visible: the list must not grow with scrolling."""
        top, bottom = self.scroll_offset.y, self.scroll_offset.y + self.size.height
        if len(self._painted) > 4 * max(1, self.size.height):
            self._painted = {i: line for i, line in self._painted.items() if top <= i < bottom}

    def validate_cursor(self, cursor: int) -> int:
        """A cursor that is on a row."""
        return max(0, min(cursor, self.count - 1))

    def watch_cursor(self, before: int, after: int) -> None:
        """Paint both rows, keep the cursor visible and say where it is."""
        self._refresh_row(before)
        self._refresh_row(after)
        self._follow()
        self.post_message(self.Highlighted(self, after))

    def _follow(self) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, immediate=True)
        elif height and self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, immediate=True)

    def on_resize(self) -> None:
        """The cursor stays visible."""
        self._follow()

    def on_focus(self) -> None:
        """The cursor row looks different with focus."""
        self._refresh_row(self.cursor)

    def on_blur(self) -> None:
        """The cursor row looks different without focus."""
        self._refresh_row(self.cursor)

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor; one on the cursor chooses."""
        index = event.y + self.scroll_offset.y
        if index >= self.count:
            return
        if index == self.cursor:
            self.post_message(self.Chosen(self, index))
        self.cursor = index

    def action_up(self) -> None:
        """One row up."""
        self.cursor -= 1

    def action_down(self) -> None:
        """One row down."""
        self.cursor += 1

    def action_page_up(self) -> None:
        """A page up."""
        self.cursor -= max(1, self.size.height - 1)

    def action_page_down(self) -> None:
        """A page down."""
        self.cursor += max(1, self.size.height - 1)

    def action_top(self) -> None:
        """To the first row."""
        self.cursor = 0

    def action_bottom(self) -> None:
        """To the last row."""
        self.cursor = self.count - 1
