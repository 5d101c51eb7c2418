"""``watcher diff`` and ``watcher history``: what changed, between which versions, and what was asked of the host."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from watcher.cli import compose, select
from watcher.cli.errors import FINE, CommandError
from watcher.cli.out import Out, clean, one_line, rfc3339, span, when, width
from watcher.cli.times import parse_time
from watcher.core.diff import FieldDiff, changes_between, diff_changes
from watcher.core.history import Check, Version
from watcher.core.render import SIGNS, Line, LineKind, side_by_side, unified, word_by_word
from watcher.core.words import Mark

EVERYTHING = 1_000_000_000

DIFF_PROSE = """\
Show what changed in a watch: the last change, or what lies between two versions A and B. A version is its number as
`watcher history` prints it, -1 for the newest, or a time or a duration ago: then it is the one in force at that time.
One version alone is compared with the one before it."""

DIFF_EXAMPLES = """\
  watcher diff lamp                      the last change
  watcher diff lamp 3                    what version 3 changed
  watcher diff lamp 2026-11-01 -1        from then to now
  watcher diff lamp 7d --side-by-side    since a week ago, in two columns (until -1)
  watcher diff lamp --word               each changed block as one line"""

HISTORY_PROSE = """\
List the versions of a watch, newest first, with the fields each of them changed. --audit lists every request instead:
the validators sent, the status, the bytes and times, robots.txt and redirects included."""

HISTORY_EXAMPLES = """\
  watcher history lamp
  watcher history lamp --as-of 2026-11-30   up to then
  watcher history lamp --audit --limit 20   the last 20 requests
  watcher history lamp --json"""


def register(commands: Any) -> None:
    """Add the commands of this family."""
    parser = commands.add("diff", help="what changed, at the word", prose=DIFF_PROSE, examples=DIFF_EXAMPLES)
    parser.add_argument("name", metavar="NAME", help=select.HELP)
    parser.add_argument("versions", metavar="A B", nargs="*", help="one or two versions; the last change without")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--unified", action="store_true", help="old lines above new ones (the default)")
    form.add_argument("--side-by-side", action="store_true", help="old on the left, new on the right")
    form.add_argument("--word", action="store_true", help="removed and added words within one line")
    parser.set_defaults(func=run_diff)
    parser = commands.add("history", help="the versions of a watch", prose=HISTORY_PROSE, examples=HISTORY_EXAMPLES)
    parser.add_argument("name", metavar="NAME", help=select.HELP)
    parser.add_argument("--as-of", metavar="TIME", help="only up to then: a time, a date, or a duration ago (3d)")
    parser.add_argument("--audit", action="store_true", help="every request and its answer")
    parser.add_argument("--limit", metavar="N", type=int, default=100, help="at most so many (default: 100)")
    parser.set_defaults(func=run_history)


# -- diff


def run_diff(options: argparse.Namespace) -> int:
    """Print the difference of two versions."""
    settings = compose.read_settings(options)
    out = Out(json=options.json)
    with compose.reading(options, settings) as known:
        name = select.select_name(known.names(), options.name)
        versions = [v for v in reversed(known.store.history(name, limit=EVERYTHING)) if v.record is not None]
        before, after = _chosen(versions, options.versions, name, known.now)
    assert before.record is not None
    assert after.record is not None
    diffs = diff_changes(changes_between(before.record, after.record))
    if out.json:
        out.record(
            {
                "name": name,
                "before_at": rfc3339(before.at),
                "after_at": rfc3339(after.at),
                "changes": [
                    {"field": d.field, "before": d.before, "after": d.after, "blocks": d.blocks} for d in diffs
                ],
            }
        )
        return FINE
    seam = "; its fields were edited in between" if before.record.definition != after.record.definition else ""
    out.line(f"{out.paint(one_line(name), 'bold')}  {when(before.at)} → {when(after.at)}{seam}")
    if not diffs:
        out.line("no difference")
    elif options.side_by_side:
        _print_side_by_side(out, diffs)
    else:
        for line in word_by_word(diffs) if options.word else unified(diffs):
            out.line(_painted(out, line, marks=options.word))
    return FINE


def _chosen(versions: Sequence[Version], texts: Sequence[str], name: str, now: float) -> tuple[Version, Version]:
    """The two versions to compare, oldest first in ``versions``."""
    if len(texts) > 2:
        raise CommandError("diff compares two versions; give A and B")
    if not versions:
        raise CommandError(f"{name!r} has no version yet; `watcher check` makes the first")
    if len(texts) == 2:
        first, second = (_version(versions, text, name, now) for text in texts)
        return versions[first], versions[second]
    if texts and not texts[0].lstrip("+-").isdecimal():
        return versions[_version(versions, texts[0], name, now)], versions[-1]
    last = _version(versions, texts[0], name, now) if texts else len(versions) - 1
    if last == 0:
        raise CommandError(f"{name!r} has no version before its first, of {when(versions[0].at)}")
    return versions[last - 1], versions[last]


def _version(versions: Sequence[Version], text: str, name: str, now: float) -> int:
    """The place of the version ``text`` means: a number from 1, one from the end, or a time."""
    if text.lstrip("+-").isdecimal():
        number = int(text)
        place = number - 1 if number > 0 else len(versions) + number
        if number == 0 or not 0 <= place < len(versions):
            raise CommandError(f"{name!r} has versions 1 to {len(versions)}, not {text}")
        return place
    at = parse_time(text, now)
    before = [place for place, version in enumerate(versions) if version.at <= at]
    if not before:
        raise CommandError(
            f"nothing was known of {name!r} at {when(at)}; its first version is of {when(versions[0].at)}"
        )
    return before[-1]


_PAINT = {LineKind.REMOVED: ("red",), LineKind.ADDED: ("green",), LineKind.FIELD: ("bold",), LineKind.CONTEXT: ("dim",)}
_MARKS = {Mark.REMOVED: ("[-", "-]"), Mark.ADDED: ("[+", "+]"), Mark.SAME: ("", "")}
_MARK_PAINT = {Mark.REMOVED: ("red",), Mark.ADDED: ("green",), Mark.SAME: ()}


def _painted(out: Out, line: Line, *, marks: bool) -> str:
    """A line with its sign; within it, moved words are marked by brackets, and by colour where there is any."""
    sign = SIGNS[line.kind]
    if marks and line.kind is LineKind.EDITED:
        return sign + "".join(_marked(out, span.mark, span.text) for span in line.spans)
    return out.paint(sign + clean(line.text), *_PAINT.get(line.kind, ()))


def _marked(out: Out, mark: Mark, text: str) -> str:
    opened, closed = _MARKS[mark]
    return out.paint(f"{opened}{clean(text)}{closed}", *_MARK_PAINT[mark])


def _print_side_by_side(out: Out, diffs: Sequence[FieldDiff]) -> None:
    columns = ((out.columns or 120) - 3) // 2
    for row in side_by_side(diffs):
        left, right = (_wrapped(line, columns) for line in (row.left, row.right))
        for i in range(max(len(left), len(right))):
            one = left[i] if i < len(left) else ""
            other = right[i] if i < len(right) else ""
            blank = " " * max(0, columns - width(one))
            out.line(f"{_side(out, row.left, one)}{blank} │ {_side(out, row.right, other)}".rstrip())


def _side(out: Out, line: Line | None, text: str) -> str:
    return out.paint(text, *_PAINT.get(line.kind, ())) if line is not None and text else text


def _wrapped(line: Line | None, columns: int) -> list[str]:
    """The text of a line in pieces of at most ``columns``, broken at blanks where there are some."""
    if line is None:
        return []
    left, pieces = clean(line.text).replace("\t", " "), []
    while width(left) > columns:
        end = columns
        while width(left[:end]) > columns:
            end -= 1
        blank = left.rfind(" ", max(1, end // 2), end + 1)
        end = blank if blank > 0 else end
        pieces.append(left[:end].rstrip())
        left = left[end:].lstrip()
    return [*pieces, left]


# -- history


def run_history(options: argparse.Namespace) -> int:
    """Print the versions, or the audit trail, of a watch."""
    if options.limit < 1:
        raise CommandError("--limit must be at least 1")
    settings = compose.read_settings(options)
    out = Out(json=options.json)
    with compose.reading(options, settings) as known:
        name = select.select_name(known.names(), options.name)
        until = parse_time(options.as_of, known.now) if options.as_of is not None else None
        if options.audit:
            checks = [c for c in known.store.checks(name) if until is None or c.at <= until]
            _print_audit(out, checks, options.limit)
        else:
            versions = known.store.history(name, limit=EVERYTHING)
            _print_versions(out, name, [v for v in versions if until is None or v.at <= until], options.limit)
    return FINE


def _print_versions(out: Out, name: str, versions: Sequence[Version], limit: int) -> None:
    numbers = _numbers(versions)
    rows = []
    for place, version in enumerate(versions[:limit]):
        older = next((v for v in versions[place + 1 :] if v.record is not None), None)
        changes = changes_between(older.record, version.record) if older and older.record and version.record else ()
        fields = [change.field for change in changes]
        if out.json:
            out.record(
                {
                    "name": name,
                    "version": numbers[place],
                    "at": rfc3339(version.at),
                    "outcome": version.outcome,
                    "fields": fields,
                    "record": version.record.values if version.record else None,
                }
            )
        number = numbers[place]
        rows.append((str(number) if number else "", when(version.at), version.outcome.value, ", ".join(fields)))
    if out.json:
        return
    if not rows:
        out.line("no version yet")
        return
    out.table(("VERSION", "AT", "OUTCOME", "FIELDS"), rows, right="r", give=3)
    if len(versions) > limit:
        out.line(f"{len(versions) - limit} older ones; --limit shows more")


def _numbers(versions: Sequence[Version]) -> list[int | None]:
    """The number of each version, newest first given; one without a record has none."""
    count = sum(version.record is not None for version in versions)
    numbers: list[int | None] = []
    for version in versions:
        numbers.append(count if version.record is not None else None)
        count -= version.record is not None
    return numbers


def _print_audit(out: Out, checks: Sequence[Check], limit: int) -> None:
    lines = list(_audit_lines(checks))[-limit:]
    if out.json:
        for check, exchange in lines:
            plan = {
                "interval_s": check.interval,
                "next_check_at": None if check.next_check_at is None else rfc3339(check.next_check_at),
                "reason": check.reason,
            }
            fields = {**msgspec.to_builtins(exchange), "at": rfc3339(exchange.at)}
            out.record({"name": check.name, "outcome": check.outcome, **fields, **plan})
        return
    rows = [
        (
            when(exchange.at),
            exchange.purpose,
            exchange.method,
            str(exchange.status or exchange.error or "-"),
            exchange.conditional or "-",
            str(exchange.bytes_wire),
            span(exchange.total) if exchange.total >= 1 else f"{exchange.total * 1000:.0f}ms",
            exchange.url,
        )
        for _, exchange in lines
    ]
    if not rows:
        out.line("no request yet")
        return
    out.table(("AT", "WHAT", "METHOD", "STATUS", "CONDITION", "BYTES", "TOOK", "URL"), rows, right="-----rr", give=7)


def _audit_lines(checks: Sequence[Check]) -> Iterator[tuple[Check, Any]]:
    for check in checks:
        for exchange in check.exchanges:
            yield check, exchange
