"""CPU of ``watcher list`` on 10,000 watches, beside a program that only reads the same two files.

    python -m tests.bench.list_10k [--watches 10000] [--rounds 5]

Bar: under 1.0 s of CPU.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.bench.measure import interleaved
from watcher.core.model import Outcome, Record, Status
from watcher.core.state import UrlState
from watcher.store import Entry, Store

BAR = 1.0
NOW = 1_767_607_200.0
WATCH = """
[[watch]]
name = "Page {n}"
url = "http://host{h}.example/page/{n}"
type = "detail"
[watch.fields]
title = "h1"
price = {{ css = ".price", type = "price" }}
"""
READ = "import sys,tomllib\nfor w in tomllib.load(open(sys.argv[1],'rb'))['watch']: print(w['name'],w['url'])"


def prepare(root: Path, count: int) -> None:
    """A configuration of ``count`` watches, and a store in which each was checked once."""
    text = "".join(WATCH.format(n=n, h=n % 100) for n in range(count))
    (root / "config.toml").write_text(text, encoding="utf-8")
    store = Store.open(root / "data")
    store.append([Entry(state=_state(n)) for n in range(count)])
    store.close()


def _state(n: int) -> UrlState:
    record = Record(values={"title": f"Page {n}", "price": {"minor": n, "currency": "EUR"}}, fingerprint=f"1:{n:064x}")
    return UrlState(
        name=f"Page {n}",
        url=f"http://host{n % 100}.example/page/{n}",
        status=Status.OK,
        outcome=Outcome.UNCHANGED,
        http_status=200,
        last_seen=NOW,
        last_fetched_at=NOW,
        unchanged_streak=3,
        check_interval=86_400.0,
        next_check_at=NOW + 86_400,
        record=record,
    )


def main() -> int:
    """Measure and print; exit 1 when the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--watches", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        prepare(root, given.watches)
        files = ["--config", str(root / "config.toml"), "--data-dir", str(root / "data")]
        found = interleaved(
            {
                "watcher list": [sys.executable, "-m", "watcher", *files, "list"],
                "tomllib and print": [sys.executable, "-c", READ, str(root / "config.toml")],
                "python -c pass": [sys.executable, "-c", "pass"],
            },
            given.rounds,
        )
    for name, seconds in found.items():
        print(f"{name:20} {seconds:7.3f} s CPU")
    ours, reference = found["watcher list"], found["tomllib and print"]
    print(f"ratio to tomllib     {ours / reference:7.2f}")
    print(f"bar {BAR:.1f} s: {'kept' if ours < BAR else 'MISSED'}")
    return 0 if ours < BAR else 1


if __name__ == "__main__":
    sys.exit(main())
