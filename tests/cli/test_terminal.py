"""The command on a real terminal: colour, questions, and the screen itself."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import LAMP, Site, Watcher


class Terminal:
    """A command on a pseudo-terminal of 100 columns and 30 rows."""

    def __init__(self, watcher: Watcher, *words: str, **env: str) -> None:
        self._own, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", **env}
        if "NO_COLOR" not in env:
            environment.pop("NO_COLOR", None)
        self.process = subprocess.Popen(
            watcher.command(*words), stdin=other, stdout=other, stderr=other, env=environment, start_new_session=True
        )
        os.close(other)
        self.shown = b""
        self.modes = termios.tcgetattr(self._own)
        """The settings of the terminal: before the command, and after its :meth:`end`."""

    def until(self, found: Callable[[bytes], bool], seconds: float = 60.0) -> bytes:
        """Read until ``found`` holds of everything shown, or the command ends."""
        end = time.monotonic() + seconds
        while not found(self.shown) and time.monotonic() < end:
            if select.select([self._own], [], [], 0.5)[0]:
                try:
                    piece = os.read(self._own, 65536)
                except OSError:
                    break
                if not piece:
                    break
                self.shown += piece
        return self.shown

    def type(self, text: str) -> None:
        os.write(self._own, text.encode())

    def end(self) -> int:
        """Read what is left; the exit code."""
        self.until(lambda shown: False, 30.0)
        code = self.process.wait(timeout=30)
        self.modes = termios.tcgetattr(self._own)
        os.close(self._own)
        return code


class Broken(Watcher):
    """The command with a screen in which a key, and a worker, meet what nobody foresaw."""

    def command(self, *words: str) -> list[str]:
        code = (
            "import sys; from watcher.cli.main import main; from watcher.tui.app import WatcherApp\n"
            "def fail(app): raise ZeroDivisionError('\\x1b[31m')\n"
            "async def work(): fail(None)\n"
            "WatcherApp.action_help = fail\n"
            "WatcherApp.action_interrupt = lambda app: app.run_worker(work())\n"
            "sys.exit(main(sys.argv[1:]))"
        )
        return [sys.executable, "-c", code, *super().command(*words)[3:]]


@pytest.fixture
def past(lamp: Site, watcher: Watcher) -> Site:
    """Two versions of the lamp."""
    for price in ("19.99", "17.99"):
        lamp.pages["/lamp"] = LAMP.replace("19.99", price)
        assert watcher("check", "--all").code == 0
    return lamp


@pytest.mark.parametrize(("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour(past: Site, watcher: Watcher, env: dict[str, str], coloured: bool) -> None:
    terminal = Terminal(watcher, "diff", "lamp", **env)
    assert terminal.end() == 0
    assert b"17.99 EUR" in terminal.shown
    assert (b"\x1b[32m" in terminal.shown) is coloured


def test_a_long_name_is_cut_to_the_width_of_the_terminal(watcher: Watcher) -> None:
    watcher.configure(f'[[watch]]\nname = "{"long " * 40}"\nurl = "http://h.test/"\n')
    terminal = Terminal(watcher, "list", NO_COLOR="1")
    assert terminal.end() == 0
    lines = terminal.shown.decode().splitlines()
    assert [len(line) <= 100 for line in lines] == [True, True]
    assert "…" in lines[1]
    assert lines[1].endswith("never checked  now")


@pytest.mark.parametrize(("answer", "code", "left"), [("no\n", 1, 2), ("yes\n", 0, 0)])
def test_forget_asks(past: Site, watcher: Watcher, answer: str, code: int, left: int) -> None:
    terminal = Terminal(watcher, "forget", "lamp")
    terminal.until(lambda shown: b"Type yes to go on" in shown)
    assert b"  Desk lamp\r\n" in terminal.shown
    terminal.type(answer)
    assert terminal.end() == code
    assert len(watcher("history", "lamp", "--json").objects) == left


def test_the_screen_opens_checks_and_ends(lamp: Site, watcher: Watcher) -> None:
    terminal = Terminal(watcher)
    terminal.until(lambda shown: b"Desk lamp" in shown and "/lamp" in lamp.asked)
    terminal.type("q")
    assert terminal.end() == 0
    assert watcher("list", "--json").objects[0]["outcome"] == "first"


def test_the_screen_beside_another_watcher_only_reads(lamp: Site, watcher: Watcher) -> None:
    with subprocess.Popen(watcher.command("run"), stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None
            other.stdout.readline()
            terminal = Terminal(watcher)
            terminal.until(lambda shown: b"read-only" in shown)
            terminal.type("q")
            assert terminal.end() == 0
            assert b"read-only" in terminal.shown
        finally:
            other.terminate()


def test_the_screen_without_a_terminal_says_what_to_use(lamp: Site, watcher: Watcher) -> None:
    run = watcher()
    assert (run.code, run.out) == (2, "")
    assert "the screen needs a terminal; `watcher run`" in run.err


@pytest.mark.parametrize("key", ["?", "\x03"])
def test_a_bug_in_the_screen_gives_the_terminal_back_and_is_one_sentence(lamp: Site, tmp_path: Path, key: str) -> None:
    watcher = Broken(tmp_path)
    terminal = Terminal(watcher)
    before = terminal.modes
    terminal.until(lambda shown: b"Desk lamp" in shown and "/lamp" in lamp.asked)
    terminal.type(key)
    assert terminal.end() == 1
    assert terminal.modes == before
    screen, _, after = terminal.shown.rpartition(b"\x1b[?1049l")
    assert b"\x1b[?1049h" in screen
    log = watcher.data / "watcher.log"
    sentence = f"watcher: this is a bug in watcher: ZeroDivisionError; {log} holds its traceback, please report it\r\n"
    assert after.decode().endswith(sentence)
    assert b"Traceback" not in terminal.shown
    assert "in fail" in log.read_text()
    assert watcher("list", "--json").objects[0]["outcome"] == "first"


def test_a_first_look_without_a_configuration_writes_nothing(tmp_path: Path) -> None:
    class New(Watcher):
        def command(self, *words: str) -> list[str]:
            return ["env", f"HOME={tmp_path}", *super().command()[:3], *words]

    unset = ("WATCHER_CONFIG", "WATCHER_DATA_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    terminal = Terminal(New(tmp_path), **dict.fromkeys(unset, ""))
    terminal.until(lambda shown: b"No pages yet" in shown)
    terminal.type("q")
    assert terminal.end() == 0
    assert b"No pages yet" in terminal.shown
    assert list(tmp_path.iterdir()) == []
