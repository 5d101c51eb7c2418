"""What commands print: plain aligned lines, colour on a terminal only, nothing from a page raw; or JSON lines."""

from __future__ import annotations

import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_JSON_CONTROL = re.compile(r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_ENCODER = msgspec.json.Encoder(decimal_format="number")
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "dim": "2", "bold": "1"}


def clean(text: str) -> str:
    """``text`` with every terminal control and direction override spelled out; line ends and tabs stay."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def one_line(text: str) -> str:
    """:func:`clean` text on one line."""
    return clean(" ".join(text.split()))


def width(text: str) -> int:
    """Columns ``text`` takes on a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) != 0 for char in text)


def cut(text: str, columns: int) -> str:
    """``text`` within ``columns``, the cut marked."""
    if width(text) <= columns:
        return text
    text = text[: columns - 1]
    while width(text) > columns - 1:
        text = text[:-1]
    return text + "…"


def json_line(value: Any) -> str:
    """One JSON value on one line, numbers exact, with nothing in it that a terminal would act upon."""
    return _JSON_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", _ENCODER.encode(value).decode())


def rfc3339(at: float | None) -> str | None:
    """An instant as RFC 3339 in UTC, to the second."""
    return None if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def when(at: float | None) -> str:
    """An instant in local time, for people."""
    return "–" if at is None else datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def span(seconds: float) -> str:
    """A duration in its two largest units: ``3d 4h``."""
    left = max(0, round(seconds))
    parts = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2]) or "0s"


class Out:
    """Standard output as commands see it. ``json`` says that only JSON lines may be printed."""

    def __init__(self, stream: TextIO | None = None, *, json: bool = False) -> None:
        self.stream = stream or sys.stdout
        self.json = json
        terminal = self.stream.isatty()
        self.colour = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.columns = shutil.get_terminal_size().columns if terminal else None
        encoding = (self.stream.encoding or "").lower().replace("-", "")
        self.ascii = not encoding.startswith("utf")

    def line(self, text: str = "") -> None:
        """Print one line of our own making."""
        self.stream.write(text + "\n")

    def record(self, value: Any) -> None:
        """Print one JSON line."""
        self.stream.write(json_line(value) + "\n")

    def paint(self, text: str, *names: str) -> str:
        """``text`` in a colour or weight, where colours are wanted."""
        if not self.colour or not names:
            return text
        return f"\x1b[{';'.join(_COLOURS[name] for name in names)}m{text}\x1b[0m"

    def table(
        self, heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: str = "", give: int | None = None
    ) -> None:
        """Print aligned columns. ``right`` has an ``r`` for each column to align right (``-`` elsewhere).

        ``give`` is the column that is cut when a terminal is too narrow.
        """
        cells = [[*map(one_line, row)] for row in rows]
        widths = [max(map(width, column)) for column in zip(heads, *cells, strict=True)]
        if self.columns and give is not None:
            spare = self.columns - sum(widths) - 2 * (len(widths) - 1)
            widths[give] = max(8, widths[give] + min(0, spare))
        aligned = [right[i : i + 1] == "r" for i in range(len(heads))]
        if any(heads):
            self.line(self.paint(_row(heads, widths, aligned), "bold"))
        for row in cells:
            self.line(_row(row, widths, aligned))


def _row(cells: Sequence[str], widths: Sequence[int], aligned: Sequence[bool]) -> str:
    shown = []
    for text, columns, right in zip(cells, widths, aligned, strict=True):
        kept = text if text.isascii() and len(text) <= columns else cut(text, columns)
        blank = " " * (columns - width(kept))
        shown.append(blank + kept if right else kept + blank)
    return "  ".join(shown).rstrip()
