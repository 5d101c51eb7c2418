"""The main screen: every watch, and the whole story of the one under the cursor.

What the first paint can do without is imported when it is first needed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import Static

from watcher.tui import keys
from watcher.tui.bridge import Batch
from watcher.tui.desk import Desk
from watcher.tui.ink import Ink, Line
from watcher.tui.screens.deeds import Deeds
from watcher.tui.signs import Mood
from watcher.tui.view import cells, countdown, headings, layout, plural, when
from watcher.tui.welcome import nothing_found, welcome
from watcher.tui.widgets.bars import Bar, KeyBar
from watcher.tui.widgets.filterbar import FilterBar
from watcher.tui.widgets.lines import Lines
from watcher.tui.widgets.paint import Painted
from watcher.tui.widgets.rowlist import RowList

if TYPE_CHECKING:
    from watcher.tui.story import Story

REST = 0.15
"""Seconds the cursor must rest before the journal is read for graphs."""
SLICE = 500
"""Watches counted before the screen may paint again."""


class Heads(Painted):
    """The titles of the columns, laid out like the rows below."""

    DEFAULT_CSS = "Heads { height: 1; }"

    def __init__(self, desk: Desk) -> None:
        super().__init__(id="heads")
        self.desk = desk

    def render_line(self, y: int) -> Strip:
        """The only line."""
        board, wide = self.desk.board, self.size.width
        return self.strip(headings(layout(wide - 1), board.sort.name, board.reverse, self.desk.signs), wide)


class WatchesScreen(Deeds):
    """List, detail, and what happened last."""

    SCOPES = (keys.WATCHES, keys.PANE, keys.ROWS)
    BINDINGS = keys.bindings(keys.WATCHES, keys.PANE)
    AUTO_FOCUS = "#list"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._note = ""
        self._resting: Timer | None = None
        self._telling = False

    def compose(self) -> ComposeResult:
        """Title, list and detail, filter, last event, keys."""
        yield Bar(id="top")
        yield Static(id="failure", markup=False)
        with Container(id="body"):
            with Vertical(id="left"):
                yield Heads(self.desk)
                yield RowList(self._row, id="list")
                yield Lines(id="empty", can_focus=False)
                yield FilterBar(id="filter", placeholder="status:failing tag:shop changed:<2d lamp")
            yield Lines(id="detail", can_focus=False)
        yield Bar(id="status")
        yield self.footer()

    def on_mount(self) -> None:
        """Take stock of every watch."""
        self.desk.board.load()
        self._show_list()

    @work(group="stock", exclusive=True)
    async def _take_stock(self) -> None:
        """Count how the watches stand, a slice at a time: a long list is on the screen long before it is counted."""
        while self.desk.board.take_stock(SLICE):
            self._show_bars()
            await asyncio.sleep(0)
        self._show_bars()

    # -- the list

    @property
    def rows(self) -> RowList:
        """The list."""
        return self.query_one("#list", RowList)

    def _row(self, index: int, wide: int) -> Line:
        handle = self.desk.handle
        row = self.desk.board.row(index, handle.running())
        return () if row is None else cells(row, handle.now(), layout(wide), self.desk.signs)

    def _show_list(self, *, keep: str | None = None) -> None:
        """The board's order is another one: keep the cursor on its watch."""
        board = self.desk.board
        name = keep or self.desk.current
        self.rows.resize_to(len(board), board.index(name) if name is not None else None)
        self.desk.current = board.name(self.rows.cursor)
        self.set_class(not len(board), "-nothing")
        self.set_class(not board.total, "-firstrun")
        offered = keys.footer(self.SCOPES, self.desk.keymap)
        self.query_one(KeyBar).use([entry for entry in offered if board.total or entry[0].id in keys.FIRST_RUN])
        if not len(board):
            empty = self.query_one("#empty", Lines)
            if board.total:
                text = self.query_one(FilterBar).value
                empty.write(lambda wide: nothing_found(text, board.total, wide))
            else:
                empty.write(lambda wide: welcome(self.desk.options, self.desk.keymap, self.desk.handle.read_only, wide))
        self.query_one(Heads).refresh()
        if not board.counted:
            self._take_stock()
        self._show_bars()
        self._tell_soon()

    @on(RowList.Highlighted, "#list")
    def _moved(self, event: RowList.Highlighted) -> None:
        self.desk.current = self.desk.board.name(event.index)
        self._note = ""
        self._tell_soon()
        self._show_bars()

    @on(RowList.Chosen, "#list")
    def _chosen(self) -> None:
        self.action_open()

    def goto(self, name: str) -> None:
        """Put the cursor on ``name``; a filter that hides it is cleared."""
        if self.desk.board.index(name) is None:
            self.query_one(FilterBar).clear_and_close()
            self.desk.board.use_filter(None)
            self._show_list()
        index = self.desk.board.index(name)
        if index is not None:
            self.rows.cursor = index

    # -- the detail

    def _tell_soon(self) -> None:
        """Tell the story of the watch under the cursor, once the list is painted."""
        if not self._telling:
            self._telling = True
            self.call_after_refresh(self._tell)
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(REST, self._read_past)

    def _read_past(self) -> None:
        name = self.desk.current
        if name is not None and self.desk.past.known(name) is None:
            self.desk.past.read(name)
            self._tell()

    def _tell(self) -> None:
        self._telling = False
        detail = self.query_one("#detail", Lines)
        story = self._story(self.desk.current)
        signs = self.desk.signs
        same = getattr(detail, "about", None) == self.desk.current
        detail.about = self.desk.current  # type: ignore[attr-defined]
        detail.write((lambda wide: story.lines(wide, signs)) if story else (lambda wide: []), home=not same)

    def _story(self, name: str | None) -> Story | None:
        handle = self.desk.handle
        watch = None if name is None else handle.watch(name)
        summary = None if name is None else handle.summary(name)
        if name is None or watch is None or summary is None:
            return None
        from watcher.tui.story import Story

        return Story(
            name=name,
            watch=watch,
            summary=summary,
            state=handle.state(name),
            host=handle.host(watch.url),
            host_settings=handle.settings.host(host_of(watch.url)),
            versions=handle.history(name, limit=12),
            checks=self.desk.past.known(name) or (),
            running=name in handle.running(),
            now=handle.now(),
        )

    # -- what happens

    def take(self, batch: Batch) -> None:
        """Rows repaint themselves where they say something else; the rest is one line each."""
        if batch.checked:
            self._note = ""
        board = self.desk.board
        if batch.lost or batch.reloaded or len(board) != self.rows.count:
            self._show_list()
        else:
            name = self.desk.current
            self.rows.resize_to(len(board), board.index(name) if name is not None else None)
        if self.desk.current in batch.moved:
            self._tell_soon()
        self._show_bars()

    def tick(self) -> None:
        """Durations move on."""
        self.rows.refresh_rows()
        self._show_bars()
        self._tell_soon()

    def on_screen_resume(self) -> None:
        """Another screen may have moved things."""
        if self.is_mounted and self.desk.board.total:
            self.rows.refresh_rows()
            self._show_bars()
            self._tell_soon()

    # -- the bars

    def _show_bars(self) -> None:
        desk, signs = self.desk, self.desk.signs
        self.query_one("#top", Bar).show(self._counts(), self._condition(), between=f" {signs.dot} ")
        failure = self.query_one("#failure", Static)
        failure.set_class(bool(desk.failure), "-on")
        if desk.failure:
            restart = " ctrl+r starts it again." if desk.options.restart else " Quit and start watcher again."
            failure.update(f"{signs.moods[Mood.ERROR]} The engine stopped: {desk.failure}{restart}")
        self.query_one("#status", Bar).show([self._status()])

    def _counts(self) -> list[Line]:
        board, signs, wide = self.desk.board, self.desk.signs, self.size.width >= 60
        shown = f"{len(board)} of {board.total}" if board.filtered else plural(board.total, "page")
        parts: list[Line] = [(Ink("watcher  " if wide else "", "strong"), Ink(shown))]
        counts = ((Mood.CHANGED, board.unseen, "changed"), (Mood.ERROR, board.counts[Mood.ERROR], "failing"))
        rest = ((how, board.counts[how], how.value) for how in (Mood.GONE, Mood.PAUSED))
        for how, count, word in (*counts, *rest):
            if count:
                parts.append((Ink(f"{signs.moods[how]} {count}{' ' + word if wide else ''}", how.value),))
        due = board.next_due()
        if due is not None:
            # Before what merely is so: gone and paused pages are the first to make room.
            at = 1 + sum(1 for _, count, _ in counts if count)
            parts.insert(at, (Ink(f"next {countdown(due - self.desk.handle.now())}", "muted"),))
        return parts

    def _condition(self) -> Line:
        desk, signs = self.desk, self.desk.signs
        running = len(desk.handle.running())
        if desk.draining is not None:
            return (Ink(f"finishing {plural(running, 'check')}{signs.ellipsis} q again: at once", "changed"),)
        if desk.failure:
            return (Ink(f"{signs.moods[Mood.ERROR]} stopped", "error"),)
        if desk.handle.read_only:
            return (Ink(f"{signs.live} viewer, read-only", "backoff"),)
        state = f"{signs.moods[Mood.RUNNING]} checking {running}" if running else f"{signs.live} running"
        return (Ink(f"{desk.options.banner}  " if desk.options.banner else "", "accent"), Ink(state, "running"))

    def _status(self) -> Line:
        desk, dot = self.desk, f" {self.desk.signs.dot} "
        if desk.board.marked:
            return (Ink(f"{len(desk.board.marked)} marked", "accent"), Ink(": keys act on them, esc lets go", "muted"))
        if self._note:
            return (Ink(self._note),)
        check = next(iter(desk.handle.recent(1)), None)
        if check is None:
            hint = (
                "viewing what another watcher does" if desk.handle.read_only else "nothing checked yet in this session"
            )
            return (Ink(hint, "muted"),)
        facts = [check.outcome.value.replace("_", " ")]
        facts += [f"HTTP {check.status}"] if check.status else []
        facts += [f"{sum(x.total for x in check.exchanges) * 1000:.0f} ms"] if check.exchanges else []
        facts += [", ".join(check.changed_fields)] if check.changed_fields else []
        facts += [check.failure.message] if check.failure else []
        return (
            Ink(f"{when(check.at, desk.handle.now())} ", "muted"),
            Ink(check.name),
            Ink(dot + dot.join(facts), "muted"),
        )

    def note(self, sentence: str) -> None:
        """A sentence for the status line, until something else happens."""
        self._note = sentence
        self._show_bars()

    # -- filter and order

    def action_filter(self) -> None:
        """Type a filter."""
        self.query_one(FilterBar).open()

    @on(FilterBar.Filtered)
    def _filtered(self, event: FilterBar.Filtered) -> None:
        from watcher.core.query import QueryError, parse

        bar = self.query_one(FilterBar)
        text = event.text.strip()
        try:
            query = parse(text) if text else None
        except QueryError as error:
            bar.add_class("-wrong")
            self.note(str(error))
            return
        bar.remove_class("-wrong")
        self._note = ""
        self.desk.board.use_filter(query)
        self._show_list()

    @on(FilterBar.Closed)
    def _typed(self) -> None:
        self.rows.focus()

    def step_back(self) -> bool:
        """Escape closes the zoomed detail, then lets go of marks, then clears the filter."""
        if self.has_class("-zoomed"):
            self.action_zoom()
        elif self.desk.board.marked:
            self.desk.board.marked.clear()
            self.rows.refresh_rows()
            self._show_bars()
        elif self.desk.board.filtered or self.query_one(FilterBar).value:
            self.query_one(FilterBar).clear_and_close()
        else:
            return False
        return True


def host_of(url: str) -> str:
    """The host name of ``url``, as the settings know it."""
    from watcher.core.urls import UrlError, parse_url

    try:
        return parse_url(url).host
    except UrlError:
        return ""
