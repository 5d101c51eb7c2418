"""An append-only file of sealed JSON lines, which a crash costs its torn end at most."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

SUFFIX = 17
"""Bytes of ``,"c":"<crc32 of every byte before it>"}`` and the line end."""


def seal(fields: bytes) -> bytes:
    """The JSON object ``fields`` as a line that proves itself whole."""
    body = fields[:-1]
    return b'%b,"c":"%08x"}\n' % (body, crc32(body))


def intact(line: bytes) -> bool:
    """Whether ``line`` is one whole line as it was written."""
    return len(line) > SUFFIX and line[-SUFFIX:] == b',"c":"%08x"}\n' % crc32(line[:-SUFFIX])


class Log:
    """The file at ``path``, made with its folder when the first line comes. Safe to use from several threads.

    One process writes it: whoever holds the store's lock. Every method raises OSError where the disk refuses.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._lock = threading.Lock()
        self._file: int | None = None
        self._torn = False

    def read(self) -> tuple[list[bytes], int]:
        """The good lines, oldest first, and how many stretches of the file are none."""
        try:
            lines = self.path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return [], 0
        self._torn = bool(lines) and not lines[-1].endswith(b"\n")
        if self._torn:
            lines[-1] += b"\n"  # all there but its end: the next line will bring that
        good = [line for line in lines if intact(line)]
        return good, sum(bool(line.strip()) and not intact(line) for line in lines)

    def append(self, line: bytes, *, sync: bool = False) -> None:
        """Write ``line``: a killed process keeps it, and with ``sync`` a machine that loses power does too."""
        with self._lock:
            file = self._opened()
            # What an earlier crash or a full disk left without its end must not swallow this line.
            data = b"\n" + line if self._torn else line
            self._torn = True
            if os.write(file, data) != len(data):
                raise OSError(f"only part of a line could be written to {self.path}")
            self._torn = False
            self.size += len(data)
        if sync:
            os.fsync(file)

    def replace(self, lines: Iterable[bytes]) -> None:
        """Make ``lines`` the whole of the file, at once or not at all."""
        with self._lock:
            self._opened()
            spare = self.path.with_suffix(".new")
            with open(spare, "wb") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            os.replace(spare, self.path)
            _sync_folder(self.path.parent)
            self._shut()
            self._torn = False
            self._opened()

    def close(self) -> None:
        """Let go of the file; a later line opens it again."""
        with self._lock:
            self._shut()

    def _opened(self) -> int:
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            new = not self.path.exists()
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self.size = os.fstat(self._file).st_size
            if new:
                _sync_folder(self.path.parent)
        return self._file

    def _shut(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
