"""Other programs in the terminal: the editor, the pager, an external differ. The engine keeps running meanwhile."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

_WITH_PLUS_LINE = ("vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mg", "ex", "view")
_WITH_COLON_LINE = ("hx", "helix", "subl", "zed")
_WITH_GOTO = ("code", "codium", "cursor")


def editor_command(environ: Mapping[str, str], path: Path, line: int | None = None) -> list[str]:
    """The command that edits ``path`` at ``line``: $VISUAL, else $EDITOR, else vi."""
    words = shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "vi") or ["vi"]
    program = Path(words[0]).name
    if line is None:
        return [*words, str(path)]
    if program in _WITH_PLUS_LINE:
        return [*words, f"+{line}", str(path)]
    if program in _WITH_COLON_LINE:
        return [*words, f"{path}:{line}"]
    if program in _WITH_GOTO:
        return [*words, "--goto", f"{path}:{line}"]
    return [*words, str(path)]


def pager_command(environ: Mapping[str, str]) -> list[str]:
    """The command that pages text from its standard input: $PAGER, else less."""
    return shlex.split(environ.get("PAGER") or "less -R") or ["less"]


async def run_outside(app: App[Any], command: Sequence[str], *, text: str | None = None) -> str | None:
    """Run ``command`` with the terminal to itself, ``text`` on its standard input; None, or what went wrong.

    Paints during a suspension would fill the writer's queue and stop the loop for good, hence batch_update. An
    exception inside the suspension would skip the resuming, hence nothing may be raised there.
    """
    wrong: str | None = None
    try:
        with app.batch_update(), app.suspend():
            wrong = await _wait_for(command, text)
    except SuspendNotSupported:
        return "This terminal cannot be handed to another program."
    return wrong


async def _wait_for(command: Sequence[str], text: str | None) -> str | None:
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=None if text is None else asyncio.subprocess.PIPE, env=dict(os.environ)
        )
    except OSError as error:
        return f"{command[0]}: {error.strerror}. Set $VISUAL or $EDITOR to a program that is installed."
    await process.communicate(None if text is None else text.encode())
    return f"{command[0]} ended with {process.returncode}." if process.returncode else None
