"""What the keys of the main screen do to watches: to the marked ones, else to the one under the cursor."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from textual import work

from watcher.tui.board import SORTS
from watcher.tui.desk import Room
from watcher.tui.view import listed
from watcher.tui.widgets.lines import Lines
from watcher.tui.widgets.rowlist import RowList

VIEWER = "This is a viewer: another watcher has the data. Use that one, or quit it first."


class Deeds(Room):
    """The actions of the main screen."""

    @property
    def rows(self) -> RowList:
        """The list the actions are about."""
        raise NotImplementedError

    def note(self, sentence: str) -> None:
        """Say in the status line what was done."""
        raise NotImplementedError

    def _show_list(self, *, keep: str | None = None) -> None:
        raise NotImplementedError

    def _chosen_names(self) -> list[str]:
        """What to act on; empty, with a word to the user, where acting is not possible."""
        if self.desk.handle.read_only:
            self.say(VIEWER, wrong=True)
            return []
        return self.desk.board.selected(self.rows.cursor)

    def action_check(self) -> None:
        """Check now."""
        names = self._chosen_names()
        if names:
            self.desk.handle.check_now(names)
            self.note(f"asked for a check of {listed(names)}")

    def action_force(self) -> None:
        """Check now and fetch whole."""
        names = self._chosen_names()
        if names:
            self.desk.handle.check_now(names, force=True)
            self.note(f"asked for {listed(names)}, whole")

    def action_check_due(self) -> None:
        """Check what is due."""
        if self.desk.handle.read_only:
            self.say(VIEWER, wrong=True)
            return
        self.desk.handle.check_due()
        self.note("looking at what is due")

    def action_pause(self) -> None:
        """Pause if any of them runs, else resume."""
        names = self._chosen_names()
        summaries = [self.desk.handle.summary(name) for name in names]
        pause = any(summary is not None and not summary.paused for summary in summaries)
        if names:
            self.desk.handle.set_paused(names, pause)
            self.note(f"{'paused' if pause else 'resumed'} {listed(names)}")

    def action_seen(self) -> None:
        """Seen if any of them is unseen, else unseen again."""
        names = self._chosen_names()
        summaries = [self.desk.handle.summary(name) for name in names]
        seen = any(summary is not None and summary.unseen for summary in summaries)
        if names:
            self.desk.handle.mark_seen(names, seen)
            self.note(f"{'seen' if seen else 'not seen'}: {listed(names)}")

    def action_next_changed(self, step: int) -> None:
        """To the nearest change not yet seen."""
        index = self.desk.board.next_unseen(self.rows.cursor, step)
        if index is None:
            self.note("no change that you have not seen")
        else:
            self.rows.cursor = index

    def action_mark(self) -> None:
        """Mark, or unmark, and go on."""
        name = self.desk.board.name(self.rows.cursor)
        if name is not None:
            self.desk.board.marked ^= {name}
            self.rows.refresh_rows()
            self.rows.cursor += 1
            self.note("")

    def action_mark_all(self) -> None:
        """Mark all that is shown, or nothing if all of it is marked."""
        shown = set(self.desk.board.shown())
        self.desk.board.marked = set() if shown <= self.desk.board.marked else shown
        self.rows.refresh_rows()
        self.note("")

    def action_sort(self, step: int) -> None:
        """The next order."""
        board = self.desk.board
        index = next(at for at, sort in enumerate(SORTS) if sort.name == board.sort.name)
        board.use_sort(SORTS[(index + step) % len(SORTS)])
        self._show_list()
        self.note(f"sorted by {board.sort.title}")

    def action_reverse(self) -> None:
        """The same order from its other end."""
        board = self.desk.board
        board.use_sort(board.sort, not board.reverse)
        self._show_list()

    def action_zoom(self) -> None:
        """The detail on the whole screen, and back."""
        self.toggle_class("-zoomed")
        detail = self.query_one("#detail", Lines)
        detail.can_focus = self.has_class("-zoomed")
        (detail if self.has_class("-zoomed") else self.rows).focus()

    def action_open(self) -> None:
        """Enter: the detail."""
        if self.desk.current is not None:
            self.action_zoom()

    def action_scroll_pane(self, step: int) -> None:
        """The detail up or down, the focus staying in the list."""
        self.query_one("#detail", Lines).scroll_relative(y=3 * step, animate=False)

    async def action_diff(self) -> None:
        """What changed. Looked at is seen."""
        name = self.desk.current
        if name is None:
            return
        summary = self.desk.handle.summary(name)
        if summary is not None and summary.unseen and not self.desk.handle.read_only:
            self.desk.handle.mark_seen([name])
        await self.run_action("app.show('diff')")

    def action_browse(self) -> None:
        """The page in the browser."""
        watch = self.desk.handle.watch(self.desk.current or "")
        if watch is not None and watch.url.startswith(("http://", "https://")):
            self.app.open_url(watch.url)
            self.note(f"opened {watch.url}")
        elif watch is not None:
            self.note("this watch has no address that a browser could open")

    def action_copy(self) -> None:
        """The URL to the clipboard."""
        names = self.desk.board.selected(self.rows.cursor)
        urls = [watch.url for watch in map(self.desk.handle.watch, names) if watch is not None]
        if urls:
            self.app.copy_to_clipboard("\n".join(urls))
            self.note(f"copied {listed(urls)}")

    def action_add(self) -> None:
        """Add pages."""
        if self.desk.handle.read_only or self.desk.options.save_watches is None:
            self.say(VIEWER, wrong=True)
            return
        from watcher.tui.screens.add import AddScreen

        self.app.push_screen(AddScreen(self.desk))

    def action_edit(self) -> None:
        """This watch in the editor, at its line."""
        watch = self.desk.handle.watch(self.desk.current or "")
        if watch is not None and watch.declared_in:
            self.edit(Path(watch.declared_in), watch.declared_line)
        else:
            self.action_config()

    def action_config(self) -> None:
        """The configuration in the editor; where there is none, asked first whether to write one."""
        path, init = self.desk.options.config_file, self.desk.options.init_config
        if path is None:
            self.say("There is no configuration file here.", wrong=True)
        elif path.exists():
            self.edit(path, None)
        elif init is None:
            self.say(f"{path} does not exist; `watcher init` writes one.", wrong=True)
        else:

            def answered(yes: bool | None) -> None:
                if yes:
                    init()
                    self.edit(path, None)

            self._ask(f"Write a commented configuration to {path} and open it?", answered)

    @work(group="editor", exclusive=True)
    async def edit(self, path: Path, line: int | None) -> None:
        """Edit ``path``; what was changed is in force on return."""
        from watcher.tui.editor import editor_command, run_outside

        wrong = await run_outside(self.app, editor_command(os.environ, path, line))
        if wrong:
            self.say(wrong, wrong=True)
        if not self.desk.handle.read_only:
            self.desk.handle.check_due()

    def action_remove(self) -> None:
        """Remove watches, asked first. One of the user's own file is shown there instead."""
        names, options = self._chosen_names(), self.desk.options
        ours = [name for name in names if self._is_ours(name)]
        if not names:
            return
        if not ours or options.remove_watch is None:
            self.say("This watch is in your own configuration: take it out there. It opens at its line.")
            self.action_edit()
            return
        remove = options.remove_watch

        def answered(yes: bool | None) -> None:
            for name in ours if yes else ():
                try:
                    remove(name)
                except (OSError, ValueError, KeyError) as error:
                    self.say(f"{name} was not removed: {error}", wrong=True)
            if yes:
                self.desk.board.marked.clear()
                self.desk.handle.check_due()

        question = f"Stop watching {listed(ours)}? Its history stays until `watcher forget`."
        self._ask(question, answered)

    def _ask(self, question: str, answered: Callable[[bool | None], None]) -> None:
        from watcher.tui.screens.confirm import Confirm

        self.app.push_screen(Confirm(question), answered)

    def _is_ours(self, name: str) -> bool:
        watch, ours = self.desk.handle.watch(name), self.desk.options.watches_file
        return watch is not None and ours is not None and watch.declared_in == str(ours)
