"""The audit trail as it happens: one line an exchange, robots.txt and redirects included."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult

from watcher.core.exchange import Exchange
from watcher.core.history import Check
from watcher.tui import keys
from watcher.tui.bridge import Batch
from watcher.tui.desk import Desk, Goto, Room
from watcher.tui.graphs import outcome_mood
from watcher.tui.ink import Ink, Line, fit
from watcher.tui.view import address, plural
from watcher.tui.widgets.bars import Bar
from watcher.tui.widgets.filterbar import FilterBar
from watcher.tui.widgets.lines import Lines
from watcher.tui.widgets.rowlist import RowList

KEPT = 5_000
"""Lines kept; the journal has all of them."""
FROM_JOURNAL = 6 * 3_600.0
"""Seconds of the journal shown when this process has seen nothing yet."""


class Entry(NamedTuple):
    """One line: an exchange, or a check that made none."""

    check: Check
    exchange: Exchange | None
    last: bool

    @property
    def at(self) -> float:
        """When it happened."""
        return self.exchange.at if self.exchange else self.check.at

    def mentions(self, text: str) -> bool:
        """Whether the line contains ``text``, however written."""
        status = self.exchange.status if self.exchange else self.check.status
        purpose = self.exchange.purpose if self.exchange else ""
        said = f"{self.check.name} {self.check.outcome} {status} {purpose} {self.exchange.url if self.exchange else ''}"
        return text.casefold() in said.casefold()


def entries(check: Check) -> Iterator[Entry]:
    """The lines of one check, in the order of its exchanges; the last one tells the outcome."""
    if not check.exchanges:
        yield Entry(check, None, True)
    for index, exchange in enumerate(check.exchanges):
        yield Entry(check, exchange, index == len(check.exchanges) - 1)


def _came_to(entry: Entry) -> Ink:
    """What the exchange was for, or, at the last one of a check, what the check came to."""
    if not entry.last:
        return Ink(fit(entry.exchange.purpose if entry.exchange else "", 18), "accent")
    word = entry.check.outcome.value.replace("_", " ")
    fields = f": {', '.join(entry.check.changed_fields)}" if entry.check.changed_fields else ""
    return Ink(fit(word + fields, 18), outcome_mood(entry.check.outcome).value)


class ActivityScreen(Room):
    """Live lines, newest last."""

    SCOPES = (keys.ACTIVITY, keys.ROWS)
    BINDINGS = keys.bindings(keys.ACTIVITY)
    AUTO_FOCUS = "#list"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._shown: list[Entry] = []
        self._text = ""
        self._follow = True

    def compose(self) -> ComposeResult:
        """Title, lines, filter, keys."""
        yield Bar(id="top")
        yield RowList(self._row, id="list")
        yield Lines(id="empty", can_focus=False)
        yield FilterBar(id="filter", placeholder="a part of a name, a URL, a status, an outcome")
        yield self.footer()

    def on_mount(self) -> None:
        """Begin with what this process has seen, else with the end of the journal."""
        handle = self.desk.handle
        checks = handle.recent(KEPT)[::-1]
        if not checks:
            checks = list(deque(handle.checks(since=handle.now() - FROM_JOURNAL), maxlen=1_000))
        for check in checks:
            self._entries.extend(entries(check))
        self._sift()

    def take(self, batch: Batch) -> None:
        """Append what ended."""
        fresh = [entry for event in batch.checked for entry in entries(event.check)]
        self._entries.extend(fresh)
        self._shown += [entry for entry in fresh if entry.mentions(self._text)]
        if len(self._shown) > 2 * KEPT:
            del self._shown[:KEPT]
        self._show()

    def _sift(self) -> None:
        self._shown = [entry for entry in self._entries if entry.mentions(self._text)]
        self._show()

    def _show(self) -> None:
        rows = self.query_one("#list", RowList)
        rows.resize_to(len(self._shown), len(self._shown) - 1 if self._follow else None)
        if self._follow:
            rows.action_bottom()
        self.set_class(not self._shown, "-nothing")
        self.query_one("#empty", Lines).write(self._nothing)
        state = Ink("following", "running") if self._follow else Ink("held: f follows", "backoff")
        filtered = [(Ink(f"only {self._text!r}", "changed"),)] if self._text else []
        count = (Ink(plural(len(self._shown), "line")),)
        parts = [(Ink("ACTIVITY", "strong"),), count, *filtered]
        self.query_one("#top", Bar).show(parts, (state,), between=f" {self.desk.signs.dot} ")

    def _nothing(self, cells: int) -> list[Line]:
        if self._text:
            return [
                (Ink("No line contains "), Ink(self._text, "strong"), Ink(". "), Ink("esc", "key"), Ink(" shows all."))
            ]
        return [
            (
                Ink("Nothing was asked of any host in the last hours. "),
                Ink("1", "key"),
                Ink(" then "),
                Ink("r", "key"),
                Ink(" checks a page."),
            )
        ]

    def _row(self, index: int, cells: int) -> Line:
        entry, signs = self._shown[index], self.desk.signs
        check, exchange = entry.check, entry.exchange
        how = outcome_mood(check.outcome)
        line = [Ink(f" {datetime.fromtimestamp(entry.at):%H:%M:%S} ", "muted")]
        line += [Ink(f"{signs.moods[how] if entry.last else ' '} ", how.value)]
        if exchange is None:
            said = check.failure.message if check.failure else check.reason
            return (*line, Ink(f"{check.name}: {check.outcome.value.replace('_', ' ')} {said}"))
        wide = max(10, cells - (72 if cells >= 100 else 47 if cells >= 60 else 20))
        style = "error" if exchange.error or (exchange.status or 0) >= 400 else "same"
        status = str(exchange.status) if exchange.status else "failed"
        line += [Ink(fit(status, 7), style), Ink(fit(address(exchange.url), wide, ellipsis=signs.ellipsis))]
        if cells >= 60:
            line += [Ink(fit(f"{exchange.total * 1000:.0f} ms ", 10, right=True), "muted")]
            line += [_came_to(entry)]
        if cells >= 100:
            line += [Ink(fit(f"{exchange.bytes_wire:,} B", 11, right=True), "muted")]
            line += [Ink(fit(exchange.conditional or "", 14, right=True), "muted")]
        if exchange.error:
            line += [Ink(f"  {exchange.error}", "error")]
        return tuple(line)

    # -- keys

    def action_filter(self) -> None:
        """Show only lines that contain a text."""
        self.query_one(FilterBar).open()

    @on(FilterBar.Filtered)
    def _filter(self, event: FilterBar.Filtered) -> None:
        self._text = event.text.strip()
        self._sift()

    @on(FilterBar.Closed)
    def _typed(self) -> None:
        self.query_one("#list", RowList).focus()

    def action_follow(self) -> None:
        """Follow, or hold still."""
        self._follow = not self._follow
        self._show()

    @on(RowList.Highlighted, "#list")
    def _moved(self, event: RowList.Highlighted) -> None:
        """Going up holds the list still; its end follows again."""
        at_end = event.rows.cursor >= len(self._shown) - 1
        if at_end != self._follow:
            self._follow = at_end
            self._show()

    @on(RowList.Chosen, "#list")
    def _chosen(self) -> None:
        self.action_jump()

    def action_jump(self) -> None:
        """To the page of this line."""
        index = self.query_one("#list", RowList).cursor
        for entry in islice(self._shown, index, index + 1):
            self.post_message(Goto(entry.check.name))

    def step_back(self) -> bool:
        """Escape clears the filter first."""
        if not self._text:
            return False
        self.query_one(FilterBar).clear_and_close()
        return True
