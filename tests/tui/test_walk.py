"""A walk through the real program in a real terminal multiplexer, by what stands on its screen."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PATIENCE = 60.0
"""Seconds until a screen that says something else is given up."""
LOOK = 0.05

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is missing: no walk in a real terminal")


class Pane:
    """One terminal of a tmux server of its own."""

    def __init__(self, folder: Path, command: str, size: tuple[int, int]) -> None:
        socket, self.home = folder / "s", folder / "home"
        self.home.mkdir()
        self._tmux = ["tmux", "-u", "-S", str(socket), "-f", os.devnull]
        self._environ = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }
        # The shell stays until it is killed, so that what the program left on the terminal can be read.
        script = f"{command}; echo ENDED $?; cat"
        self._ask("new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), script)

    def _ask(self, *words: str) -> str:
        done = subprocess.run([*self._tmux, *words], env=self._environ, capture_output=True, text=True, check=True)
        return done.stdout

    @property
    def text(self) -> str:
        """What stands on the terminal."""
        return self._ask("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        """Type."""
        self._ask("send-keys", *keys)

    def until(self, condition: Callable[[str], object], meant: str) -> str:
        """Wait for a screen that fulfils ``condition``; what it says."""
        end = time.monotonic() + PATIENCE
        while not condition(text := self.text):
            assert time.monotonic() < end, f"never so: {meant}; the screen says:\n{text}"
            time.sleep(LOOK)
        return text

    def until_it_says(self, *patterns: str) -> str:
        """Wait for all of these regular expressions."""
        return self.until(lambda text: all(re.search(pattern, text) for pattern in patterns), " and ".join(patterns))

    def close(self) -> None:
        """End the server and what runs in it."""
        self._ask("kill-server")


@contextmanager
def pane(*arguments: str, size: tuple[int, int] = (100, 30)) -> Iterator[Pane]:
    """``watcher`` in a terminal with an empty home. Both lie where the path is short enough for a socket's."""
    with tempfile.TemporaryDirectory(prefix="walk") as folder:
        opened = Pane(Path(folder), " ".join([sys.executable, "-m", "watcher", *arguments]), size)
        try:
            yield opened
        finally:
            opened.close()


def test_a_first_run_explains_itself_and_writes_nothing() -> None:
    with pane(size=(80, 24)) as terminal:
        said = terminal.until_it_says("No pages yet", "a  add a page: paste its URL", "q  quit")
        unwrapped = "".join(said.split())
        assert f"writeacommentedconfiguration{terminal.home}/.config/watcher/config.toml" in unwrapped
        terminal.press("q")
        terminal.until_it_says("(?m)^ENDED 0$")
        assert list(terminal.home.iterdir()) == []


def test_the_demo_from_the_list_to_the_numbers_and_out() -> None:
    with pane("demo") as terminal:
        terminal.until_it_says(r"14 pages", "Harbour Gazette +index", r"demo +● running", r"\? help")
        # A change is seen, and n leads to it.
        terminal.until_it_says(r"◆ \d+ changed", r"◆ \S.* changed ")
        terminal.press("n")
        terminal.until_it_says(r"CHANGED .*: not seen yet")
        terminal.press("d")
        newest = terminal.until_it_says(r"◆ changed \d of \d", "esc back", r"(?m)│.*(→|  [+-] )")
        terminal.press("[")
        older = terminal.until_it_says(r"(?m)^ .*\w [2-9] of \d", r"\+ .* first")
        assert older.splitlines()[0].split("◆")[0].split("+")[0] == newest.splitlines()[0].split("◆")[0]
        terminal.press("3")
        terminal.until_it_says("^ NUMBERS", "THE FOUR NUMBERS", r"bytes saved +\d+%", r"freshness", "news.demo")
        terminal.press("4")
        terminal.until_it_says("^ ACTIVITY", r"· 304 .*\.demo:\d+.* not modified")
        terminal.press("?")
        terminal.until_it_says("^ HELP esc goes back", "f +Follow new lines")
        terminal.press("Escape")
        terminal.until_it_says("^ ACTIVITY")
        terminal.press("1")
        terminal.until_it_says("^ watcher +14 pages")
        terminal.press("q")
        terminal.until_it_says("(?m)^ENDED 0$")
        assert list(terminal.home.iterdir()) == []
