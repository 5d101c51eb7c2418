"""Adding pages: paste a URL, see what would be recorded, choose, save. Nothing is stored before that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label

from watcher.core.model import Field
from watcher.core.urls import UrlError, parse_url
from watcher.engine.handle import Preview
from watcher.tui import keys, picking
from watcher.tui.desk import Desk, Room
from watcher.tui.ink import Ink, Line, cut, fit, wrap
from watcher.tui.view import address, plural
from watcher.tui.widgets.bars import Bar
from watcher.tui.widgets.lines import Lines
from watcher.tui.widgets.rowlist import RowList

_INTERVAL = re.compile(r"(?:\d+(?:\.\d+)?[smhdw])+")


class UrlInput(Input):
    """An input that does not lose the other lines of a paste."""

    class Many(Message):
        """Several URLs were pasted."""

        def __init__(self, urls: list[str]) -> None:
            super().__init__()
            self.urls = urls

    def _on_paste(self, event: events.Paste) -> None:
        urls = event.text.split()
        if len(urls) > 1:
            event.stop()
            event.prevent_default()
            self.post_message(self.Many(urls))
        else:
            super()._on_paste(event)


class AddScreen(Room):
    """URL, what was found, fields, and how often."""

    SCOPES = (keys.ADD,)
    BINDINGS = keys.bindings(keys.ADD)
    AUTO_FOCUS = "#url"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._preview: Preview | None = None
        self._many: list[str] = []
        self._found: list[tuple[Field, str]] = []
        self._taken: set[str] = set()
        self._said: list[Line] = []

    def compose(self) -> ComposeResult:
        """URL, what was found, a field, the rest, keys."""
        yield Bar(id="top")
        with Horizontal(classes="row"):
            yield Label("URL   ")
            yield UrlInput(id="url", compact=True, placeholder="https://... and enter; many at once: paste them")
        yield Lines(self._say_lines, id="said", can_focus=False)
        yield RowList(self._row, id="list")
        with Horizontal(classes="row"):
            yield Label("field ")
            yield Input(id="field", compact=True, placeholder=picking.EXAMPLE)
        with Horizontal(classes="row"):
            yield Label("type  ")
            yield Input(id="type", compact=True, placeholder="listing")
            yield Label(" every ")
            yield Input(id="every", compact=True, placeholder="auto")
            yield Label(" tags ")
            yield Input(id="tags", compact=True, placeholder="shop, news")
        yield self.footer()

    def on_mount(self) -> None:
        """Say what will happen."""
        self.query_one("#top", Bar).show(
            [(Ink("ADD", "strong"),), (Ink("nothing is stored before you save", "muted"),)]
        )
        self._say([(Ink("The page is fetched once, politely, and what would be recorded is shown here."),)])

    # -- what is said and shown

    def _say(self, lines: list[Line]) -> None:
        self._said = lines
        self.query_one("#said", Lines).write(self._say_lines)

    def _say_lines(self, cells: int) -> list[Line]:
        return [part for line in self._said for part in wrap(line, cells, 2)]

    def _row(self, index: int, cells: int) -> Line:
        signs = self.desk.signs
        if self._many:
            return (Ink(f" {index + 1:>3}  ", "muted"), Ink(self._many[index]))
        if index == 0:
            whole = not self._taken
            names = ", ".join(self._preview.record.values) if self._preview and self._preview.record else ""
            said = Ink("everything the page says: ", "strong" if whole else "")
            return cut((Ink(self._box(whole), "key"), said, Ink(names, "muted")), cells, ellipsis=signs.ellipsis)
        field, value = self._found[index - 1]
        taken = field.name in self._taken
        wide = 14 if cells >= 60 else 9
        selector = picking.selector_of(field)
        room = max(8, cells - wide - 8 - min(len(selector), cells // 3))
        line = (
            Ink(self._box(taken), "key"),
            Ink(fit(field.name, wide, ellipsis=signs.ellipsis) + " ", "strong" if taken else ""),
            Ink(fit(value, room, ellipsis=signs.ellipsis) + " "),
            Ink(selector, "muted"),
        )
        return cut(line, cells, ellipsis=signs.ellipsis)

    @staticmethod
    def _box(on: bool) -> str:
        return " [x] " if on else " [ ] "

    def _show_found(self) -> None:
        count = len(self._many) or (1 + len(self._found) if self._preview and self._preview.record else 0)
        self.query_one("#list", RowList).resize_to(count)

    # -- looking at the page

    @on(Input.Submitted, "#url")
    def _submitted(self) -> None:
        self.action_try()

    @on(UrlInput.Many)
    def _pasted(self, event: UrlInput.Many) -> None:
        good: list[str] = []
        bad: list[Line] = []
        for text in event.urls:
            try:
                good.append(str(parse_url(text)))
            except UrlError as error:
                bad.append((Ink(f"{text}: {error}", "error"),))
        self._many, self._preview = list(dict.fromkeys(good)), None
        said = (Ink(f"{plural(len(self._many), 'page')} to add. "), Ink("ctrl+s", "key"), Ink(" saves them all."))
        self._say([said, *bad[:3]])
        self._show_found()
        self.query_one("#list", RowList).focus()

    @work(group="preview", exclusive=True)
    async def action_try(self) -> None:
        """Fetch once and show what would be recorded."""
        url = self.query_one("#url", Input).value.strip()
        if url and "://" not in url:
            url = f"https://{url}"
        try:
            url = str(parse_url(url))
        except UrlError as error:
            self._say([(Ink(str(error), "error"),)])
            return
        self._many, self._preview, self._found = [], None, []
        self._show_found()
        self._say([(Ink(f"Asking {address(url)} {self.desk.signs.ellipsis}", "running"),)])
        preview = await self.desk.handle.preview(url)
        self._preview = preview
        if preview.record is None:
            again = (Ink("enter", "key"), Ink(" tries again; "), Ink("ctrl+s", "key"), Ink(" saves it as it is."))
            self._say([(Ink(preview.error or "The page could not be read.", "error"),), again])
            return
        self.query_one("#type", Input).value = preview.suggested_type
        self._found = self._matching(preview)
        moved = f" (it answers at {address(preview.url)})" if preview.url != url else ""
        self._say(
            [
                (
                    Ink(f"Read{moved}. "),
                    Ink("ctrl+t", "key"),
                    Ink(" takes single fields, "),
                    Ink("ctrl+s", "key"),
                    Ink(" saves."),
                )
            ]
        )
        self._show_found()
        self.query_one("#list", RowList).focus()

    def _matching(self, preview: Preview) -> list[tuple[Field, str]]:
        """The candidates that this page has, with their values."""
        read = self.desk.options.try_fields
        tried = picking.candidates(preview)
        if read is None or not tried:
            return []
        record = read(preview, picking.on_trial(tried)).record
        values = record.values if record else {}
        return [
            (field, picking.in_short(values[field.name])) for field in tried if values.get(field.name) not in (None, [])
        ]

    # -- choosing fields

    @on(RowList.Chosen, "#list")
    def _chosen(self) -> None:
        self.action_toggle_field()

    def action_toggle_field(self) -> None:
        """Take the field under the cursor, or leave it; the first row takes everything."""
        rows = self.query_one("#list", RowList)
        if self._many or not rows.count:
            return
        if rows.cursor == 0:
            self._taken.clear()
        else:
            self._taken ^= {self._found[rows.cursor - 1][0].name}
        rows.refresh_rows()

    @on(Input.Changed, "#field")
    def _typing(self, event: Input.Changed) -> None:
        if self._preview is not None and event.value.strip():
            self._try_field(event.value)

    @on(Input.Submitted, "#field")
    def _typed(self, event: Input.Submitted) -> None:
        found = self._try_field(event.value)
        if found is None:
            return
        self._found = [entry for entry in self._found if entry[0].name != found[0].name] + [found]
        self._taken.add(found[0].name)
        event.input.value = ""
        self._show_found()

    def _try_field(self, text: str) -> tuple[Field, str] | None:
        """Read the page with the field that is typed and say what it finds."""
        read = self.desk.options.try_fields
        try:
            field = picking.parse_field(text)
        except picking.FieldMistake as error:
            self._say([(Ink(str(error), "muted"),)])
            return None
        if self._preview is None or read is None:
            return field, ""
        tried = read(self._preview, [field])
        if tried.record is None:
            self._say([(Ink(sentence, "error"),) for sentence in (*tried.matches, tried.error or "") if sentence])
            return None
        value = picking.in_short(tried.record.values.get(field.name))
        self._say([(Ink(f"{field.name}  ", "key"), Ink(value)), *((Ink(said, "muted"),) for said in tried.matches)])
        return field, value

    # -- saving

    def action_save(self) -> None:
        """Write watches.toml; the engine takes it up at once."""
        save = self.desk.options.save_watches
        watches = self._watches()
        if save is None or not watches:
            return
        try:
            save(watches)
        except Exception as error:  # Whatever stands in the way of writing is told, and what was typed stays.
            self._say([(Ink(f"Not saved: {error}", "error"),)])
            return
        self.desk.current = str(watches[0].get("name") or watches[0]["url"])
        self.desk.handle.check_due()
        self.say(f"{plural(len(watches), 'page')} added; the first check follows at once.")
        self.dismiss()

    def _watches(self) -> list[Mapping[str, Any]]:
        """The tables to write, or nothing after saying what is missing."""
        every = self.query_one("#every", Input).value.strip()
        if every and not _INTERVAL.fullmatch(every):
            self._say([(Ink(f"{every!r} is no interval; write it like 90s, 15m, 6h, 3d or 1h30m", "error"),)])
            return []
        tags = [tag for tag in re.split(r"[,\s]+", self.query_one("#tags", Input).value) if tag]
        common: dict[str, Any] = {"type": self.query_one("#type", Input).value.strip() or "listing"}
        common |= ({"interval": every} if every else {}) | ({"tags": tags} if tags else {})
        if self._many:
            return [{"url": url, **common} for url in self._many]
        url = self.query_one("#url", Input).value.strip()
        try:
            url = str(parse_url(url if "://" in url else f"https://{url}"))
        except UrlError as error:
            self._say([(Ink(str(error), "error"),)])
            return []
        taken = [field for field, _ in self._found if field.name in self._taken]
        fields = {field.name: picking.definition(field) for field in taken}
        return [{"url": url, **common, **({"fields": fields} if fields else {})}]

    def step_back(self) -> bool:
        """Escape leaves the list for the URL first, so that nothing typed is lost by accident."""
        rows = self.query_one("#list", RowList)
        if rows.has_focus and rows.count:
            self.query_one("#url", Input).focus()
            return True
        return False
