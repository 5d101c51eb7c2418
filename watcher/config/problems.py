"""What can be wrong with a configuration, as values: all of it in one list, each with its place and a way out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to put right: where (file, line from 1, key as written in the file), what, and what to do."""

    file: Path
    message: str
    line: int | None = None
    key: str | None = None
    suggestion: str | None = None

    def __str__(self) -> str:
        place = str(self.file) if self.line is None else f"{self.file}:{self.line}"
        key = f"{self.key}: " if self.key else ""
        advice = f" ({self.suggestion})" if self.suggestion else ""
        return f"{place}: {key}{self.message}{advice}"


class ConfigError(Exception):
    """The configuration cannot be used; ``problems`` holds every reason, in the order of the files."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


def did_you_mean(word: str, known: Iterable[str], add: str | None = None) -> str | None:
    """A suggestion: the nearest known word, else to ``add`` a table, else the choices when they are few, else None."""
    choices = sorted(known)
    near = get_close_matches(word.lower(), choices, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]}?"
    if add:
        return f"add {add}, or write one of {', '.join(choices)}"
    return f"one of {', '.join(choices)}" if 0 < len(choices) <= 16 else None
