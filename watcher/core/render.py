"""The diff model as lines of spans: unified, side by side, word by word, and one sentence for a notice.

Plain data: who draws (ANSI on the command line, Textual on the screen) maps :class:`LineKind` and
:class:`~watcher.core.words.Mark` to its colours and puts :data:`SIGNS` before the lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from enum import StrEnum

import msgspec

from watcher.core.diff import Block, FieldDiff, Kind, count_kinds
from watcher.core.model import Value
from watcher.core.money import amount, is_price
from watcher.core.words import Mark, Span, Spans, shorten, side, text_of

CONTEXT_WORDS = 8
LONGEST = 400
"""Characters shown of a stretch of new or old text; the rest is cut."""


class LineKind(StrEnum):
    """What a line says."""

    FIELD = "field"
    CONTEXT = "context"
    REMOVED = "removed"
    ADDED = "added"
    EDITED = "edited"
    MOVED = "moved"
    SKIP = "skip"


SIGNS = {
    LineKind.FIELD: "",
    LineKind.CONTEXT: "  ",
    LineKind.REMOVED: "- ",
    LineKind.ADDED: "+ ",
    LineKind.EDITED: "~ ",
    LineKind.MOVED: "> ",
    LineKind.SKIP: "  ",
}
"""What stands before a line where colour alone must not carry the meaning."""


class Line(msgspec.Struct, frozen=True):
    """One line to draw. ``place`` counts blocks from 1 on the side the line is about; None where it means nothing."""

    kind: LineKind
    spans: Spans
    place: int | None = None

    @property
    def text(self) -> str:
        """The line without marks and sign."""
        return text_of(self.spans)


class Row(msgspec.Struct, frozen=True):
    """Two lines that stand beside each other; None where one side has nothing."""

    left: Line | None
    right: Line | None


def _plain(kind: LineKind, text: str, place: int | None = None) -> Line:
    return Line(kind, (Span(Mark.SAME, text),), place)


def _split(kind: LineKind, spans: Spans, place: int | None) -> list[Line]:
    """``spans`` as lines: a block of code holds line ends."""
    lines: list[list[Span]] = [[]]
    for span in spans:
        first, *rest = span.text.split("\n")
        lines[-1].append(Span(span.mark, first, span.cut))
        lines.extend([Span(span.mark, piece, span.cut)] for piece in rest)
    return [Line(kind, tuple(span for span in line if span.text), place) for line in lines]


def _place(index: int | None) -> int | None:
    return None if index is None else index + 1


def _moved(block: Block) -> Line:
    text = text_of(shorten(block.spans, CONTEXT_WORDS))
    return _plain(LineKind.MOVED, f"{text} ({_place(block.old)} → {_place(block.new)})", _place(block.new))


def _short(block: Block) -> Spans:
    if block.kind in (Kind.ADDED, Kind.REMOVED):
        return shorten(block.spans, CONTEXT_WORDS, LONGEST)
    return shorten(block.spans, CONTEXT_WORDS, LONGEST // 2)


def _old_line(block: Block) -> list[Line]:
    return _split(LineKind.REMOVED, side(_short(block), Mark.REMOVED), _place(block.old))


def _new_line(block: Block) -> list[Line]:
    return _split(LineKind.ADDED, side(_short(block), Mark.ADDED), _place(block.new))


def _one_line(block: Block) -> list[Line]:
    kind = {Kind.ADDED: LineKind.ADDED, Kind.REMOVED: LineKind.REMOVED}.get(block.kind, LineKind.EDITED)
    return _split(kind, _short(block), _place(block.old if block.new is None else block.new))


def _block_lines(block: Block, inline: bool) -> list[Line]:
    match block.kind:
        case Kind.MOVED:
            return [_moved(block)]
        case Kind.EDITED if not inline:
            return [*_old_line(block), *_new_line(block)]
    return _one_line(block)


def _context(diff: FieldDiff, place: int) -> Iterator[Line]:
    if place in diff.context:
        spans = shorten((Span(Mark.SAME, diff.context[place]),), CONTEXT_WORDS)
        yield Line(LineKind.CONTEXT, spans, place + 1)


def _with_context(diff: FieldDiff, inline: bool) -> Iterator[Line]:
    """The lines of one field; an unchanged block stands before and after each run of changed ones."""
    shown = -1
    for index, block in enumerate(diff.blocks):
        if block.place - 1 > shown:
            if shown >= 0:
                yield from _context(diff, shown)
            if index:
                yield _plain(LineKind.SKIP, "…")
            yield from _context(diff, block.place - 1)
        yield from _block_lines(block, inline)
        shown = block.place + (block.new is not None)
    if not diff.whole:
        yield from _context(diff, shown)


def _lines(diffs: Iterable[FieldDiff], inline: bool) -> list[Line]:
    lines: list[Line] = []
    for diff in diffs:
        lines.append(_plain(LineKind.FIELD, heading(diff)))
        lines.extend(_with_context(diff, inline))
    return lines


def unified(diffs: Iterable[FieldDiff]) -> list[Line]:
    """Each changed block as its old line and its new one, under its field's name, with a neighbour for orientation."""
    return _lines(diffs, inline=False)


def word_by_word(diffs: Iterable[FieldDiff]) -> list[Line]:
    """Each changed block as one line in which removed and added words stand side by side."""
    return _lines(diffs, inline=True)


def side_by_side(diffs: Iterable[FieldDiff]) -> list[Row]:
    """Old lines on the left, new lines on the right; a field's name stands on both sides."""
    rows: list[Row] = []
    for diff in diffs:
        head = _plain(LineKind.FIELD, heading(diff))
        rows.append(Row(head, head))
        for block in diff.blocks:
            left = _old_line(block) if block.old is not None and block.kind is not Kind.MOVED else []
            right = _new_line(block) if block.new is not None and block.kind is not Kind.MOVED else []
            if block.kind is Kind.MOVED:
                left = right = [_moved(block)]
            for i in range(max(len(left), len(right))):
                rows.append(Row(left[i] if i < len(left) else None, right[i] if i < len(right) else None))
    return rows


def delta(before: Value, after: Value) -> str | None:
    """How far a number or price moved, as ``-10.0 %``; None where that means nothing."""
    if is_price(before) and is_price(after) and before["currency"] == after["currency"]:
        before, after = amount(before), amount(after)
    if not all(isinstance(value, int | Decimal) and not isinstance(value, bool) for value in (before, after)):
        return None
    if not before or max(abs(Decimal(before).adjusted()), abs(Decimal(after).adjusted())) > 50:
        return None
    return f"{(Decimal(after) - Decimal(before)) / abs(Decimal(before)) * 100:+.1f} %"


def heading(diff: FieldDiff) -> str:
    """The field's name and what happened to it in a few words."""
    if diff.whole:
        moved = delta(diff.before, diff.after)
        return f"{diff.field} ({moved})" if moved else diff.field
    counts = count_kinds(diff)
    return f"{diff.field} ({', '.join(f'{counts[kind]} {kind}' for kind in Kind if counts[kind])})"


def _shorter(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def sentence(diff: FieldDiff, longest: int = 120) -> str:
    """One field's change in at most about ``longest`` characters: ``price: 19.99 EUR → 17.99 EUR (-10.0 %)``."""
    if diff.whole:
        moved = delta(diff.before, diff.after)
        half = longest // 2
        old, new = (text_of(side(diff.blocks[0].spans, mark)) for mark in (Mark.REMOVED, Mark.ADDED))
        values = f"{_shorter(old, half)} → {_shorter(new, half)}"
        if isinstance(diff.before, str) and isinstance(diff.after, str) and len(old + new) > longest:
            values = _shorter(_inline(diff.blocks[0]), longest)
        return f"{diff.field}: {values}" + (f" ({moved})" if moved else "")
    return f"{heading(diff)}: {_shorter(_inline(diff.blocks[0]), longest)}"


def _inline(block: Block) -> str:
    """A block in one text, marked as ``wdiff`` does: ``costs [-20-] [+18+] EUR``."""
    if block.kind is not Kind.EDITED:
        return text_of(block.spans)
    marks = {Mark.SAME: ("", ""), Mark.REMOVED: ("[-", "-]"), Mark.ADDED: ("[+", "+]")}
    spans = shorten(block.spans, context=3, longest=60)
    return "".join(f"{marks[span.mark][0]}{span.text}{marks[span.mark][1]}" for span in spans)


def summary(diffs: Iterable[FieldDiff], longest: int = 400) -> str:
    """What changed, one field a line, for a notification."""
    return _shorter("\n".join(sentence(diff) for diff in diffs), longest)
