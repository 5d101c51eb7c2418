"""Staleness against requests as a picture: braille dots for a terminal, SVG for a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import TypeAlias

Curves: TypeAlias = Mapping[str, Sequence[tuple[float, float]]]
"""Per policy: checks a page and day, and the share of time that copies are stale."""

MARKS = "ABCDEFGHIJ"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
"""Okabe and Ito's, told apart by colour-blind eyes too."""

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


class _Axes:
    """Both axes logarithmic, around everything that is above nought."""

    def __init__(self, curves: Curves) -> None:
        points = [point for curve in curves.values() for point in curve if min(point) > 0]
        xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
        self.left, self.right = min(xs, default=0.0), max(xs, default=1.0)
        self.bottom, self.top = min(ys, default=0.0), max(ys, default=1.0)

    def place(self, point: tuple[float, float], width: float, height: float) -> tuple[float, float] | None:
        """Where ``point`` lies, from the upper left; None for what a logarithm cannot show."""
        if min(point) <= 0:
            return None
        x = (math.log(point[0]) - self.left) / ((self.right - self.left) or 1.0)
        y = (math.log(point[1]) - self.bottom) / ((self.top - self.bottom) or 1.0)
        return x * width, (1 - y) * height

    def ticks(self) -> tuple[str, str, str, str]:
        """Least and greatest checks a day, least and greatest stale share."""
        return (
            f"{math.exp(self.left):.2g}",
            f"{math.exp(self.right):.2g}",
            f"{math.exp(self.bottom):.1%}",
            f"{math.exp(self.top):.1%}",
        )


def terminal(curves: Curves, *, width: int = 64, height: int = 16) -> list[str]:
    """The picture in lines of text ``width`` + 8 wide: a line a policy, a letter at each of its points."""
    axes = _Axes(curves)
    cells = [[0] * width for _ in range(height)]
    letters: dict[tuple[int, int], str] = {}
    for mark, curve in zip(MARKS, curves.values(), strict=False):
        placed = [p for point in curve if (p := axes.place(point, width * 2 - 1, height * 4 - 1)) is not None]
        for (x0, y0), (x1, y1) in pairwise(placed):
            steps = max(1, round(max(abs(x1 - x0), abs(y1 - y0))))
            for step in range(steps + 1):
                column, row = round(x0 + (x1 - x0) * step / steps), round(y0 + (y1 - y0) * step / steps)
                cells[row // 4][column // 2] |= _DOTS[row % 4][column % 2]
        for x, y in placed:
            letters[round(y) // 4, round(x) // 2] = mark
    least, most, fresh, stale = axes.ticks()
    lines = []
    for number, line in enumerate(cells):
        label = stale if number == 0 else fresh if number == height - 1 else ""
        drawn = "".join(letters.get((number, n), chr(0x2800 + dots) if dots else " ") for n, dots in enumerate(line))
        lines.append(f"{label:>6} │{drawn}".rstrip())
    lines.append(f"{'':>6} └{'─' * width}")
    lines.append(f"{'':>8}{least}{'checks a page and day':^{width - len(least) - len(most)}}{most}")
    lines.append(
        f"{'':>8}stale share of time; " + "  ".join(f"{m} {name}" for m, name in zip(MARKS, curves, strict=False))
    )
    return lines


def svg(curves: Curves, *, width: int = 640, height: int = 400) -> str:
    """The picture as an SVG document."""
    axes = _Axes(curves)
    inner_width, inner_height, left, top = width - 190, height - 80, 70, 20
    least, most, fresh, stale = axes.ticks()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12"><title>Stale share of time against checks a page and day</title>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<path d="M{left} {top}V{top + inner_height}H{left + inner_width}" fill="none" stroke="#888"/>',
    ]
    for text, x, y, anchor in (
        (least, left, top + inner_height + 18, "middle"),
        (most, left + inner_width, top + inner_height + 18, "middle"),
        ("checks a page and day", left + inner_width / 2, top + inner_height + 38, "middle"),
        (stale, left - 8, top + 4, "end"),
        (fresh, left - 8, top + inner_height, "end"),
        ("stale", left - 8, top + inner_height / 2, "end"),
    ):
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>')
    for number, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        placed = [p for point in curve if (p := axes.place(point, inner_width, inner_height)) is not None]
        line = " ".join(f"{left + x:.1f},{top + y:.1f}" for x, y in placed)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.extend(f'<circle cx="{left + x:.1f}" cy="{top + y:.1f}" r="3" fill="{colour}"/>' for x, y in placed)
        parts.append(
            f'<text x="{left + inner_width + 14}" y="{top + 14 + 18 * number}" fill="{colour}">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>"])
