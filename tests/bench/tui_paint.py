"""The screen's cost in a real pty: ``python -m tests.bench.tui_paint [--rounds 5]``.

First paint beside a minimal Textual app in the same run, the cost of updates by the length of the list, from a key to
its paint, and the memory of a row. Ratios hold on a busy machine; milliseconds are this machine's.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time
import tracemalloc
from pathlib import Path

MARK = b"PAINTED"
SIZE = (40, 140)
EVENTS, SECONDS = 200, 5.0


class Child:
    """This file as a child in a pty of its own; what it reports comes through a pipe."""

    def __init__(self, *mode: str) -> None:
        self.report, theirs = os.pipe()
        self.terminal, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.tui_paint", "--child", str(theirs), *mode],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            pass_fds=[theirs],
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
        )
        os.close(inner)
        os.close(theirs)

    def wait_start(self) -> float:
        """CPU seconds spent when the model stands and the screen begins."""
        os.read(self.report, 1)
        return self.cpu()

    def cpu(self) -> float:
        """CPU seconds so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def read_until(self, wanted: bytes, seconds: float = 60.0) -> bytes:
        """What the terminal got up to ``wanted``."""
        got, end = b"", time.monotonic() + seconds
        while wanted not in got:
            if not select.select([self.terminal], [], [], end - time.monotonic())[0]:
                raise SystemExit(f"{wanted!r} was never painted; the end of what was: {got[-400:]!r}")
            got += os.read(self.terminal, 65_536)
        return got

    def quiet(self, seconds: float) -> None:
        """Read what still comes until nothing does for ``seconds``."""
        while select.select([self.terminal], [], [], seconds)[0]:
            os.read(self.terminal, 65_536)

    def pump_until_report(self) -> dict[str, float]:
        """Keep the terminal flowing until the child reports."""
        while True:
            ready, _, _ = select.select([self.terminal, self.report], [], [])
            if self.report in ready:
                report: dict[str, float] = json.loads(os.read(self.report, 65_536))
                return report
            os.read(self.terminal, 65_536)

    def end(self) -> None:
        """Kill and reap."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self.terminal)
        os.close(self.report)


def first_paint(mode: str, count: int) -> tuple[float, float]:
    """Wall and CPU seconds from the standing model to the first whole paint."""
    child = Child(mode, str(count))
    try:
        cpu, start = child.wait_start(), time.monotonic()
        child.read_until(MARK)
        return time.monotonic() - start, child.cpu() - cpu
    finally:
        child.end()


def updates(count: int) -> dict[str, float]:
    """CPU share of a core and loop lag while events flood in."""
    child = Child("flood", str(count))
    try:
        child.wait_start()
        return child.pump_until_report()
    finally:
        child.end()


def keys(count: int, presses: int = 60) -> float:
    """Median seconds from a key to the first byte of its paint."""
    child = Child("watcher", str(count))
    try:
        child.wait_start()
        child.read_until(MARK)
        child.quiet(0.5)
        taken = []
        for _ in range(presses):
            start = time.monotonic()
            os.write(child.terminal, b"j")
            select.select([child.terminal], [], [], 5.0)
            taken.append(time.monotonic() - start)
            child.quiet(0.05)
        return statistics.median(taken)
    finally:
        child.end()


def memory(count: int) -> float:
    """Bytes of a row above the model."""
    from tests.tui.support import crowd
    from watcher.tui.board import Board

    handle = crowd(count)
    tracemalloc.start()
    board = Board(handle)
    board.load()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(board) == count
    return used / count


def child(report: int, mode: str, count: int) -> None:
    """The other side of the pty."""
    if mode == "minimal":
        os.write(report, b"S")
        from textual.app import App
        from textual.widgets import Static

        class Minimal(App[None]):
            def compose(self):  # type: ignore[no-untyped-def]
                yield Static(MARK.decode())

        Minimal().run()
        return
    from tests.tui.support import crowd

    handle = crowd(count)
    os.write(report, b"S")
    from watcher import paths
    from watcher.tui.app import run_screen
    from watcher.tui.options import ScreenOptions

    # The mark stands in the title line, which is painted together with the rows.
    options = ScreenOptions(themes=[paths.shipped_themes()], banner=MARK.decode())

    async def main() -> None:
        flooding = asyncio.create_task(flood(handle, report)) if mode == "flood" else None
        await run_screen(handle, options=options)
        if flooding is not None:
            flooding.cancel()

    asyncio.run(main())


async def flood(handle: object, report: int) -> None:
    """200 checks a second, and how late the loop is meanwhile."""
    import random

    from tests.tui.support import NOW, ListHandle, check
    from watcher.core.model import Outcome
    from watcher.engine.events import Checked

    assert isinstance(handle, ListHandle)
    chance, names, lags = random.Random(1), handle.names(), []
    await asyncio.sleep(2.0)
    cpu, start, sent = time.process_time(), time.monotonic(), 0
    while (elapsed := time.monotonic() - start) < SECONDS:
        while sent < elapsed * EVENTS:
            # Half of them on the first screenful, so that rows really are painted anew.
            name = names[chance.randrange(min(30, len(names)))] if sent % 2 else chance.choice(names)
            handle.publish(Checked(check=check(name, NOW, Outcome.NOT_MODIFIED)))
            sent += 1
        before = time.monotonic()
        await asyncio.sleep(0.005)
        lags.append(time.monotonic() - before - 0.005)
    share = (time.process_time() - cpu) / (time.monotonic() - start)
    lags.sort()
    os.write(report, json.dumps({"share": share, "lag_p99": lags[int(len(lags) * 0.99)]}).encode())
    await asyncio.sleep(60)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", nargs=3, metavar=("FD", "MODE", "COUNT"))
    options = parser.parse_args()
    if options.child:
        child(int(options.child[0]), options.child[1], int(options.child[2]))
        return
    modes = {"minimal Textual app": ("minimal", 0), "100 watches": ("watcher", 100), "100,000": ("watcher", 100_000)}
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in modes}
    for _ in range(options.rounds):
        for name, (mode, count) in modes.items():
            seen[name].append(first_paint(mode, count))
    medians = {name: tuple(map(statistics.median, zip(*values, strict=True))) for name, values in seen.items()}
    wall, cpu = medians["minimal Textual app"]
    print("first paint             wall ms   CPU ms   of minimal (wall, CPU)")
    for name, (w, c) in medians.items():
        print(f"{name:<22}{w * 1000:>9.0f}{c * 1000:>9.0f}   {w / wall:.2f} {c / cpu:.2f}")
    print("\n200 events a second    share of a core   loop lag p99 ms")
    shares = {}
    for count in (1_000, 10_000, 100_000):
        found = updates(count)
        shares[count] = found["share"]
        print(f"{count:>9,}{found['share']:>22.1%}{found['lag_p99'] * 1000:>18.1f}")
    print(f"100,000 against 1,000: {shares[100_000] / shares[1_000]:.2f}")
    print(f"\nkey to paint, p50: {keys(10_000) * 1000:.1f} ms at 10,000 watches")
    print(f"memory of a row above the model: {memory(100_000):.0f} bytes")


if __name__ == "__main__":
    main()
