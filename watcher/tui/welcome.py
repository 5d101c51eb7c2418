"""What empty places say: never a blank table, always what to do."""

from __future__ import annotations

from collections.abc import Mapping

from watcher.tui.ink import Ink, Line, wrap
from watcher.tui.keys import BY_ID, spelled_for
from watcher.tui.options import ScreenOptions


def welcome(options: ScreenOptions, keymap: Mapping[str, str], read_only: bool, cells: int) -> list[Line]:
    """The first run: nothing is watched yet."""

    def offer(id: str, sentence: str) -> list[Line]:
        return wrap([Ink(f"{spelled_for(BY_ID[id], keymap)[0]:>3}  ", "key"), Ink(sentence)], cells, 5)

    lines: list[Line] = [(Ink("No pages yet", "strong"),), ()]
    if read_only:
        return lines + wrap(
            [Ink("Another watcher has this data open and watches nothing yet. Add pages there.")], cells
        )
    lines += offer("add", "add a page: paste its URL, or many at once")
    where = f" {options.config_file}" if options.config_file else ""
    there = options.config_file is not None and options.config_file.exists()
    lines += offer("config", f"open the configuration{where}" if there else f"write a commented configuration{where}")
    lines += offer("help", "all keys")
    lines += offer("quit", "quit")
    lines += [
        (),
        *wrap([Ink("Nothing is written until you ask for it. `watcher demo` shows a living example.", "muted")], cells),
    ]
    return lines


def nothing_found(text: str, total: int, cells: int) -> list[Line]:
    """A filter that matches nothing."""
    said = [Ink("None of "), Ink(f"{total:,}"), Ink(" pages matches "), Ink(text, "strong"), Ink(".")]
    return [
        *wrap(said, cells),
        (),
        *wrap([Ink("esc", "key"), Ink(" clears the filter, "), Ink("/", "key"), Ink(" changes it.")], cells),
    ]
