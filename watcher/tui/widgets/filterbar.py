"""The line a filter is typed into. It filters while it is typed in and stays visible while it filters."""

from __future__ import annotations

from textual import events
from textual.message import Message
from textual.widgets import Input


class FilterBar(Input):
    """Enter keeps the filter and gives the focus back, escape clears it."""

    DEFAULT_CSS = """
    FilterBar, FilterBar:focus { height: 1; border: none; padding: 0 1; background: $panel; display: none; }
    FilterBar.-open { display: block; }
    FilterBar.-wrong { color: $status-error; }
    """

    class Filtered(Message):
        """The text is another one."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Closed(Message):
        """Typing ended; the filter stays when it is not empty."""

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter by what is typed so far."""
        event.stop()
        self.post_message(self.Filtered(self.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter."""
        event.stop()
        self._close()

    def open(self) -> None:
        """Show the line and type into it."""
        self.add_class("-open")
        self.focus()

    def clear_and_close(self) -> None:
        """Show everything again."""
        self.value = ""
        self._close()

    def _close(self) -> None:
        self.set_class(bool(self.value), "-open")
        self.post_message(self.Closed())

    async def on_key(self, event: events.Key) -> None:
        """Escape is this line's while it is typed into; up and down go back to the list."""
        if event.key == "escape":
            event.stop()
            self.clear_and_close()
        elif event.key in ("down", "up"):
            event.stop()
            self._close()
