"""What changed, version by version, and what was known at a time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import Input

from watcher.core.diff import FieldDiff, show
from watcher.core.history import Version
from watcher.core.model import Outcome
from watcher.tui import changes, keys
from watcher.tui.bridge import Batch
from watcher.tui.desk import Desk, Room
from watcher.tui.editor import pager_command, run_outside
from watcher.tui.graphs import outcome_mood
from watcher.tui.ink import Ink, Line, fit, wrap
from watcher.tui.view import plural, stamp, when
from watcher.tui.widgets.bars import Bar
from watcher.tui.widgets.lines import Lines
from watcher.tui.widgets.rowlist import RowList

MOST = 500
"""Versions read."""

_SEAMS = {
    Outcome.FIRST: "first look: nothing to compare with",
    Outcome.REDEFINED: "the fields were defined anew here: no change of the page",
    Outcome.GONE: "the page was gone from here on; what it last was is kept",
    Outcome.RETURNED: "the page was there again",
}
FORMATS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d")


def instant(text: str) -> float | None:
    """A local time as people write it (``2026-03-12 14:00``, the end of a day where only that is given), or None."""
    for form in FORMATS:
        try:
            found = datetime.strptime(text.strip(), form)
        except ValueError:
            continue
        whole_day = form == FORMATS[-1]
        return (found.replace(hour=23, minute=59, second=59) if whole_day else found).timestamp()
    return None


class DiffScreen(Room):
    """Versions of one watch on the left, what changed in the one under the cursor beside it."""

    SCOPES = (keys.DIFF, keys.PANE, keys.ROWS)
    BINDINGS = keys.bindings(keys.DIFF, keys.PANE)
    AUTO_FOCUS = "#list"

    def __init__(self, desk: Desk, name: str) -> None:
        super().__init__(desk)
        self._about = name
        self._versions: list[Version] = []
        self._base: Version | None = None
        self._beside = False
        self._wrapped = True
        self._whole = False

    def compose(self) -> ComposeResult:
        """Title, versions, change, keys."""
        yield Bar(id="top")
        with Container(id="history"):
            yield RowList(self._row, id="list")
            yield Lines(id="change", can_focus=False)
        yield Input(id="as-of", placeholder="as of: 2026-03-12 14:00")
        yield self.footer()

    def on_mount(self) -> None:
        """Read the history."""
        self._beside = self.app.size.width >= 120
        self._read()

    def _read(self) -> None:
        at = self._version.seq if self._version else None
        self._versions = self.desk.handle.history(self._about, limit=MOST)
        seqs = [version.seq for version in self._versions]
        self._rows.resize_to(len(self._versions), seqs.index(at) if at in seqs else 0)
        self._show()

    def take(self, batch: Batch) -> None:
        """A change of this page is a new version."""
        if any(event.check.name == self._about and event.changes for event in batch.checked):
            self._read()

    # -- what is looked at

    @property
    def _rows(self) -> RowList:
        return self.query_one("#list", RowList)

    @property
    def _version(self) -> Version | None:
        at = self._rows.cursor
        return self._versions[at] if 0 <= at < len(self._versions) else None

    def _before(self, version: Version) -> Version | None:
        """What ``version`` is compared with: the chosen base, else the one before it that has a record."""
        if self._base is not None and self._base.seq != version.seq:
            return self._base
        older = self._versions[self._versions.index(version) + 1 :]
        return next((other for other in older if other.record is not None), None)

    def _diffs(self) -> tuple[FieldDiff, ...]:
        version = self._version
        before = self._before(version) if version else None
        return changes.diffs_between(before, version) if before and version else ()

    # -- drawing

    def _row(self, index: int, cells: int) -> Line:
        version, signs = self._versions[index], self.desk.signs
        how = outcome_mood(version.outcome)
        base = signs.mark if self._base is not None and self._base.seq == version.seq else " "
        said = fit(when(version.at, self.desk.handle.now()), 12)
        return (
            Ink(base, "accent"),
            Ink(f"{signs.moods[how]} ", how.value),
            Ink(said),
            Ink(version.outcome.value, "muted"),
        )

    def _show(self) -> None:
        version, signs = self._version, self.desk.signs
        now = self.desk.handle.now()
        parts: list[Line] = [(Ink(self._about, "strong"),)]
        right: Line = ()
        if version is not None:
            place = f"{self._rows.cursor + 1} of {len(self._versions)}"
            how = outcome_mood(version.outcome)
            parts += [(Ink(f"{signs.moods[how]} {version.outcome.value}", how.value), Ink(f" {place}", "muted"))]
            before = self._before(version)
            other = f" {signs.both} {when(before.at, now)}" if before else ""
            right = (Ink(f"{when(version.at, now)}{other}", "muted"),)
        self.query_one("#top", Bar).show(parts, right, between="  ")
        self.query_one("#change", Lines).write(self._write)

    def _write(self, cells: int) -> list[Line]:
        version = self._version
        if version is None:
            said = f"No version of {self._about} is stored yet: it was not looked at, or never successfully."
            return [
                *wrap([Ink(said)], cells),
                (),
                (Ink("esc", "key"), Ink(" goes back, there "), Ink("r", "key"), Ink(" checks it.")),
            ]
        lines: list[Line] = []
        if version.outcome in _SEAMS:
            rule = self.desk.signs.rule
            lines += [*wrap([Ink(f"{rule * 2} {_SEAMS[version.outcome]} {rule * 2}", "accent")], cells), ()]
        diffs = () if self._whole else self._diffs()
        if diffs and version.outcome is not Outcome.REDEFINED:
            draw = changes.side_by_side if self._beside and cells >= 60 else changes.unified
            return lines + draw(diffs, cells, self.desk.signs, wrapped=self._wrapped)
        return lines + self._record(version, cells)

    def _record(self, version: Version, cells: int) -> list[Line]:
        if version.record is None:
            return [(Ink("No record is stored with this version.", "muted"),)]
        title = f"RECORD OF {stamp(version.at)}"
        lines: list[Line] = [(Ink(title, "head"),)]
        for field, value in version.record.public().items():
            items = value if isinstance(value, list) else [value]
            lines += wrap([Ink(f"{field}  ", "key"), Ink(show(items[0]) if items else "(nothing)")], cells, 2)
            for item in items[1:]:
                lines += wrap([Ink(f"  {show(item)}")], cells, 4)
        return lines

    @on(RowList.Highlighted, "#list")
    def _moved(self) -> None:
        self._whole = False
        self._show()

    # -- keys

    def action_scroll_pane(self, step: int) -> None:
        """The change up or down, the focus staying in the list."""
        self.query_one("#change", Lines).scroll_relative(y=3 * step, animate=False)

    def action_older(self) -> None:
        """The version before."""
        self._rows.cursor += 1

    def action_newer(self) -> None:
        """The version after."""
        self._rows.cursor -= 1

    def action_base(self) -> None:
        """Compare with this one from now on, or with the one before again."""
        version = self._version
        same = self._base is not None and version is not None and self._base.seq == version.seq
        self._base = None if same else version
        self._rows.refresh_rows()
        self._show()

    def action_layout(self) -> None:
        """Side by side, or one below the other."""
        self._beside = not self._beside
        self._show()

    def action_wrap(self) -> None:
        """Wrap, or cut."""
        self._wrapped = not self._wrapped
        self._show()

    def action_copy(self) -> None:
        """What changed, to the clipboard."""
        text = changes.as_text(self._diffs()) or self._plain_record()
        if text:
            self.app.copy_to_clipboard(text)
            self.say(f"Copied {plural(text.count(chr(10)), 'line')}.")

    def action_browse(self) -> None:
        """The page in the browser."""
        watch = self.desk.handle.watch(self._about)
        if watch is not None and watch.url.startswith(("http://", "https://")):
            self.app.open_url(watch.url)

    @work(group="pager", exclusive=True)
    async def action_pager(self) -> None:
        """The change in the pager."""
        text = changes.as_text(self._diffs()) or self._plain_record()
        wrong = await run_outside(self.app, pager_command(os.environ), text=text)
        if wrong:
            self.say(wrong, wrong=True)

    @work(group="pager", exclusive=True)
    async def action_differ(self) -> None:
        """Both records in the user's own differ."""
        differ, version = self.desk.handle.settings.screen.differ, self._version
        before = self._before(version) if version else None
        if not differ:
            self.say('No program is named for this: write differ = ["delta"] under [watcher] in the configuration.')
        elif version is None or before is None:
            self.say("There is no version before this one.")
        else:
            with tempfile.TemporaryDirectory(prefix="watcher-") as folder:
                paths = _files(Path(folder), (before, version))
                wrong = await run_outside(self.app, [*differ, *map(str, paths)])
            # A differ ends with 1 when the files differ: that is no error.
            if wrong and not wrong.endswith(" 1."):
                self.say(wrong, wrong=True)

    def action_as_of(self) -> None:
        """Ask for a time."""
        box = self.query_one("#as-of", Input)
        box.add_class("-open")
        box.focus()

    @on(Input.Submitted, "#as-of")
    def _as_of(self, event: Input.Submitted) -> None:
        at = instant(event.value)
        if at is None:
            self.say(f"{event.value!r} is not a time; write it like 2026-03-12 14:00", wrong=True)
            return
        self._close_box()
        index = next((i for i, version in enumerate(self._versions) if version.at <= at), None)
        if index is None:
            self.say(f"Nothing was known of this page at {stamp(at)}.")
            return
        self._rows.cursor = index
        self._whole = True
        self.call_later(self._show_whole)

    def _show_whole(self) -> None:
        self._whole = True
        self._show()

    def _close_box(self) -> None:
        self.query_one("#as-of", Input).remove_class("-open")
        self._rows.focus()

    def step_back(self) -> bool:
        """Escape closes the box for a time, then the record shown whole, then lets go of the base."""
        if self.query_one("#as-of", Input).has_class("-open"):
            self._close_box()
        elif self._whole or self._base is not None:
            self._whole, self._base = False, None
            self._rows.refresh_rows()
            self._show()
        else:
            return False
        return True

    def _plain_record(self) -> str:
        version = self._version
        return _text(version) if version is not None else ""


def _text(version: Version) -> str:
    """A record as text, one field a paragraph."""
    if version.record is None:
        return ""
    parts: list[str] = []
    for field, value in version.record.public().items():
        items: Sequence[object] = value if isinstance(value, list) else [value]
        parts.append("\n".join([f"{field}:", *(f"  {show(item)}" for item in items)]))
    return "\n".join(parts) + "\n"


def _files(folder: Path, versions: Sequence[Version]) -> list[Path]:
    paths = []
    for word, version in zip(("before", "after"), versions, strict=True):
        path = folder / f"{word}.txt"
        path.write_text(_text(version), "utf-8")
        paths.append(path)
    return paths
