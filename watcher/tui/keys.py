"""Every key, once. The bindings, the footer, the help screen, the palette and README's table are read from here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from textual.binding import BindingType


class Key(NamedTuple):
    """One thing a key does.

    ``id`` is its name in the configuration's ``[keys]``. ``scope`` is where it works: ``all``, ``rows`` (every list),
    ``pane`` (a text beside a list), or a screen's name. ``label`` is for the footer, which shows keys by ``rank``
    (0: never there).
    """

    id: str
    keys: str
    action: str
    scope: str
    label: str
    help: str
    rank: int = 0


ROWS, PANE, ALL = "rows", "pane", "all"
WATCHES, DIFF, NUMBERS, ACTIVITY, ADD, HELP = "watches", "diff", "numbers", "activity", "add", "help"

TABLE = (
    Key("up", "up,k", "up", ROWS, "up", "Up"),
    Key("down", "down,j", "down", ROWS, "down", "Down"),
    Key("page-up", "pageup,ctrl+u", "page_up", ROWS, "page up", "A page up"),
    Key("page-down", "pagedown,ctrl+d", "page_down", ROWS, "page down", "A page down"),
    Key("top", "home,g", "top", ROWS, "top", "To the top"),
    Key("bottom", "end,G", "bottom", ROWS, "bottom", "To the bottom"),
    Key("pane-down", "J", "scroll_pane(1)", PANE, "scroll", "Scroll the text beside or below the list down"),
    Key("pane-up", "K", "scroll_pane(-1)", PANE, "scroll", "Scroll it up"),
    Key("open", "enter", "open", WATCHES, "open", "Open the page's detail, and close it again", 2),
    Key("check", "r", "check", WATCHES, "check", "Check this page now (or the marked ones)", 3),
    Key("check-due", "R", "check_due", WATCHES, "check due", "Check everything that is due", 12),
    Key("force", "F", "force", WATCHES, "force", "Check now and fetch the page whole, without conditions", 16),
    Key("pause", "space", "pause", WATCHES, "pause", "Pause, or resume", 5),
    Key("next", "n", "next_changed(1)", WATCHES, "next", "To the next change not yet seen", 6),
    Key("previous", "N", "next_changed(-1)", WATCHES, "previous", "To the previous change not yet seen"),
    Key("seen", "m", "seen", WATCHES, "seen", "Mark the change as seen, or as unseen again", 9),
    Key("diff", "d", "diff", WATCHES, "diff", "What changed, and the history", 4),
    Key("filter", "slash", "filter", WATCHES, "filter", "Filter the list: status:failing tag:shop changed:<2d lamp", 7),
    Key("add", "a", "add", WATCHES, "add", "Add a page, or many: paste their URLs", 8),
    Key("edit", "e", "edit", WATCHES, "edit", "Edit this watch in $VISUAL or $EDITOR", 10),
    Key("config", "E", "config", WATCHES, "config", "Edit the configuration in $VISUAL or $EDITOR", 17),
    Key("browse", "o", "browse", WATCHES, "browser", "Open the page in the browser", 11),
    Key("copy", "y", "copy", WATCHES, "copy", "Copy the URL", 13),
    Key("mark", "v", "mark", WATCHES, "mark", "Mark this page, for actions on several", 14),
    Key("mark-all", "V", "mark_all", WATCHES, "mark all", "Mark all pages shown, or none"),
    Key("remove", "X", "remove", WATCHES, "remove", "Remove this watch (asks first)", 18),
    Key("sort", "s", "sort(1)", WATCHES, "sort", "Sort by the next column", 15),
    Key("reverse", "S", "reverse", WATCHES, "reverse", "Turn the order round"),
    Key("zoom", "plus", "zoom", WATCHES, "zoom", "Give the detail the whole screen, and back"),
    Key("older", "left_square_bracket,left,h", "older", DIFF, "older", "The change before", 2),
    Key("newer", "right_square_bracket,right,l", "newer", DIFF, "newer", "The change after", 3),
    Key("base", "b", "base", DIFF, "base", "Compare with this version from now on, or with the one before again", 7),
    Key("as-of", "t", "as_of", DIFF, "as of", "The record as it was at a time", 8),
    Key("layout", "u", "layout", DIFF, "layout", "Side by side, or one below the other", 4),
    Key("wrap", "w", "wrap", DIFF, "wrap", "Wrap long lines, or cut them", 5),
    Key("copy-field", "y", "copy", DIFF, "copy", "Copy what changed", 6),
    Key("browse-diff", "o", "browse", DIFF, "browser", "Open the page in the browser", 10),
    Key("pager", "p", "pager", DIFF, "pager", "Hand the change to $PAGER", 9),
    Key("differ", "D", "differ", DIFF, "differ", "Hand both records to the program `differ` names", 11),
    Key("window", "w", "window", NUMBERS, "window", "Another window of time: 1, 7, 30 days, everything", 2),
    Key("group", "h", "group", NUMBERS, "by host", "By host, or by page type", 3),
    Key("simulate", "s", "simulate", NUMBERS, "simulate", "What every policy would have cost on this history", 4),
    Key("follow", "f", "follow", ACTIVITY, "follow", "Follow new lines, or hold still", 3),
    Key("filter-activity", "slash", "filter", ACTIVITY, "filter", "Show only lines that contain a text", 2),
    Key("jump", "enter", "jump", ACTIVITY, "to the page", "Go to the page of this line", 4),
    Key("try", "enter", "try", ADD, "look", "Fetch the page once and show what would be recorded", 2),
    Key("save", "ctrl+s", "save", ADD, "save", "Save to watches.toml and start watching", 3),
    Key("field", "ctrl+t", "toggle_field", ADD, "field on/off", "Take the field under the cursor, or leave it", 4),
    Key("watches", "1", "show('watches')", ALL, "watches", "The watches"),
    Key("diff-screen", "2", "show('diff')", ALL, "diff", "What changed, and the history"),
    Key("numbers", "3", "show('numbers')", ALL, "numbers", "The numbers: what was saved, and what it cost", 20),
    Key("activity", "4", "show('activity')", ALL, "activity", "Every exchange as it happens", 21),
    Key("help", "question_mark,f1", "help", ALL, "help", "The keys of this screen", 1),
    Key("palette", "ctrl+p,colon", "command_palette", ALL, "palette", "Everything by name: actions, pages, themes", 19),
    Key("restart", "ctrl+r", "restart", ALL, "restart", "Start the engine again after it failed"),
    Key("back", "escape", "back", ALL, "back", "Back; clears a filter or marks first", 23),
    Key("quit", "q", "leave", ALL, "quit", "Quit (on other screens: back). Twice: without waiting for checks", 22),
    Key("interrupt", "ctrl+c", "interrupt", ALL, "quit", "Quit from anywhere. Twice: without waiting for checks"),
)
"""In the order the help screen shows them."""

BY_ID = {key.id: key for key in TABLE}

_TITLES = {
    ROWS: "In every list",
    PANE: "Beside a list",
    WATCHES: "Watches",
    DIFF: "Diff and history",
    NUMBERS: "Numbers",
    ACTIVITY: "Activity",
    ADD: "Add",
    ALL: "Everywhere",
}
_SHOWN = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "plus": "+",
    "escape": "esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "f1": "F1",
}


def bindings(*scopes: str) -> list[BindingType]:
    """The bindings of ``scopes``, with their ids, so that the configuration can move them."""
    # The configuration checks its [keys] against this table without loading the screen's library.
    from textual.binding import Binding

    priority = {"interrupt", "palette", "save", "field"}
    return [
        Binding(key.keys, key.action, key.label, show=False, id=key.id, priority=key.id in priority)
        for key in TABLE
        if key.scope in scopes
    ]


def spelled(keys: str) -> list[str]:
    """Keys as a person reads them: ``ctrl+p,colon`` is ``^p`` and ``:``."""
    return [_SHOWN.get(key, key).replace("ctrl+", "^") for key in keys.split(",")]


def spelled_for(key: Key, keymap: Mapping[str, str]) -> list[str]:
    """The keys of ``key`` as the configuration has them."""
    return spelled(keymap.get(key.id, key.keys))


FIRST_RUN = ("help", "add", "config", "palette", "numbers", "activity", "quit")
"""What makes sense while there is no watch."""


def footer(scopes: Iterable[str], keymap: Mapping[str, str]) -> list[tuple[Key, str]]:
    """What the footer offers on a screen, most useful first."""
    wanted, main = {*scopes, ALL}, WATCHES in scopes
    offered = [key for key in TABLE if key.rank and key.scope in wanted and key.id != ("back" if main else "quit")]
    # On the list one quits; everywhere else the way back is what one must not have to look for.
    ranked = sorted(offered, key=lambda key: 1.5 if key.id == "back" else key.rank)
    return [(key, spelled_for(key, keymap)[0]) for key in ranked]


def sections(scopes: Iterable[str], keymap: Mapping[str, str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Title and (keys, what they do) of each scope, for the help screen."""
    return [
        (_TITLES[scope], [(" ".join(spelled_for(key, keymap)), key.help) for key in TABLE if key.scope == scope])
        for scope in scopes
    ]


def unknown(keymap: Mapping[str, str]) -> list[str]:
    """Ids in ``keymap`` that no key has."""
    return sorted(set(keymap) - BY_ID.keys())


def markdown() -> str:
    """README's table of keys."""
    rows = ["| key | does | id in `[keys]` |", "|---|---|---|"]
    for scope, title in _TITLES.items():
        rows.append(f"| **{title}** | | |")
        for key in TABLE:
            if key.scope == scope:
                shown = " ".join(f"`{name}`" for name in spelled(key.keys))
                rows.append(f"| {shown} | {key.help} | `{key.id}` |")
    return "\n".join(rows) + "\n"
