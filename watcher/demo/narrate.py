"""The demo's checks as lines of text, for ``watcher demo --headless``."""

from __future__ import annotations

from collections.abc import Iterator

from watcher.core.diff import FieldDiff, Kind, diff_changes, show
from watcher.core.model import Outcome
from watcher.core.phrase import span
from watcher.core.words import Mark
from watcher.engine.events import Checked

GLYPHS = {
    Outcome.FIRST: "+",
    Outcome.CHANGED: "◆",
    Outcome.GONE: "○",
    Outcome.RETURNED: "●",
    Outcome.REDEFINED: "≡",
    Outcome.ERROR: "✗",
    Outcome.BLOCKED: "⊘",
    Outcome.DEFERRED: "◷",
}
MARKS = {Mark.SAME: "{}", Mark.REMOVED: "[-{}-]", Mark.ADDED: "{{+{}+}}"}
SIGNS = {Kind.ADDED: "+", Kind.REMOVED: "-", Kind.EDITED: "~", Kind.MOVED: ">"}


def narrate(event: Checked, began_at: float) -> Iterator[str]:
    """One line for the check, one more for each thing that changed; ``began_at`` is the demo's first instant."""
    check = event.check
    minutes = int((check.at - began_at) / 60)
    time = f"day {minutes // 1440:2} {minutes // 60 % 24:02}:{minutes % 60:02}"
    outcome = f"{GLYPHS.get(check.outcome, '·')} {check.outcome.value:12}"
    yield f"{time}  {outcome} {check.name:26} {_remark(event)}".rstrip()
    for diff in diff_changes(event.changes):
        yield from (f"{'':31}{line}" for line in _lines(diff))


def _remark(event: Checked) -> str:
    check = event.check
    if check.failure is not None:
        return check.failure.message
    if check.next_check_at is None:
        return ""
    return f"next in {span(check.next_check_at - check.at)}"


def _lines(diff: FieldDiff) -> Iterator[str]:
    if diff.whole:
        yield f"{diff.field}: {show(diff.before)} → {show(diff.after)}"
        return
    for block in diff.blocks:
        marked = block.kind is Kind.EDITED
        text = "".join(MARKS[part.mark].format(part.text) if marked else part.text for part in block.spans)
        yield f"{diff.field} {SIGNS[block.kind]} {text}"
