"""CPU per unchanged check of a whole engine: 1,000 pages on 20 hosts against one page on each of 1,000 hosts.

    python -m tests.bench.many_hosts [--pages 1000] [--runs 3]

The loopback server is a process of its own; both passes go 32 at a time with kept connections off, as shipped. Each
run makes a first pass, unmeasured, and counts its own time in the second; medians of interleaved runs. Bar: 1.25x.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.transport import WallClock, _cpu
from watcher.core.model import Field, Outcome, Watch
from watcher.core.settings import HostSettings, Settings
from watcher.engine.engine import Engine
from watcher.fetch import Transport, sending
from watcher.store import Store

BAR = 1.25


async def measure(port: int, pages: int, hosts: int, folder: Path) -> float:
    """Microseconds of CPU per check of a pass in which every answer is 304."""
    sending.KEEP_BELOW = -1.0
    fields = (Field(name="page", regex="x+"),)
    watches = tuple(
        Watch(name=f"p{n}", url=f"http://127.0.{1 + n % hosts // 250}.{1 + n % hosts % 250}:{port}/{n}", fields=fields)
        for n in range(pages)
    )
    clock, transport = WallClock(), Transport()
    settings = Settings(watches=watches, host_default=HostSettings(min_gap=0.0, checks_per_day=10**9))
    with Store.open(folder, now=clock.now) as store:
        engine = Engine(settings, store, clock, transport)
        await engine.check_once(all=True)
        before = _cpu()
        told = await engine.check_once(all=True)
        used = _cpu() - before
    await transport.aclose()
    assert {event.check.outcome for event in told} == {Outcome.NOT_MODIFIED}, told[0].message
    return used / pages * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.transport", "--serve"], stdout=subprocess.PIPE, text=True
    )
    found: dict[int, list[float]] = {20: [], given.pages: []}
    with server, tempfile.TemporaryDirectory() as folder:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        try:
            for run in range(given.runs):
                for hosts, times in found.items():
                    times.append(asyncio.run(measure(port, given.pages, hosts, Path(folder) / f"{run}-{hosts}")))
        finally:
            server.terminate()
    few, many = (statistics.median(times) for times in found.values())
    print(f"20 hosts {few:.0f} us/check, {given.pages} hosts {many:.0f} us/check: {many / few:.2f}x (bar {BAR}x)")


if __name__ == "__main__":
    main()
