"""``watcher simulate``: policies replayed over traces or over the own history, at equal requests."""

from __future__ import annotations

import argparse
import gzip
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watcher.cli.errors import FINE, CommandError
from watcher.cli.out import Out

if TYPE_CHECKING:
    from watcher.core.simulate.measure import Measured, Outcome
    from watcher.core.simulate.run import Job, Simulation
    from watcher.core.simulate.traces import Page

PROSE = """\
Replay revisit policies over recorded changes and show how stale each would leave the copies, at equal requests.
The code that decides is the code that ships. Without --policy all are run; "oracle" knows every page's true mean
rate of change, "clairvoyant" every change. --history replays your own journal, in which a change is only known to
lie between two checks."""

EXAMPLES = """\
  watcher simulate --history --checks-per-day 2
  watcher simulate --traces traces.jsonl.gz --policy estimated --policy fixed --json
  watcher simulate --traces traces.jsonl.gz --pages 300 --plot staleness.svg"""

SPREAD = (0.25, 0.5, 1.0, 2.0, 4.0)
"""The budgets of a picture, as multiples of --checks-per-day."""


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add("simulate", help="compare policies on traces or own history", prose=PROSE, examples=EXAMPLES)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--traces", metavar="FILE", help="changes, one page a line of JSON, plain or gzip")
    source.add_argument("--history", action="store_true", help="the watches' own history")
    parser.add_argument("--policy", action="append", metavar="NAME", help="fixed, adaptive, estimated, oracle ...")
    parser.add_argument("--checks-per-day", type=_budget, default=1.0, metavar="X", help="checks a page and day (1)")
    parser.add_argument("--rhythm", choices=("auto", "off"), default="auto", help="learn the hours of changes (auto)")
    parser.add_argument("--plot", nargs="?", const="", metavar="FILE.svg", help="draw staleness against requests")
    parser.add_argument("--pages", type=_count, metavar="N", help="only so many pages, chosen at random")
    parser.add_argument("--part", choices=("all", "tune", "test"), default="all", help="a fixed share of the traces")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="another choice of pages and phases (0)")
    parser.add_argument("--jitter", action="store_true", help="move changes off the timetables of recording robots")
    parser.set_defaults(func=run_simulate)


def run_simulate(options: argparse.Namespace) -> int:
    """Print one result a policy."""
    from watcher.core.simulate.run import POLICIES

    names = tuple(dict.fromkeys(options.policy or POLICIES))
    for name in names:
        if name not in POLICIES:
            raise CommandError(f"{name!r} is no policy; there are {', '.join(POLICIES)}")
    pages, seeds = _history(options) if options.history else (_traces(options), None)
    if not pages:
        raise CommandError("there is nothing to replay: no page has a history long enough")
    budgets = [options.checks_per_day * m for m in SPREAD] if options.plot is not None else [options.checks_per_day]
    out = Out(json=options.json)
    curves: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    rows: list[Measured] = []
    for budget in budgets:
        with _simulation(options, pages, seeds, budget) as simulation:
            for name in names:
                found = simulation.run(name)
                curves[name].append((found.checks_per_page_day, found.stale))
                if out.json:
                    out.record(_object(found))
                    out.stream.flush()
                rows.append(found)
    if not out.json:
        out.table(
            ("POLICY", "CHECKS/DAY", "STALE", "TO ORACLE", "DELAY P50", "P90", "CAPTURED"),
            map(_row, rows),
            right="-rrrrrr",
        )
    if options.plot is not None:
        _draw(out, curves, options.plot)
    return FINE


def _traces(options: argparse.Namespace) -> list[Page]:
    from watcher.core.simulate import traces

    file = Path(options.traces)
    try:
        outages = file.with_name("outages.json")
        down = traces.read_outages(outages.read_bytes()) if outages.exists() else None
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as lines:
            pages = traces.windows(traces.read_traces(lines), down)
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror or error}") from None
    except (ValueError, EOFError, zlib.error) as error:
        raise CommandError(f"{file}: {error}") from None
    pages = traces.part(traces.stratified(pages, seed=options.seed), options.part)
    if options.pages:
        pages = sorted(pages, key=lambda page: traces.chance(f"pick{options.seed}/{page.key}"))[: options.pages]
    return [traces.off_the_grid(page, seed=options.seed) for page in pages] if options.jitter else pages


def _history(options: argparse.Namespace) -> tuple[list[Page], dict[str, float]]:
    from watcher.cli import compose
    from watcher.core.simulate.past import pages_of

    settings = compose.read_settings(options)
    watches = {watch.name: watch for watch in settings.watches}
    with compose.reading(options, settings) as known:
        pages = pages_of(known.reader.checks(), watches)
    if options.pages:
        pages = pages[: options.pages]
    return pages, {watch.type: watch.cadence.interval for watch in settings.watches}


_hosts: Sequence[Sequence[Page]] = ()
"""The pages, in a worker process."""


def _take(hosts: Sequence[Sequence[Page]]) -> None:
    global _hosts
    _hosts = hosts


def _work(job: Job) -> list[Outcome]:
    from watcher.core.simulate.run import work

    return work(_hosts, job)


@contextmanager
def _simulation(
    options: argparse.Namespace, pages: Sequence[Page], seeds: dict[str, float] | None, budget: float
) -> Iterator[Simulation]:
    """A simulation whose work is spread over the machine's processors."""
    from watcher.core.simulate.run import SEEDS, Simulation, by_host

    hosts = by_host(pages)
    processes = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 8)
    with ProcessPoolExecutor(processes, initializer=_take, initargs=(hosts,)) as pool:
        yield Simulation(
            pages,
            budget,
            rhythm=options.rhythm == "auto",
            seed=options.seed,
            seeds={**SEEDS, **(seeds or {})},
            run_jobs=lambda jobs: pool.map(_work, jobs),
            progress=_Progress(f"{budget:g} a day"),
        )


class _Progress:
    """A line on standard error that counts up, where somebody looks at it."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._shown = sys.stderr.isatty()

    def __call__(self, what: str, share: float) -> None:
        if self._shown:
            sys.stderr.write(f"\r\x1b[K{self._where}: {what} {share:.0%}" if share < 1 else "\r\x1b[K")
            sys.stderr.flush()


def _object(found: Measured) -> dict[str, Any]:
    import msgspec

    return {key: _rounded(value) for key, value in msgspec.structs.asdict(found).items()}


def _rounded(value: Any) -> Any:
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _row(found: Measured) -> tuple[str, ...]:
    def hours(value: float | None) -> str:
        return "–" if value is None else f"{value:.1f} h"

    return (
        found.policy,
        f"{found.checks_per_page_day:.2f}",
        f"{found.stale:.1%}",
        "–" if found.stale_ratio_to_oracle is None else f"{found.stale_ratio_to_oracle:.2f}",
        hours(found.delay_p50_h),
        hours(found.delay_p90_h),
        "–" if found.captured is None else f"{found.captured:.0%}",
    )


def _draw(out: Out, curves: dict[str, list[tuple[float, float]]], target: str) -> None:
    from watcher.core.simulate import picture

    if not out.json:
        out.line()
        for line in picture.terminal(curves):
            out.line(line)
    if target:
        try:
            Path(target).write_text(picture.svg(curves) + "\n", encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{target}: {error.strerror or error}") from None


def _budget(text: str) -> float:
    value = float(text)
    if not 0 < value <= 96:
        raise argparse.ArgumentTypeError("give between 0 and 96 checks a page and day")
    return value


def _count(text: str) -> int:
    if (value := int(text)) < 1:
        raise argparse.ArgumentTypeError("give at least 1")
    return value
