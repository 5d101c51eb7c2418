"""The cases: one JSON file each, a real-world trouble restated as a watch, a server's answers and what is expected."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def shared() -> Path:
    """Where the shared material lies: ``WATCHER_SHARED``, by default beside the repository."""
    return Path(os.environ.get("WATCHER_SHARED", ROOT.parent / "shared"))


def directory() -> Path:
    """Where the cases lie: ``WATCHER_CASES``, by default among the shared material."""
    return Path(os.environ.get("WATCHER_CASES", shared() / "cases"))


class NotPlayable(Exception):
    """This case cannot be played; the message says why, and the test shows it as its reason to skip."""


@dataclass(frozen=True)
class Case:
    """One file. ``name`` is what its test is called: kind, number and title."""

    path: Path
    data: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def kind(self) -> str:
        return str(self.data["kind"])

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.path.stem}"

    @property
    def steps(self) -> list[dict[str, Any]]:
        return list(self.data.get("steps", []))

    @property
    def setup(self) -> dict[str, Any]:
        """``setup`` as a table; prose becomes ``{"told": prose}``."""
        setup = self.data.get("setup", {})
        return setup if isinstance(setup, dict) else {"told": setup}

    @property
    def expect(self) -> dict[str, Any]:
        return dict(self.data.get("expect", {}))

    @property
    def rows(self) -> list[Any]:
        return list(self.expect.get("rows", []))

    @property
    def action(self) -> str:
        return str(self.data.get("action", ""))


def load() -> Iterator[Case]:
    """Every case of the directory, in the order of the file names; none when it is missing."""
    for path in sorted(directory().glob("*.json")):
        yield Case(path, json.loads(path.read_text(encoding="utf-8")))
