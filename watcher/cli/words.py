"""How a watch's state reads in a line: a glyph, a word, a colour."""

from __future__ import annotations

from watcher.core.model import Outcome, Status
from watcher.core.state import Summary

_GLYPHS = {"same": "·", "changed": "◆", "new": "+", "error": "✗", "waiting": "◷", "paused": "‖"}
_ASCII = {"same": ".", "changed": "*", "new": "+", "error": "x", "waiting": "~", "paused": "="}
_COLOURS = {
    "changed": ("yellow", "bold"),
    "new": ("cyan",),
    "error": ("red",),
    "waiting": ("blue",),
    "paused": ("dim",),
}
_SAME = (Outcome.NOT_MODIFIED, Outcome.UNCHANGED, Outcome.REDEFINED)


def mood(summary: Summary) -> str:
    """Which of the six kinds of line a watch is: what a person looks for, not the exact outcome."""
    if summary.paused:
        return "paused"
    if summary.status in (Status.FAILING, Status.BLOCKED, Status.GONE) or summary.outcome is Outcome.ERROR:
        return "error"
    if summary.status is Status.DEFERRED:
        return "waiting"
    if summary.unseen or summary.outcome in (Outcome.CHANGED, Outcome.RETURNED):
        return "changed"
    return "new" if summary.outcome in (None, Outcome.FIRST) else "same"


def glyph(summary: Summary, *, ascii: bool) -> str:
    """The mark at the head of a line."""
    return (_ASCII if ascii else _GLYPHS)[mood(summary)]


def colours(summary: Summary) -> tuple[str, ...]:
    """How the line is painted."""
    return _COLOURS.get(mood(summary), ())


def last(summary: Summary) -> str:
    """The last outcome as a word, with the status where that says more."""
    if summary.paused:
        return "paused"
    if summary.outcome is None:
        return "never checked"
    if summary.outcome is Outcome.FIRST:
        return "new"
    if summary.outcome in _SAME:
        return "same"
    if summary.outcome is Outcome.ERROR and summary.http_status >= 400:
        return f"HTTP {summary.http_status}"
    return summary.outcome.value


def streak(summary: Summary) -> str:
    """Checks in a row without a change (+), or failed (-)."""
    if summary.paused or summary.outcome is None:
        return "-"
    return f"-{summary.failures}" if summary.failures else f"+{summary.unchanged_streak}"
