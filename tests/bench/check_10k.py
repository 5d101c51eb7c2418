"""CPU of ``watcher check`` on pages that did not change, beside urlwatch, on one loopback site (nginx), interleaved.

    PERF_PEERS=DIR python -m tests.bench.check_10k [--pages 10000] [--rounds 3]

The site and the harness are ``../shared/reference/perf``; its ``setup_peers.sh`` installs urlwatch into DIR. Without
site, nginx or peer this says so and measures nothing. Bar: at most 0.65 of urlwatch's CPU per check.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.replay.cases import ROOT, shared

BAR = 0.65
HEAD = """[watcher]
contact = "https://example.org/bench"
[hosts.default]
min_gap = "0s"
checks_per_day = 10000000
"""
WATCH = """
[[watch]]
name = "{n}"
url = "{url}"
[watch.fields]
"""


def init(jobs: Path, state: Path) -> None:
    """Write the configuration for the harness's list of jobs."""
    state.mkdir(parents=True, exist_ok=True)
    text = [HEAD]
    for n, job in enumerate(json.loads(jobs.read_text(encoding="utf-8"))):
        text.append(WATCH.format(n=n, url=job["url"]))
        text += [f"{name} = {json.dumps(css)}\n" for name, css in job["fields"].items()]
    (state / "config.toml").write_text("".join(text), encoding="utf-8")


def missing() -> str | None:
    """Why nothing can be measured here, if so."""
    peers = os.environ.get("PERF_PEERS", "")
    if not (shared() / "reference/perf/run.py").exists():
        return f"{shared() / 'reference/perf'} is not there (WATCHER_SHARED names the directory above it)"
    if shutil.which("nginx") is None:
        return "nginx is not installed"
    if not peers or not (Path(peers) / "urlwatch/bin/urlwatch").exists():
        return "PERF_PEERS does not name a directory with urlwatch (see setup_peers.sh)"
    return None


def measure(pages: int, rounds: int, out: Path) -> list[dict[str, Any]]:
    """Run the harness: both tools, a first pass over everything and a second in which nothing changed."""
    own = f"{sys.executable} -m tests.bench.check_10k --init {{jobs}} {{state}}"
    check = f"{sys.executable} -m watcher --config {{state}}/config.toml --data-dir {{state}}/data check --all"
    tools = ["--tools", "watcher,urlwatch", "--base", "urlwatch", "--watcher-init", own, "--watcher-cmd", check]
    sizes = ["--n", str(pages), "--reps", str(rounds), "--passes", "first,second", "--mode", "etag", "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PERF_WORK": str(out.parent / "work")}
    script = str(shared() / "reference/perf/run.py")
    subprocess.run([sys.executable, script, *tools, *sizes], env=environment, check=True)
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def report(found: list[dict[str, Any]]) -> int:
    """Print milliseconds of CPU per unchanged check and their ratio; 1 when the bar is missed."""
    second = [row for row in found if row["pas"] == "second"]
    cpu = {
        tool: statistics.median(row["cpu"] / row["n"] * 1_000 for row in second if row["tool"] == tool)
        for tool in ("watcher", "urlwatch")
    }
    whole = all(row["requests"] >= row["n"] for row in second)
    ratio = cpu["watcher"] / cpu["urlwatch"]
    for tool, milliseconds in cpu.items():
        print(f"{tool:10} {milliseconds:7.3f} ms CPU per unchanged check")
    print(f"ratio      {ratio:7.2f}   bar {BAR}: {'kept' if ratio <= BAR and whole else 'MISSED'}")
    if not whole:
        print("not every page was asked for: the numbers do not count")
    return 0 if ratio <= BAR and whole else 1


def main() -> int:
    """Measure, or say why not (exit 0 all the same)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--init", nargs=2, type=Path, metavar=("JOBS", "STATE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.init:
        init(*given.init)
        return 0
    if reason := missing():
        print(f"skipped: {reason}")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        return report(measure(given.pages, given.rounds, Path(directory) / "results.jsonl"))


if __name__ == "__main__":
    sys.exit(main())
