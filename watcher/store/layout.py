"""Where things lie in the data directory, and how files are numbered."""

from __future__ import annotations

import os
import re
from typing import Final
from urllib.parse import quote

from watcher.store.fs import FS

_NUMBERED: Final = re.compile(r"^(\d{6,})\.jsonl(\.gz)?$")
JOURNAL: Final = 1
SNAPSHOT: Final = 0


class Layout:
    """The paths below one data directory ``root``."""

    def __init__(self, fs: FS, root: str) -> None:
        self.fs = fs
        self.root = root
        self.journal = os.path.join(root, "journal")
        self.state = os.path.join(root, "state")
        self.history = os.path.join(root, "history")
        self.audit = os.path.join(root, "audit")
        self.bodies = os.path.join(root, "bodies")
        self.quarantine = os.path.join(root, "quarantine")
        self.lock = os.path.join(root, "lock")

    def make(self) -> None:
        """Make every directory. Raises OSError where one cannot be made."""
        for path in (self.root, self.journal, self.state, self.history, self.audit, self.bodies, self.quarantine):
            self.fs.mkdir(path)

    def segment(self, number: int) -> str:
        return os.path.join(self.journal, f"{number:06d}.jsonl")

    def snapshot(self, number: int) -> str:
        return os.path.join(self.state, f"{number:06d}.jsonl")

    def audit_file(self, number: int) -> str:
        return os.path.join(self.audit, f"{number:06d}.jsonl.gz")

    def history_file(self, retention: str, number: int) -> str:
        return os.path.join(self.history, class_dir(retention), f"{number:06d}.jsonl")

    def history_folders(self) -> list[str]:
        """The directory of every retention class that has history."""
        return [os.path.join(self.history, name) for name in self.fs.list(self.history)]

    def history_files(self, number: int) -> list[str]:
        """Where the history of sealed segment ``number`` lies or would lie, class by class."""
        return [os.path.join(folder, f"{number:06d}.jsonl") for folder in self.history_folders()]

    def numbers(self, directory: str) -> list[int]:
        """The numbers of the files in ``directory``, rising."""
        return sorted(int(m[1]) for m in map(_NUMBERED.match, self.fs.list(directory)) if m)

    def path_of(self, file: int) -> str:
        """The path behind a :func:`file_id`."""
        number, kind = divmod(file, 2)
        return self.segment(number) if kind == JOURNAL else self.snapshot(number)

    def short(self, path: str) -> str:
        """``path`` as the user knows it: below the data directory."""
        return os.path.relpath(path, self.root)


def file_id(kind: int, number: int) -> int:
    """One number for a journal segment or a snapshot; never 0."""
    return number * 2 + kind


def class_dir(retention: str) -> str:
    """A retention class as the name of one directory."""
    name = quote(retention, safe=" ") or "default"
    return name.replace(".", "%2E") if name.startswith(".") else name
