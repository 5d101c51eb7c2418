"""``watcher list`` and ``watcher show``: what is watched, and everything known of one watch."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from watcher.cli import compose, select, words
from watcher.cli.errors import FINE
from watcher.cli.out import Out, rfc3339, span
from watcher.core.model import Watch
from watcher.core.state import Summary

LIST_PROSE = """\
List the watches in the order of the configuration: how often each is checked, for how many checks in a row
nothing changed (+) or they failed (-), what the last check came to, and when the next is due."""

LIST_EXAMPLES = """\
  watcher list
  watcher list shop.example
  watcher list --filter 'status:failing tag:shop'
  watcher list --duplicates              watches whose records say the same
  watcher list --json"""

SHOW_PROSE = """\
Show one watch: its record, the reason for its next check, its validators and whether they are trusted, what its
host asked for, and what was found out and need not be looked into again."""

SHOW_EXAMPLES = """\
  watcher show 'Desk lamp'
  watcher show lamp --as-of 2026-11-30   what was known then
  watcher show lamp --as-of 3d           three days ago"""


def register(commands: Any) -> None:
    """Add the commands of this family."""
    parser = commands.add(
        "list", help="every watch, its interval, streak and last outcome", prose=LIST_PROSE, examples=LIST_EXAMPLES
    )
    parser.add_argument("patterns", metavar="PATTERN", nargs="*", help=select.HELP)
    select.add_filter(parser)
    parser.add_argument("--duplicates", action="store_true", help="only watches whose records say the same, in groups")
    parser.set_defaults(func=run_list)
    parser = commands.add("show", help="everything known of one watch", prose=SHOW_PROSE, examples=SHOW_EXAMPLES)
    parser.add_argument("name", metavar="NAME", help=select.HELP)
    parser.add_argument("--as-of", metavar="TIME", help="what was known then: a time, a date, or a duration ago (3d)")
    parser.set_defaults(func=run_show)


def run_list(options: argparse.Namespace) -> int:
    """Print the watches."""
    settings = compose.read_settings(options)
    out = Out(json=options.json)
    watches = select.select(settings, options.patterns)
    if not watches:
        compose.note_nothing(options)
        return FINE
    with compose.reading(options, settings) as known:
        watches = select.filtered(watches, options.filter, known.reader.summary, known.now)
        if options.duplicates:
            return _duplicates(out, watches, known)
        pairs = [(watch, summary) for watch in watches if (summary := known.reader.summary(watch.name)) is not None]
    if out.json:
        for watch, summary in pairs:
            out.record(as_json(watch, summary))
        return FINE
    ascii = out.ascii or settings.screen.ascii
    rows = [_row(watch, summary, known.now, ascii) for watch, summary in pairs]
    out.table(("", "PAGE", "EVERY", "STREAK", "LAST", "DUE"), rows, right="--rr-r", give=1)
    return FINE


def as_json(watch: Watch, summary: Summary) -> dict[str, Any]:
    """A watch and its state as ``list --json`` prints them."""
    return {
        "name": watch.name,
        "url": watch.url,
        "type": watch.type,
        "tags": watch.tags,
        "status": summary.status,
        "outcome": summary.outcome,
        "http_status": summary.http_status or None,
        "interval_s": summary.check_interval,
        "next_check_at": rfc3339(summary.next_check_at),
        "last_fetched_at": rfc3339(summary.last_fetched_at),
        "last_changed_at": rfc3339(summary.last_changed_at),
        "unchanged_streak": summary.unchanged_streak,
        "failures": summary.failures,
        "paused": summary.paused,
        "unseen": summary.unseen,
    }


def _row(watch: Watch, summary: Summary, now: float, ascii: bool) -> tuple[str, ...]:
    return (
        words.glyph(summary, ascii=ascii),
        watch.name,
        span(summary.check_interval),
        words.streak(summary),
        words.last(summary),
        due(summary, now),
    )


def due(summary: Summary, now: float) -> str:
    """When the next check is due, in words."""
    if summary.paused or summary.next_check_at is None:
        return "-"
    return "now" if summary.next_check_at <= now else span(summary.next_check_at - now)


def _duplicates(out: Out, watches: Sequence[Watch], known: compose.Known) -> int:
    """Groups of watches whose records have the same change fingerprint."""
    groups: dict[str, list[str]] = {}
    for watch in watches:
        state = known.store.state(watch.name)
        if state is not None and state.record is not None and state.record.fingerprint:
            groups.setdefault(state.record.fingerprint, []).append(watch.name)
    same = [names for names in groups.values() if len(names) > 1]
    for number, names in enumerate(same, 1):
        if out.json:
            out.record({"duplicates": names})
        else:
            out.table(("", ""), [(str(number) if i == 0 else "", name) for i, name in enumerate(names)])
    if not same and not out.json:
        out.line("no two records are the same")
    return FINE


def run_show(options: argparse.Namespace) -> int:
    """Print one watch."""
    from watcher.cli.show import show, show_as_of

    settings = compose.read_settings(options)
    out = Out(json=options.json)
    with compose.reading(options, settings) as known:
        name = select.select_name(known.names(), options.name)
        if options.as_of is not None:
            return show_as_of(out, known, name, options.as_of)
        show(out, known, name)
    return FINE
