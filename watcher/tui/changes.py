"""What changed between two versions, as ink: one below the other or side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from watcher.core import render
from watcher.core.diff import FieldDiff, changes_between, diff_changes
from watcher.core.history import Version
from watcher.core.model import Outcome
from watcher.core.render import LineKind
from watcher.core.words import Mark, Spans
from watcher.tui.ink import Ink, Line, cut, padded, wrap
from watcher.tui.signs import Signs

_STYLES = {
    LineKind.FIELD: "key",
    LineKind.CONTEXT: "muted",
    LineKind.REMOVED: "removed",
    LineKind.ADDED: "added",
    LineKind.EDITED: "",
    LineKind.MOVED: "muted",
    LineKind.SKIP: "muted",
}
_WORDS = {Mark.REMOVED: "removed-word", Mark.ADDED: "added-word"}
MIDDLE = 3


def diffs_between(before: Version, after: Version) -> tuple[FieldDiff, ...]:
    """The diff of two versions that both have a record; otherwise nothing."""
    if before.record is None or after.record is None:
        return ()
    return diff_changes(changes_between(before.record, after.record))


def last_change(versions: Sequence[Version]) -> tuple[Version, tuple[FieldDiff, ...]] | None:
    """The newest change in ``versions`` (newest first) and its diff."""
    for index, after in enumerate(versions):
        if after.outcome in (Outcome.CHANGED, Outcome.RETURNED):
            before = next((version for version in versions[index + 1 :] if version.record is not None), None)
            return after, diffs_between(before, after) if before else ()
    return None


def unified(diffs: Iterable[FieldDiff], cells: int, signs: Signs, *, wrapped: bool = True) -> list[Line]:
    """Each changed block's old line above its new one; short values on one line with an arrow between them."""
    lines: list[Line] = []
    for diff in diffs:
        short = _short(diff, cells, signs)
        if short is not None:
            lines.append(short)
            continue
        for drawn in render.unified([diff]):
            line = _line(drawn, signs)
            lines += wrap(line, cells, indent=3) if wrapped else [cut(line, cells, ellipsis=signs.ellipsis)]
    return lines


def _short(diff: FieldDiff, cells: int, signs: Signs) -> Line | None:
    """A number, a price or a word that was replaced: ``price  19.90 EUR → 17.50 EUR (-12.1 %)``."""
    if not diff.whole or len(diff.blocks) != 1:
        return None
    spans = diff.blocks[0].spans
    if any(span.mark is Mark.SAME and span.text.strip() for span in spans):
        return None
    old, new = (
        "".join(span.text for span in spans if span.mark in (mark, Mark.SAME)) for mark in (Mark.REMOVED, Mark.ADDED)
    )
    moved = render.delta(diff.before, diff.after)
    tail = f"  {moved}" if moved else ""
    if "\n" in old + new or len(diff.field) + len(old) + len(new) + len(tail) + 6 > cells:
        return None
    return (
        Ink(f"{diff.field}  ", "key"),
        Ink(old, "removed"),
        Ink(f" {signs.arrow} ", "muted"),
        Ink(new, "added"),
        Ink(tail, "muted"),
    )


def side_by_side(diffs: Iterable[FieldDiff], cells: int, signs: Signs, *, wrapped: bool = True) -> list[Line]:
    """Old lines on the left, new ones on the right."""
    half = max(8, (cells - MIDDLE) // 2)
    lines: list[Line] = []
    for row in render.side_by_side(diffs):
        if row.left is not None and row.left.kind is LineKind.FIELD:
            lines.append(padded(_line(row.left, signs), cells, ellipsis=signs.ellipsis))
            continue
        left, right = (_column(side, half, signs, wrapped) for side in (row.left, row.right))
        for index in range(max(len(left), len(right))):
            one = left[index] if index < len(left) else ()
            other = right[index] if index < len(right) else ()
            lines.append((*padded(one, half), Ink(" " * MIDDLE), *padded(other, half)))
    return lines


def _column(drawn: render.Line | None, cells: int, signs: Signs, wrapped: bool) -> list[Line]:
    if drawn is None:
        return []
    line = _line(drawn, signs)
    return wrap(line, cells, indent=3) if wrapped else [padded(line, cells, ellipsis=signs.ellipsis)]


def _line(drawn: render.Line, signs: Signs) -> Line:
    style = _STYLES[drawn.kind]
    if drawn.kind is LineKind.FIELD:
        return (Ink(drawn.text, style),)
    sign = render.SIGNS[drawn.kind]
    return (Ink(f" {sign}", style), *inked(drawn.spans, style, signs))


def inked(spans: Spans, style: str, signs: Signs) -> Line:
    """Spans of words: what is new or gone stands out from what stayed, without the blank before it."""
    line: list[Ink] = []
    for span in spans:
        text = span.text.replace("…", signs.ellipsis) if span.cut else span.text
        word = text.lstrip(" ")
        line += [Ink(text[: len(text) - len(word)], style), Ink(word, _WORDS.get(span.mark, style))]
    return tuple(ink for ink in line if ink.text)


def as_text(diffs: Iterable[FieldDiff]) -> str:
    """The change as plain lines, for the clipboard and the pager."""
    lines = [render.SIGNS[line.kind] + line.text for line in render.unified(diffs)]
    return "\n".join(lines) + "\n" if lines else ""
