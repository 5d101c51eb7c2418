"""``watches.toml``: the one configuration file the program writes, for watches added on the screen or by command."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from watcher.config.load import ADDED, load
from watcher.config.problems import ConfigError, Problem
from watcher.config.toml import read_toml
from watcher.core.settings import Settings

_HEAD = """\
# Watches added on the screen or by `watcher add`. The program appends to this file and removes from it;
# what you write here stays as you wrote it. config.toml is yours alone.

"""


def add_watches(config: Path, watches: Sequence[Mapping[str, Any]]) -> Settings:
    """Append ``watches`` (the keys of ``[[watch]]``) to the ``watches.toml`` beside ``config``; the whole, reread.

    All of them or none: nothing is written unless the configuration is whole with them.
    Raises :class:`ConfigError`, and :class:`OSError` where the file cannot be written.
    """
    path = config.with_name(ADDED)
    with _locked(path.parent):
        load(config, required=False)
        before = _read(path) or _HEAD.encode()
        ended = before if before.endswith(b"\n\n") else before.rstrip(b"\n") + b"\n\n"
        after = ended + "\n".join(map(_table, watches)).encode()
        try:
            settings = load(config, required=False, added=after)
        except ConfigError as error:
            # Its lines are those of a file that was never written.
            raise ConfigError([_placeless(problem) for problem in error.problems]) from None
        _replace(path, after)
    return settings


def remove_watch(config: Path, name: str) -> None:
    """Take the watch ``name`` out of ``watches.toml``, comments directly above it included.

    Raises :class:`KeyError` where no watch there has the name, and :class:`OSError` like :func:`add_watches`.
    """
    path = config.with_name(ADDED)
    with _locked(path.parent):
        text = (_read(path) or b"").decode("utf-8-sig")
        document = read_toml(text)
        settings = load(config, required=False)
        watch = next((w for w in settings.watches if w.name == name and w.declared_in == str(path)), None)
        if watch is None or watch.declared_line is None:
            raise KeyError(name)
        lines = text.splitlines(keepends=True)
        heads = [document.line(table) or 0 for table in document.data["watch"]]
        after = heads[heads.index(watch.declared_line) + 1 :]
        start = _with_comments(lines, watch.declared_line - 1)
        end = _with_comments(lines, after[0] - 1) if after else len(lines)
        _replace(path, "".join(lines[:start] + lines[end:]).encode())


def write_config(path: Path, text: str) -> None:
    """Write a new configuration file, and only a new one.

    Raises :class:`FileExistsError` where there is one already, :class:`OSError` where it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "x", encoding="utf-8") as file:
        file.write(text)


def _table(watch: Mapping[str, Any]) -> str:
    import tomli_w

    plain = {key: value for key, value in watch.items() if value is not None}
    return "[" + tomli_w.dumps({"watch": plain}).replace("[watch]", "[watch]]", 1)


def _placeless(problem: Problem) -> Problem:
    return Problem(file=problem.file, key=problem.key, message=problem.message, suggestion=problem.suggestion)


def _with_comments(lines: Sequence[str], index: int) -> int:
    while index and lines[index - 1].lstrip().startswith("#"):
        index -= 1
    return index


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Keep two programs from adding at once: an advisory lock on the directory, let go by the kernel."""
    import fcntl

    directory.mkdir(parents=True, exist_ok=True)
    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _replace(path: Path, content: bytes) -> None:
    """Put ``content`` in the place of ``path`` atomically; a symlink stays one, its target is replaced."""
    target = path.resolve()
    fresh = target.with_name(f".{target.name}.{os.getpid()}.new")
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, target)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise
    directory = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
