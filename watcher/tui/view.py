"""What a row of the list says: from a summary to cells of ink. Pure, and cheap enough for every row painted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from watcher.core.model import Outcome, Status, Watch
from watcher.core.phrase import DAY, HOUR, MINUTE
from watcher.core.state import Summary
from watcher.tui.ink import Ink, Line, fit
from watcher.tui.signs import Mood, Signs

WEEK = 604_800.0
YEAR = 365 * DAY

_WORDS = {
    None: "never",
    Outcome.FIRST: "new",
    Outcome.NOT_MODIFIED: "same",
    Outcome.UNCHANGED: "same",
    Outcome.CHANGED: "changed",
    Outcome.GONE: "gone",
    Outcome.RETURNED: "back",
    Outcome.REDEFINED: "redefined",
    Outcome.ERROR: "error",
    Outcome.BLOCKED: "blocked",
    Outcome.DEFERRED: "waiting",
}
GLYPHS = {
    Mood.SAME: "as it was",
    Mood.CHANGED: "changed, and not seen yet",
    Mood.NEW: "new: looked at once, or not yet",
    Mood.ERROR: "failing, or refused",
    Mood.BACKOFF: "waiting: the host asked for it, or a check failed",
    Mood.PAUSED: "paused",
    Mood.GONE: "gone; what it was is kept",
    Mood.RUNNING: "being checked now",
}
"""What the signs in front of the rows mean."""

_STATUSES = {Status.GONE: Mood.GONE, Status.FAILING: Mood.ERROR, Status.BLOCKED: Mood.ERROR}


class Column(NamedTuple):
    """A column of the list. It is shown only where the page's name keeps at least ``spare`` cells beside it."""

    name: str
    title: str
    width: int
    right: bool
    spare: int


GLYPH_CELLS = 3
LAST = Column("last", "LAST", 9, False, 8)
DUE = Column("due", "DUE", 4, True, 12)
EVERY = Column("every", "EVERY", 6, True, 18)
STREAK = Column("streak", "STREAK", 7, True, 18)
CHANGED = Column("changed", "CHANGED", 8, True, 24)
TYPE = Column("type", "TYPE", 8, False, 32)
TAGS = Column("tags", "TAGS", 14, False, 36)

BY_IMPORTANCE = (LAST, DUE, STREAK, EVERY, CHANGED, TYPE, TAGS)
IN_ORDER = (TYPE, TAGS, EVERY, STREAK, CHANGED, LAST, DUE)


class Layout(NamedTuple):
    """Which columns fit, and how many cells the name gets."""

    page: int
    columns: tuple[Column, ...]


def layout(cells: int) -> Layout:
    """The columns that fit into ``cells``: the less important go first, the name stays readable."""
    page, kept = cells - GLYPH_CELLS, set()
    for column in BY_IMPORTANCE:
        if page - column.width - 1 < column.spare:
            break
        page -= column.width + 1
        kept.add(column)
    return Layout(page, tuple(column for column in IN_ORDER if column in kept))


def mood(summary: Summary, running: bool = False) -> Mood:
    """How the watch stands, worst first: what a person must act on hides what is only news."""
    if running:
        return Mood.RUNNING
    if summary.paused:
        return Mood.PAUSED
    if summary.status in _STATUSES:
        return _STATUSES[summary.status]
    if summary.outcome in (Outcome.ERROR, Outcome.DEFERRED):
        return Mood.BACKOFF
    if summary.unseen:
        return Mood.CHANGED
    return Mood.NEW if summary.outcome in (None, Outcome.FIRST) else Mood.SAME


def brief(seconds: float) -> str:
    """A duration in at most four cells: ``42s``, ``12m``, ``3h``, ``2d``, ``5w``, ``1y``."""
    if seconds < 1:
        return "now"
    for least, unit, sign in ((YEAR, YEAR, "y"), (9 * WEEK, WEEK, "w"), (DAY, DAY, "d"), (HOUR, HOUR, "h")):
        if seconds >= least * 0.99:
            return f"{seconds / unit:.0f}{sign}"
    return f"{seconds / MINUTE:.0f}m" if seconds >= 59.5 else f"{seconds:.0f}s"


def countdown(seconds: float) -> str:
    """A wait that is watched: ``0:42`` below an hour, then as :func:`brief`."""
    if seconds >= HOUR or seconds < 1:
        return brief(seconds)
    left = int(seconds)
    return f"{left // 60}:{left % 60:02d}"


def when(at: float, now: float) -> str:
    """An instant in local time, as short as its distance from ``now`` allows: ``14:02``, ``Mon 14:02``, ``12 Mar``."""
    then, today = datetime.fromtimestamp(at), datetime.fromtimestamp(now)
    if then.date() == today.date():
        return f"{then:%H:%M}"
    if abs(today - then) < timedelta(days=6):
        return f"{then:%a %H:%M}"
    return f"{then.day} {then:%b}" if then.year == today.year else f"{then.day} {then:%b %Y}"


def stamp(at: float) -> str:
    """An instant in local time, whole: ``2026-03-12 14:02:11``."""
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M:%S}"


def last_word(summary: Summary, running: bool = False) -> str:
    """What the last check came to, in one or two words."""
    if running:
        return "checking"
    if summary.paused:
        return "paused"
    if summary.outcome in (Outcome.ERROR, Outcome.BLOCKED) and summary.http_status >= 400:
        return f"HTTP {summary.http_status}"
    return _WORDS[summary.outcome]


def streak(summary: Summary, signs: Signs) -> str:
    """``+42`` unchanged checks in a row, ``-4`` failed ones, or a dash."""
    if summary.failures:
        return f"-{summary.failures}"
    return f"+{summary.unchanged_streak}" if summary.unchanged_streak else signs.dash


def due(summary: Summary, now: float, signs: Signs) -> str:
    """When the next check is due, from ``now``."""
    if summary.paused or summary.next_check_at is None:
        return signs.dash
    return brief(summary.next_check_at - now)


class Row(NamedTuple):
    """Everything a row is made of."""

    name: str
    summary: Summary
    watch: Watch | None
    running: bool = False
    marked: bool = False


def cells(row: Row, now: float, fitted: Layout, signs: Signs) -> Line:
    """The row as ink, exactly as wide as the layout."""
    summary, how = row.summary, mood(row.summary, row.running)
    lead = signs.mark if row.marked else " "
    quiet = "paused" if summary.paused else ""
    name = Ink(fit(row.name, fitted.page, ellipsis=signs.ellipsis), "strong" if summary.unseen else quiet)
    line = [Ink(lead, "accent"), Ink(f"{signs.moods[how]} ", how.value), name]
    for column in fitted.columns:
        text, style = _cell(column.name, row, how, now, signs)
        line.append(Ink(" " + fit(text, column.width, right=column.right, ellipsis=signs.ellipsis), style))
    return tuple(line)


def _cell(column: str, row: Row, how: Mood, now: float, signs: Signs) -> tuple[str, str]:
    summary = row.summary
    match column:
        case "last":
            return last_word(summary, row.running), how.value
        case "due":
            return due(summary, now, signs), "muted"
        case "streak":
            return streak(summary, signs), "error" if summary.failures else "muted"
        case "every":
            return brief(summary.check_interval), "muted"
        case "changed":
            at = summary.last_changed_at
            return brief(now - at) if at is not None else signs.dash, "changed" if summary.unseen else "muted"
        case "type":
            return row.watch.type if row.watch else "", "muted"
        case _:
            return " ".join(row.watch.tags) if row.watch else "", "muted"


def headings(fitted: Layout, sort: str, descending: bool, signs: Signs) -> Line:
    """The line above the list; the column it is sorted by is marked."""
    arrow = signs.down if descending else signs.up

    def title(name: str, text: str) -> tuple[str, str]:
        return (f"{text}{arrow}", "strong") if name == sort else (text, "head")

    text, style = title("page", "PAGE")
    line = [Ink(" " * GLYPH_CELLS), Ink(fit(text, fitted.page), style)]
    for column in fitted.columns:
        text, style = title(column.name, column.title)
        line.append(Ink(" " + fit(text, column.width, right=column.right), style))
    return tuple(line)


def address(url: str) -> str:
    """A URL as people say it: no scheme, no trailing slash."""
    return url.split("://", 1)[-1].rstrip("/")


def listed(names: Collection[str] | Sequence[str], most: int = 3) -> str:
    """Names in a sentence: ``a, b, c and 4 more``."""
    shown = list(names)[:most]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def plural(count: int, word: str) -> str:
    """``1 page``, ``1,200 pages``."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
