"""The screen on a real terminal: the editor has it meanwhile, signals end it, and it is given back as it was."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import stat
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PROGRAM = """
import asyncio, sys
from pathlib import Path
from tests.tui.support import town
from watcher import paths
from watcher.tui.app import run_screen
from watcher.tui.options import ScreenOptions

async def main():
    handle, ticks = town(), 0
    async def engine():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1
            handle.publish(__import__("watcher.engine.events", fromlist=["x"]).StateChanged(tuple(handle.names())))
    running = asyncio.create_task(engine())
    options = ScreenOptions(config_file=Path(sys.argv[1]), themes=[paths.shipped_themes()])
    code = await run_screen(handle, options=options)
    running.cancel()
    print("ENDED", code, "asked", handle.asked, "ticks", ticks)
    return code

sys.exit(asyncio.run(main()))
"""


class Terminal:
    """A program in a pty, its output kept."""

    def __init__(self, command: list[str], environ: dict[str, str]) -> None:
        self.master, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            command, stdin=inner, stdout=inner, stderr=inner, env=environ, cwd=ROOT, start_new_session=True
        )
        os.close(inner)
        self.seen = b""

    def expect(self, wanted: bytes, seconds: float = 30.0) -> None:
        """Read until ``wanted`` was painted after the last such call."""
        end = time.monotonic() + seconds
        while wanted not in self.seen:
            ready = select.select([self.master], [], [], max(0.0, end - time.monotonic()))[0]
            assert ready, f"{wanted!r} was never painted: {self.seen[-600:]!r}"
            try:
                self.seen += os.read(self.master, 65_536)
            except OSError:
                raise AssertionError(f"ended without {wanted!r}: {self.seen[-900:]!r}") from None
        self.seen = self.seen.partition(wanted)[2]

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self.master, keys.encode())


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    script = tmp_path / "editor"
    script.write_text(f'#!/bin/sh\necho "EDITING $1"\nread answer\necho "$answer" > {tmp_path}/answer\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    config = tmp_path / "config.toml"
    config.touch()
    environ = {**os.environ, "VISUAL": str(script), "TERM": "xterm-256color", "TZ": "UTC"}
    opened = Terminal([sys.executable, "-c", PROGRAM, str(config)], environ)
    yield opened
    opened.process.kill()
    opened.process.wait()
    os.close(opened.master)


def test_the_editor_has_the_terminal_and_the_engine_goes_on(terminal: Terminal, tmp_path: Path) -> None:
    terminal.expect(b"python.org/downloads")
    terminal.press("E")
    terminal.expect(f"EDITING {tmp_path}/config.toml".encode())
    # Half a second of 100 events a second: a paint meanwhile would fill the writer's queue and stop the loop.
    time.sleep(0.5)
    terminal.press("hello\r")
    terminal.expect(b"python.org/downloads")
    assert (tmp_path / "answer").read_text() == "hello\n"
    terminal.press("q")
    terminal.expect(b"ENDED 0 asked [('due', None), ('stop', False)] ticks ")
    assert terminal.process.wait(10) == 0


def test_sigterm_quits_like_the_key(terminal: Terminal) -> None:
    terminal.expect(b"python.org/downloads")
    terminal.process.send_signal(signal.SIGTERM)
    terminal.expect(b"ENDED 0 asked [('stop', False)]")


def test_sighup_quits_at_once(terminal: Terminal) -> None:
    terminal.expect(b"python.org/downloads")
    terminal.process.send_signal(signal.SIGHUP)
    terminal.expect(b"ENDED 0 asked []")


def test_the_title_is_given_back(terminal: Terminal) -> None:
    terminal.expect(b"\x1b[22;2t")
    terminal.expect(b"\x1b]2;watcher (2)\x07")
    terminal.press("q")
    terminal.expect(b"\x1b[23;2t")
