"""Whole screens as text, to be read and compared: what stands where, and below it in which style.

``python -m tests.tui.camera [SCREEN...]`` writes those in ``pictures/`` anew; then read what git says moved.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from string import ascii_letters, digits
from typing import NamedTuple

from rich.cells import cell_len
from textual.strip import Strip
from textual.widgets import Input

from tests.tui.stage import Stage, stage
from tests.tui.support import SHELF, town
from watcher.tui.widgets.lines import Lines

FOLDER = Path(__file__).parent / "pictures"
SIZES = {"80x24": (80, 24), "140x40": (140, 40), "40x12": (40, 12)}
THEMES = {"dark": "harbor", "light": "paper", "ansi": "terminal"}
LETTERS = ascii_letters + digits + "!#$%&*+-/<=>?@^_~"


class Pose(NamedTuple):
    """How a screen is reached, and what it says once it is complete: in the pane ``where``, seen or scrolled away."""

    keys: Sequence[str]
    word: str
    where: str = ""


SCREENS = {
    "watches": Pose(["j"], "outcomes", "#detail"),
    "diff": Pose(["j", "d"], "stock", "#change"),
    "numbers": Pose(["3"], "THE FOUR NUMBERS", "#numbers"),
    "activity": Pose(["4"], "40 lines"),
    "add": Pose(["a", *SHELF.removeprefix("https://"), "enter"], "Oak shelf"),
    "help": Pose(["question_mark"], "Open the page"),
}


async def strike(opened: Stage, pose: Pose) -> None:
    """Take the pose and wait until the screen is complete."""
    await opened.press(*pose.keys)
    for field in opened.app.screen.query(Input):
        field.cursor_blink = False

    def complete() -> bool:
        if not pose.where:
            return pose.word in opened.text
        pane = opened.app.screen.query_one(pose.where, Lines)
        # A small screen hides the detail, which then says nothing.
        return not pane.size.width or any(pose.word in ink.text for line in pane.lines for ink in line)

    await opened.until(complete)
    await opened.pilot.pause()


async def wear(opened: Stage, theme: str) -> list[Strip]:
    """The screen in another theme."""
    opened.app.theme = theme
    await opened.pilot.pause()
    await opened.pilot.pause()
    return opened.app.screen._compositor.render_strips(opened.app.size)


def styles(strips: Sequence[Strip]) -> list[str]:
    """A letter for each cell's style, and what the letters stand for."""
    known: dict[str, str] = {}
    lines = []
    for strip in strips:
        line = ""
        for text, style, _ in strip:
            letter = known.setdefault(str(style), LETTERS[len(known)])
            line += letter * cell_len(text)
        lines.append(line)
    return [*lines, *(f"{letter} {style}" for style, letter in known.items())]


async def picture(screen: str, size: str) -> str:
    """One screen in one size: its text, and its styles in every theme."""
    async with stage(town(), SIZES[size]) as opened:
        await strike(opened, SCREENS[screen])
        worn = {name: await wear(opened, theme) for name, theme in THEMES.items()}
    text = [strip.text.rstrip() for strip in worn["dark"]]
    for name, strips in worn.items():
        assert [strip.text.rstrip() for strip in strips] == text, f"the {name} theme moves text about"
    parts = [f"=== {screen} {size}", *text]
    for name, strips in worn.items():
        parts += [f"--- {name}", *styles(strips)]
    return "\n".join(parts) + "\n"


def kept(screen: str, size: str) -> str:
    """The picture as it is stored."""
    whole = (FOLDER / f"{screen}.txt").read_text("utf-8")
    start = whole.index(f"=== {screen} {size}\n")
    end = whole.find("\n=== ", start)
    return whole[start:] if end < 0 else whole[start : end + 1]


async def main(wanted: Sequence[str]) -> None:
    """Write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    for screen in wanted or SCREENS:
        pictures = [await picture(screen, size) for size in SIZES]
        (FOLDER / f"{screen}.txt").write_text("".join(pictures), "utf-8")


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    os.environ.pop("NO_COLOR", None)
    time.tzset()
    asyncio.run(main(sys.argv[1:]))
