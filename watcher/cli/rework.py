"""``watcher re-extract`` and ``watcher export``: stored pages read anew, stored data handed to other programs."""

from __future__ import annotations

import argparse
import asyncio
import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from watcher.cli import compose, select
from watcher.cli.errors import FAILED, FINE, CommandError
from watcher.cli.out import Out, clean, json_line, one_line, rfc3339
from watcher.core.diff import show
from watcher.core.model import Watch

AT_ONCE = 50
"""Pages read between two writes: their lines share one sync."""

RE_EXTRACT_PROSE = """\
Read the saved pages again by today's fields and rules, without asking any host. Records that come out otherwise are
replaced and marked `redefined` in the history; nothing is announced, and no interval or number moves."""

RE_EXTRACT_EXAMPLES = """\
  watcher re-extract
  watcher re-extract shop.example"""

EXPORT_PROSE = """\
Print what is stored, for other programs: `records` (what each watch says now), `history` (every version) or `audit`
(every request). As JSON lines, or as CSV with one row for each field of a record. Personal fields are left out."""

EXPORT_EXAMPLES = """\
  watcher export records > records.jsonl
  watcher export history lamp --format csv
  watcher export audit --output audit.jsonl"""


def register(commands: Any) -> None:
    """Add the commands of this family."""
    parser = commands.add(
        "re-extract", help="read the saved pages anew", prose=RE_EXTRACT_PROSE, examples=RE_EXTRACT_EXAMPLES
    )
    parser.add_argument("patterns", metavar="PATTERN", nargs="*", help=f"only these: {select.HELP}")
    parser.set_defaults(func=run_re_extract)
    parser = commands.add(
        "export", help="stored data as JSON lines or CSV", prose=EXPORT_PROSE, examples=EXPORT_EXAMPLES
    )
    parser.add_argument("what", choices=("records", "history", "audit"), help="what to print")
    parser.add_argument("patterns", metavar="PATTERN", nargs="*", help=f"only these: {select.HELP}")
    parser.add_argument("--format", choices=("jsonl", "csv"), default="jsonl", help="JSON lines (the default) or CSV")
    parser.add_argument("--output", metavar="FILE", help="write here instead of printing")
    parser.set_defaults(func=run_export)


# -- re-extract


def run_re_extract(options: argparse.Namespace) -> int:
    """Read saved pages by today's definitions."""
    settings = compose.read_settings(options)
    out = Out(json=options.json)
    watches = select.select(settings, options.patterns)
    with compose.writing(options, settings) as store:
        results = asyncio.run(_all_anew(watches, compose.tools(settings, store)))
    counts = dict.fromkeys(("rewritten", "same", "unreadable", "not saved"), 0)
    for name, result in results:
        counts[result] += 1
        if out.json:
            out.record({"name": name, "result": result})
        elif result != "same":
            out.line(f"{result:<12} {one_line(name)}")
    if not out.json:
        out.line(", ".join(f"{count} {word}" for word, count in counts.items()))
    return FAILED if counts["unreadable"] else FINE


async def _all_anew(watches: Iterable[Watch], tools: Any) -> list[tuple[str, str]]:
    results: list[tuple[str, str]] = []
    left = iter(watches)
    while some := list(islice(left, AT_ONCE)):
        found = await asyncio.gather(*(_anew(watch, tools) for watch in some))
        results += zip((watch.name for watch in some), found, strict=True)
    return results


async def _anew(watch: Watch, tools: Any) -> str:
    from watcher.engine.redefine import reread, silently

    state = tools.store.state(watch.name)
    if state is None or state.record is None or not state.body:
        return "not saved"
    page = await reread(watch, state, tools)
    if page is None:
        return "unreadable"
    if (page.record.fingerprint, page.record.definition) == (state.record.fingerprint, state.record.definition):
        return "same"
    await silently(watch, state, page, tools)
    return "rewritten"


# -- export


def run_export(options: argparse.Namespace) -> int:
    """Print stored data."""
    settings = compose.read_settings(options)
    with compose.reading(options, settings) as known:
        names = select.select_names(known.names(), options.patterns) if options.patterns else list(known.names())
        rows = {"records": _records, "history": _history, "audit": _audit}[options.what](known, names)
        with _target(options.output) as stream:
            if options.format == "jsonl" or options.json:
                for row in rows:
                    stream.write(json_line(row) + "\n")
            else:
                _write_csv(stream, rows, flat=options.what == "audit")
    return FINE


@contextmanager
def _target(path: str | None) -> Iterator[Any]:
    if path is None:
        yield Out().stream
        return
    try:
        with open(Path(path), "w", encoding="utf-8", newline="") as file:
            yield file
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror}") from None


def _records(known: compose.Known, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        state = known.store.state(name)
        if state is not None:
            yield {
                "name": name,
                "url": state.url,
                "at": rfc3339(state.last_seen),
                "outcome": state.outcome,
                "record": state.record.public() if state.record else None,
            }


def _history(known: compose.Known, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    from watcher.cli.changes import EVERYTHING

    for name in names:
        for version in reversed(known.store.history(name, limit=EVERYTHING)):
            yield {
                "name": name,
                "url": known.names()[name],
                "at": rfc3339(version.at),
                "outcome": version.outcome,
                "record": version.record.public() if version.record else None,
            }


def _audit(known: compose.Known, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    wanted = frozenset(names)
    for check in known.store.checks():
        if check.name in wanted:
            for exchange in check.exchanges:
                fields = msgspec.structs.asdict(exchange)
                yield {"name": check.name, "outcome": check.outcome, **fields, "at": rfc3339(exchange.at)}


def _write_csv(stream: Any, rows: Iterable[Mapping[str, Any]], *, flat: bool) -> None:
    """Rows as CSV (RFC 4180); a record becomes one row a field, lists and pairs of ``flat`` rows become JSON."""
    text = io.StringIO()
    writer = csv.writer(text)
    heads: Sequence[str] = ()
    for row in rows:
        for cells in [row] if flat else _by_field(row):
            if not heads:
                heads = list(cells)
                writer.writerow(heads)
            writer.writerow([_cell(cells[head]) for head in heads])
        stream.write(text.getvalue())
        text.seek(0)
        text.truncate()


def _by_field(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    head = {key: value for key, value in row.items() if key != "record"}
    for field, value in (row["record"] or {"": None}).items():
        shown = None if value is None else "\n".join(map(show, value)) if isinstance(value, list) else show(value)
        yield {**head, "field": field, "value": shown}


def _cell(value: Any) -> Any:
    if isinstance(value, tuple | list | dict):
        return json_line(value)
    return clean(value) if isinstance(value, str) else value
