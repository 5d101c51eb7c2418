"""Styled text as plain values: what the views make and the widgets paint. Nothing here knows a screen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len, chop_cells, set_cell_size


class Ink(NamedTuple):
    """A stretch of text and the name of its style (one of :data:`STYLES`, or empty)."""

    text: str
    style: str = ""


Line: TypeAlias = tuple[Ink, ...]

STYLES = (
    "strong",
    "muted",
    "head",
    "key",
    "accent",
    "same",
    "changed",
    "new",
    "error",
    "backoff",
    "paused",
    "gone",
    "running",
    "added",
    "removed",
    "added-word",
    "removed-word",
    "heat-1",
    "heat-2",
    "heat-3",
    "heat-4",
)

# Text of a page goes to a terminal: control characters and bidirectional overrides would be obeyed there.
_UNSAFE = {
    **dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], "�"),
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0xFEFF], ""),
    **dict.fromkeys([0x09, 0x0A, 0x0D, 0x2028, 0x2029], " "),
}
_TOKENS = re.compile(r"\n|[^\S\n]+|\S+")


def clean(text: str) -> str:
    """``text`` without anything a terminal would obey instead of show."""
    return text if text.isascii() and text.isprintable() else text.translate(_UNSAFE)


def width(line: Iterable[Ink]) -> int:
    """The cells a line takes."""
    return sum(cell_len(ink.text) for ink in line)


def plain(line: Iterable[Ink]) -> str:
    """The text of a line without its styles."""
    return "".join(ink.text for ink in line)


def fit(text: str, cells: int, *, right: bool = False, ellipsis: str = "…") -> str:
    """``text`` in exactly ``cells`` cells: padded, or cut with an ellipsis."""
    if cells <= 0:
        return ""
    text = clean(text)
    wide = cell_len(text)
    if wide > cells:
        short = max(0, cells - cell_len(ellipsis))
        return set_cell_size(set_cell_size(text, short) + ellipsis, cells)
    return " " * (cells - wide) + text if right else text + " " * (cells - wide)


def cut(line: Iterable[Ink], cells: int, *, ellipsis: str = "…") -> Line:
    """``line`` in at most ``cells`` cells; an ellipsis stands for what is left out."""
    inks = tuple(line)
    if width(inks) <= cells:
        return inks
    left, kept, style = cells - cell_len(ellipsis), [], ""
    for text, style in inks:
        wide = cell_len(text)
        if wide > left:
            kept.append(Ink(set_cell_size(text, max(0, left)), style))
            break
        kept.append(Ink(text, style))
        left -= wide
    return (*(ink for ink in kept if ink.text), Ink(ellipsis if cells > 0 else "", style))


def padded(line: Iterable[Ink], cells: int, *, ellipsis: str = "…") -> Line:
    """``line`` in exactly ``cells`` cells."""
    short = cut(line, cells, ellipsis=ellipsis)
    return (*short, Ink(" " * (cells - width(short))))


def _end_row(row: list[Ink]) -> None:
    """Drop the blanks a broken line ends with: on a ground of their own they would show."""
    while row and row[-1].text.isspace():
        row.pop()


def wrap(line: Iterable[Ink], cells: int, indent: int = 0) -> list[Line]:
    """``line`` broken at blanks (and inside words longer than a line) so that no part is wider than ``cells``.

    Newlines break too. Parts after the first are indented. There is always at least one part.
    """
    cells = max(cells, indent + 2)
    rows: list[list[Ink]] = [[]]
    at = 0
    for text, style in line:
        for token in _TOKENS.findall(text):
            if token == "\n":
                rows.append([Ink(" " * indent)])
                at = indent
                continue
            token = clean(token)
            wide = cell_len(token)
            if at + wide > cells and token.isspace():
                token, wide = "", 0
            if at + wide > cells and at > indent:
                _end_row(rows[-1])
                rows.append([Ink(" " * indent)])
                at = indent
            while at + cell_len(token) > cells:
                piece = chop_cells(token, cells - at)[0]
                rows[-1].append(Ink(piece, style))
                rows.append([Ink(" " * indent)])
                token, at = token[len(piece) :], indent
            rows[-1].append(Ink(token, style))
            at += cell_len(token)
    return [tuple(ink for ink in row if ink.text) for row in rows]
