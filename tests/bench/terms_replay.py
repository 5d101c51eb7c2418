"""Three years of 19 real pages, watched by the engine with the adaptive policy, and what it found.

    python -m tests.bench.terms_replay [--pages N] [--json]

Serves ``../shared/data/terms`` on a loopback port, every snapshot at its time, with ETag, Last-Modified and 304s, and
watches each page's declared region as one ``content`` field. Prints per page: checks, 304s, unchanged, changed, and
the changes found against the archive's labels.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from tests.replay.archive import load
from tests.replay.cases import shared
from tests.replay.tally import COLUMNS, Tally, row, table
from tests.replay.terms import watch
from tests.support.clock import FakeClock

WEEK = 7 * 86_400.0


def main() -> int:
    """Replay and print; exit 1 when a labelled change was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int)
    parser.add_argument("--json", action="store_true", help="one JSON object a page")
    given = parser.parse_args()
    data = shared() / "data/terms"
    if not data.is_dir():
        print(f"skipped: {data} is not there (WATCHER_SHARED names the directory above data)")
        return 0
    pages = load(data, given.pages)
    tallies = {page.name: Tally(page) for page in pages}
    first, last = min(page.snapshots[0].at for page in pages), max(page.snapshots[-1].at for page in pages)
    began, cpu = time.monotonic(), time.process_time()
    with tempfile.TemporaryDirectory() as root:
        clock = FakeClock(first)
        server = clock.run(watch(Path(root), pages, last + WEEK, lambda event: tallies[event.check.name].add(event)))
    cpu, wall = time.process_time() - cpu, time.monotonic() - began
    if given.json:
        for tally in tallies.values():
            print(json.dumps({"page": tally.page.name, **dict(zip(COLUMNS, row(tally), strict=True))}))
    else:
        print(table(tallies.values()))
        days = (last + WEEK - first) / 86_400
        print(
            f"{days:.0f} days in {wall:.0f} s, {cpu:.0f} s of CPU; {server.asked} requests, {server.saved} answered 304"
        )
    return 1 if any(tally.missed for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
