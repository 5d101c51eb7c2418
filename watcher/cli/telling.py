"""Checks as they happen, told as lines or as the JSON objects that other programs read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from watcher.cli.out import Out, one_line, rfc3339, span
from watcher.core.diff import diff_changes, show
from watcher.core.model import FieldChange, Outcome

if TYPE_CHECKING:
    from watcher.engine.engine import Engine
    from watcher.engine.events import Checked, Reloaded

_SAME = (Outcome.NOT_MODIFIED, Outcome.UNCHANGED)
_FAILED = (Outcome.ERROR, Outcome.BLOCKED)
_CHANGED = (Outcome.CHANGED, Outcome.GONE, Outcome.RETURNED)
_COLOURS = {Outcome.CHANGED: "yellow", Outcome.RETURNED: "yellow", Outcome.FIRST: "cyan", Outcome.ERROR: "red"}
_ORDER = {outcome: place for place, outcome in enumerate(Outcome)}


class Teller:
    """Prints each check and counts. ``changed`` and ``failed`` are what the exit code is made of."""

    def __init__(self, out: Out, engine: Engine, *, verbose: bool) -> None:
        self._out = out
        self._engine = engine
        self._verbose = verbose
        self._counts: Counter[Outcome] = Counter()

    @property
    def changed(self) -> int:
        """Checks that found a change, a disappearance or a return."""
        return sum(self._counts[outcome] for outcome in _CHANGED)

    @property
    def failed(self) -> int:
        """Checks that failed or were refused."""
        return sum(self._counts[outcome] for outcome in _FAILED)

    def tell(self, event: Checked) -> None:
        """Print one check, if it is worth a line."""
        outcome = event.check.outcome
        self._counts[outcome] += 1
        if self._out.json:
            state = self._engine.state(event.check.name)
            record = state.record.public() if state is not None and state.record is not None else None
            self._out.record(check_object(event, record))
        elif self._verbose or outcome not in _SAME:
            head = self._out.paint(f"{outcome.value:<12}", *([_COLOURS[outcome]] if outcome in _COLOURS else []))
            self._out.line(f"{head} {one_line(event.check.name)}{_detail(event)}")
            for change in event.changes:
                self._out.line(f"             {describe(change)}")
        self._out.stream.flush()

    def tell_reloaded(self, event: Reloaded) -> None:
        """Print that the configuration was read again, or what keeps the old one in force."""
        if self._out.json:
            self._out.record({"reloaded": not event.errors, "errors": event.errors})
        else:
            for error in event.errors:
                self._out.line(f"configuration: {one_line(error)}")
            self._out.line("the configuration in force stays" if event.errors else "configuration read again")
        self._out.stream.flush()

    def sum_up(self, *, waiting: int) -> None:
        """Print the last line of a pass; ``waiting`` watches were not due."""
        if self._out.json:
            return
        total = sum(self._counts.values())
        counts = sorted(self._counts.items(), key=lambda item: _ORDER[item[0]])
        parts = [f"{count} {outcome.value.replace('_', ' ')}" for outcome, count in counts]
        later = f"; {waiting} not due (`--all` checks them too)" if waiting else ""
        self._out.line(f"{total} checked{': ' if parts else ''}{', '.join(parts)}{later}")


def check_object(event: Checked, record: dict[str, Any] | None) -> dict[str, Any]:
    """One check as ``--json`` prints it; the keys and their meaning are fixed."""
    check = event.check
    failure = check.failure
    return {
        "name": check.name,
        "url": check.url,
        "at": rfc3339(check.at),
        "outcome": check.outcome,
        "status": check.status or None,
        "conditional": check.conditional,
        "record": record,
        "changes": [{"field": c.field, "before": c.before, "after": c.after} for c in event.changes],
        "interval_s": check.interval,
        "next_check_at": rfc3339(check.next_check_at),
        "reason": check.reason,
        "error": {"kind": failure.kind, "message": failure.message} if failure else None,
        "bytes_wire": check.bytes_wire,
        "bytes_body": check.bytes_body,
    }


def describe(change: FieldChange, longest: int = 100) -> str:
    """One field's change on one line: both values where they are short, else how much moved."""
    before, after = one_line(show(change.before)), one_line(show(change.after))
    if len(before) + len(after) <= longest:
        return f"{one_line(change.field)}: {before} → {after}"
    kinds = Counter(block.kind.value for diff in diff_changes([change]) for block in diff.blocks)
    return f"{one_line(change.field)}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


def _detail(event: Checked) -> str:
    check = event.check
    if event.check.failure is not None:
        return f": {one_line(event.check.failure.message)}"
    later = f", next in {span(check.next_check_at - check.at)}" if check.next_check_at else ""
    status = f" ({check.status}" if check.status else " ("
    return f"{status}{later})".replace("(, ", "(").replace(" ()", "")
