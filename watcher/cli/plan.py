"""``watcher plan``: the checks of the next day, host by host, and what a host's budget leaves out."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from watcher.cli import compose, select
from watcher.cli.errors import FINE
from watcher.cli.out import Out, rfc3339, when
from watcher.core.model import Policy, Watch
from watcher.core.phrase import DAY
from watcher.core.revisit import RevisitCandidate, clamp_due, select_revisits
from watcher.core.settings import Settings
from watcher.core.state import Summary
from watcher.core.urls import UrlError, parse_url

PROSE = """\
Show which checks are due within the next day (or --for), host by host: how many, how many the host's budget
(checks_per_day) allows, and which it leaves out. Later checks assume that intervals stay as they are now.
With a PATTERN each check is listed, with the reason for its time."""

EXAMPLES = """\
  watcher plan
  watcher plan shop.example
  watcher plan --for 7d --json"""


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add("plan", help="the next day's checks, host by host", prose=PROSE, examples=EXAMPLES)
    parser.add_argument("patterns", metavar="PATTERN", nargs="*", help=f"list the checks of these: {select.HELP}")
    parser.add_argument("--for", dest="horizon", metavar="1d", default="1d", help="how far to look ahead (default: 1d)")
    parser.set_defaults(func=run_plan)


class Due(NamedTuple):
    """One check to come."""

    watch: Watch
    at: float
    candidate: RevisitCandidate


def run_plan(options: argparse.Namespace) -> int:
    """Print the checks to come."""
    from watcher.cli.times import parse_span

    horizon = parse_span(options.horizon)
    settings = compose.read_settings(options)
    out = Out(json=options.json)
    chosen = {watch.name for watch in select.select(settings, options.patterns)}
    with compose.reading(options, settings) as known:
        hosts: dict[str, list[Due]] = defaultdict(list)
        for watch in settings.watches:
            summary = known.reader.summary(watch.name)
            for due in _checks(watch, summary, known.now, horizon) if summary else ():
                hosts[due.candidate.host].append(due)
        rows: list[tuple[str, ...]] = []
        for host, checks in sorted(hosts.items()):
            budget = _budget(settings, host, horizon)
            kept = set(map(id, select_revisits([due.candidate for due in checks], {host: budget}, known.now)))
            left = [due for due in checks if id(due.candidate) not in kept]
            shown = [due for due in sorted(checks, key=lambda due: due.at) if due.watch.name in chosen]
            if out.json:
                out.record(_object(known, host, budget, checks, left, shown))
            elif options.patterns:
                for due in shown:
                    reason = (
                        _reason(known, due) if id(due.candidate) in kept else "left out: the host's budget is spent"
                    )
                    rows.append((when(due.at), due.watch.name, reason))
            else:
                first = min(due.at for due in checks)
                rows.append((host, str(len(checks)), str(budget), str(len(left)), when(first)))
    if out.json:
        return FINE
    if not rows:
        out.line("nothing is due in that time")
    elif options.patterns:
        out.table(("AT", "PAGE", "WHY"), rows, give=2)
    else:
        out.table(("HOST", "CHECKS", "BUDGET", "LEFT OUT", "FIRST"), rows, right="-rrr", give=0)
    return FINE


def _checks(watch: Watch, summary: Summary, now: float, horizon: float) -> Iterator[Due]:
    """The checks of one watch within ``horizon`` seconds, if nothing changes its interval."""
    if summary.paused or summary.next_check_at is None:
        return
    interval = max(summary.check_interval, 60.0)
    at = clamp_due(summary.next_check_at, now=now, interval=interval, last_fetched_at=summary.last_fetched_at)
    at = max(at, now)
    while at < now + horizon:
        candidate = RevisitCandidate(
            name=watch.name,
            host=_origin(watch.url),
            due_at=at,
            interval=interval,
            unchanged_streak=summary.unchanged_streak,
            last_fetched_at=summary.last_fetched_at,
            priority=watch.priority,
            force_after=watch.cadence.force_after,
            policy=watch.cadence.policy,
        )
        yield Due(watch, at, candidate)
        at = _next(watch, at, interval)


def _next(watch: Watch, at: float, interval: float) -> float:
    if watch.cadence.policy is Policy.CRON and watch.cadence.cron:
        from watcher.core.cron import next_time

        return next_time(watch.cadence.cron, at, watch.cadence.timezone)
    return at + interval


def _origin(url: str) -> str:
    try:
        return parse_url(url).origin
    except UrlError:
        return url


def _budget(settings: Settings, origin: str, horizon: float) -> int:
    try:
        per_day = settings.host(parse_url(origin).host).checks_per_day
    except UrlError:
        per_day = settings.host_default.checks_per_day
    return max(1, round(per_day * horizon / DAY))


def _reason(known: compose.Known, due: Due) -> str:
    state = known.store.state(due.watch.name)
    if state is None:
        return "never checked"
    return (
        state.reason
        if state.next_check_at is not None and due.at <= max(state.next_check_at, known.now)
        else "after that"
    )


def _object(
    known: compose.Known, host: str, budget: int, checks: list[Due], left: list[Due], shown: list[Due]
) -> dict[str, Any]:
    return {
        "host": host,
        "checks": len(checks),
        "budget": budget,
        "left_out": sorted({due.watch.name for due in left}),
        "plan": [{"name": due.watch.name, "at": rfc3339(due.at), "reason": _reason(known, due)} for due in shown],
    }
