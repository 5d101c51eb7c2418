"""The signs that stand for states, bars and borders: one set for terminals that have them, one of plain ASCII."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Mood(StrEnum):
    """How a watch stands, in the one word its row is coloured by. Also the name of a style."""

    SAME = "same"
    CHANGED = "changed"
    NEW = "new"
    ERROR = "error"
    BACKOFF = "backoff"
    PAUSED = "paused"
    GONE = "gone"
    RUNNING = "running"


class Signs(NamedTuple):
    """Every character the screen draws that is not a letter. All are one cell wide."""

    moods: dict[Mood, str]
    bars: str
    ellipsis: str
    dot: str
    arrow: str
    both: str
    dash: str
    mark: str
    rule: str
    live: str
    up: str
    down: str


UNICODE = Signs(
    moods={
        Mood.SAME: "·",
        Mood.CHANGED: "◆",
        Mood.NEW: "+",
        Mood.ERROR: "✗",
        Mood.BACKOFF: "◷",
        Mood.PAUSED: "‖",
        Mood.GONE: "○",
        Mood.RUNNING: "↻",
    },
    bars=" ▁▂▃▄▅▆▇█",
    ellipsis="…",
    dot="·",
    arrow="→",
    both="↔",
    dash="–",
    mark="▪",
    rule="─",
    live="●",
    up="▲",
    down="▼",
)

ASCII = Signs(
    moods={
        Mood.SAME: ".",
        Mood.CHANGED: "*",
        Mood.NEW: "+",
        Mood.ERROR: "x",
        Mood.BACKOFF: "~",
        Mood.PAUSED: "=",
        Mood.GONE: "o",
        Mood.RUNNING: ">",
    },
    bars=" .:-=+*%#",
    ellipsis="~",
    dot="|",
    arrow=">",
    both="<>",
    dash="-",
    mark="#",
    rule="-",
    live="*",
    up="^",
    down="v",
)


def signs(ascii_only: bool) -> Signs:
    """The set to draw with."""
    return ASCII if ascii_only else UNICODE
