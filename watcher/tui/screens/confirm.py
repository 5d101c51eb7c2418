"""A question that is answered with one key."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static


class Confirm(ModalScreen[bool]):
    """True for y and enter, False for everything that says no."""

    BINDINGS = [  # noqa: RUF012 - Textual's own declaration is mutable
        Binding("y,enter", "answer(True)", "Yes", show=False),
        Binding("n,q,escape", "answer(False)", "No", show=False),
    ]
    DEFAULT_CSS = """
    Confirm { align: center middle; }
    Confirm > Vertical { width: 64; max-width: 90%; height: auto; padding: 1 2;
                         background: $panel; color: $foreground; }
    """

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """The question and the two answers."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield Static("\n[b]y[/b] yes    [b]n[/b] no")

    def action_answer(self, yes: bool) -> None:
        """Close with an answer."""
        self.dismiss(yes)
