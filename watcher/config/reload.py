"""Noticing that the configuration changed on disk, without ever losing a working one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from watcher.config.load import ADDED, load
from watcher.config.problems import ConfigError
from watcher.core.settings import Settings

_Stamp: TypeAlias = tuple[int, int, int, int]


class Files:
    """Files looked at now and then. A change counts once the file has looked the same twice in a row."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        self._settled = self._look()
        self._last = self._settled

    def changed(self) -> bool:
        """Whether a file is another one than at the last change told (or the start), and no longer being written.

        A file that went away has not changed: somebody is about to put it back.
        """
        before, self._last = self._last, self._look()
        found = {path: stamp for path, stamp in self._last.items() if stamp != self._settled.get(path)}
        if not found or before != self._last:
            return False
        self._settled.update(found)
        return True

    def _look(self) -> dict[Path, _Stamp]:
        found = {}
        for path in self.paths:
            try:
                stat = os.stat(path)
            except OSError:
                continue
            found[path] = (stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size)
        return found


class Reloader:
    """The configuration as it changes on disk; call :meth:`poll` about once a second."""

    def __init__(self, config: Path) -> None:
        self.config = config
        self._files = Files((config, config.with_name(ADDED)))
        self._needed = config.exists()

    def poll(self) -> Settings | ConfigError | None:
        """New settings, or what is wrong with the files, each told once; None while nothing changed.

        On an error the caller keeps the settings it has.
        """
        if not self._files.changed():
            return None
        self._needed = self._needed or self.config.exists()
        try:
            return load(self.config, required=self._needed)
        except ConfigError as error:
            return error
