"""``watcher stats``: the four numbers, in all and by host, page type and tag."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from watcher.cli import compose, select
from watcher.cli.errors import FINE
from watcher.cli.out import Out, rfc3339, span, when
from watcher.cli.times import parse_time
from watcher.core.history import Check
from watcher.core.metrics import Numbers, Report, measure

PROSE = """\
Count what the three layers saved and what that cost, in all and by host, page type and tag:
BYTES       the share of fetches answered 304, without a body
WORK        the share of transferred bodies whose record was unchanged, so that nothing came after it
REQUESTS    1 less the checks made for each that the seed intervals would have made; below zero where more were made
FRESHNESS   the median age of the last look at the pages that did change
DELAY       the median time from a change to its detection, where the host says when the page was modified; with <=
            the median gap between the checks around it, where it does not
Re-extraction and edited fields count nowhere."""

EXAMPLES = """\
  watcher stats
  watcher stats --since 7d
  watcher stats --since 2026-11-01 shop.example
  watcher stats --json | jq 'select(.group == "host")'"""

HEADS = ("", "WATCHES", "CHECKS", "CHANGES", "FAILED", "BYTES", "WORK", "REQUESTS", "FRESHNESS", "DELAY")


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add("stats", help="what was saved, and what it cost", prose=PROSE, examples=EXAMPLES)
    parser.add_argument("patterns", metavar="PATTERN", nargs="*", help=f"only these: {select.HELP}")
    parser.add_argument("--since", metavar="TIME", help="from then on: a time, a date, or a duration ago (7d)")
    parser.set_defaults(func=run_stats)


def run_stats(options: argparse.Namespace) -> int:
    """Print the numbers."""
    settings = compose.read_settings(options)
    out = Out(json=options.json)
    with compose.reading(options, settings) as known:
        since = parse_time(options.since, known.now) if options.since is not None else None
        names = frozenset(select.select_names(known.names(), options.patterns) if options.patterns else known.names())
        checks = [check for check in _counted(known, since) if check.name in names]
        watches = {watch.name: watch for watch in settings.watches}
        start = since if since is not None else min((check.at for check in checks), default=known.now)
        report = measure(checks, watches, start=start, end=known.now, due=_due(known))
    if out.json:
        for group, name, numbers in _groups(report):
            out.record(_object(report, group, name, numbers))
    elif not checks:
        out.line("no check in that time")
    else:
        _print(out, report)
    return FINE


def _counted(known: compose.Known, since: float | None) -> Iterator[Check]:
    return (check for check in known.store.checks(since=since) if not check.silent)


def _due(known: compose.Known) -> Iterator[str]:
    for watch in known.settings.watches:
        summary = known.reader.summary(watch.name)
        if summary and not summary.paused and summary.next_check_at is not None and summary.next_check_at <= known.now:
            yield watch.name


def _groups(report: Report) -> Iterator[tuple[str, str | None, Numbers]]:
    yield "all", None, report.total
    for group, found in (("host", report.by_host), ("type", report.by_type), ("tag", report.by_tag)):
        for name, numbers in found.items():
            yield group, name, numbers


def _object(report: Report, group: str, name: str | None, numbers: Numbers) -> dict[str, Any]:
    return {
        "group": group,
        "name": name,
        "start": rfc3339(report.start),
        "end": rfc3339(report.end),
        "watches": numbers.watches,
        "due": numbers.due,
        "checks": numbers.checks,
        "expected_checks": round(numbers.expected, 3),
        "not_modified": numbers.not_modified,
        "bodies": numbers.bodies,
        "unchanged": numbers.unchanged,
        "changes": numbers.changes,
        "failures": numbers.failures,
        "bytes_wire": numbers.bytes_wire,
        "bytes_saved": numbers.bytes_saved,
        "downstream_saved": numbers.downstream_saved,
        "requests_saved": numbers.requests_saved,
        "freshness_s": numbers.freshness,
        "delay_s": numbers.delay,
        "delays": numbers.delays,
        "delay_bound_s": numbers.delay_bound,
        "delay_bounds": numbers.bounds,
    }


def _print(out: Out, report: Report) -> None:
    total = report.total
    out.line(f"{when(report.start)} → {when(report.end)}: {total.counterfactual}; {total.due} are due now")
    rows, before = [], "all"
    for group, name, numbers in _groups(report):
        if group != before:
            rows.append((f"by {group}", *[""] * (len(HEADS) - 1)))
            before = group
        rows.append(("all" if name is None else f"  {name}", *_cells(numbers)))
    out.table(HEADS, rows, right="-" + "r" * (len(HEADS) - 1), give=0)


def _cells(numbers: Numbers) -> tuple[str, ...]:
    return (
        str(numbers.watches),
        str(numbers.checks),
        str(numbers.changes),
        str(numbers.failures),
        *map(_percent, (numbers.bytes_saved, numbers.downstream_saved, numbers.requests_saved)),
        "-" if numbers.freshness is None else span(numbers.freshness),
        _delay(numbers),
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _delay(numbers: Numbers) -> str:
    if numbers.delay is not None:
        return span(numbers.delay)
    return "-" if numbers.delay_bound is None else f"<= {span(numbers.delay_bound)}"
