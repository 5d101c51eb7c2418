"""What stands beside the four numbers: findings, and why a number moved, where the data can tell."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from watcher.core.metrics import Numbers
from watcher.core.model import Finding
from watcher.core.phrase import span

MOVED = 0.1
"""A share that moved by less than this is not worth a sentence."""

FACTOR = 1.25
"""A pace that stayed within this factor counts as the same."""

RARE = 0.2
VALIDATORS = ("etag_churn", "lm_churn", "ignores_conditionals", "etag_lies", "no_validators")
"""Findings that keep a host from answering 304."""


def findings_beside(numbers: Numbers, findings: Iterable[Finding]) -> list[str]:
    """One sentence a finding; the ones that explain a low 304 rate say so."""
    said = []
    for finding in findings:
        since = _day(finding.since_at)
        saved = numbers.bytes_saved
        if finding.kind in VALIDATORS and saved is not None and saved < RARE:
            said.append(f"304 rate low ({saved:.0%}): {finding.kind} since {since}; {finding.reason}")
        else:
            said.append(f"{finding.kind} since {since}: {finding.reason}")
    return said


def why_moved(before: Numbers, after: Numbers) -> list[str]:
    """For each number that moved from ``before`` to ``after``: did the site change, or our scheduling?"""
    said = []
    for name in ("bytes_saved", "downstream_saved", "requests_saved"):
        old, new = getattr(before, name), getattr(after, name)
        if old is not None and new is not None and abs(new - old) >= MOVED:
            verb = "rose" if new > old else "fell"
            said.append(f"{name.replace('_', ' ')} {verb} from {old:.0%} to {new:.0%}: {_cause(name, before, after)}")
    if before.freshness and after.freshness and not _same(before.freshness, after.freshness):
        verb = "aged" if after.freshness > before.freshness else "grew fresher"
        moved = f"copies {verb} from {span(before.freshness)} to {span(after.freshness)}"
        said.append(f"{moved}: {_pace(before, after)}")
    return said


def _cause(name: str, before: Numbers, after: Numbers) -> str:
    if name == "requests_saved":
        return _pace(before, after)
    old, new = before.validated, after.validated
    if old is not None and new is not None and abs(new - old) >= MOVED:
        how = "more often with a 304" if new > old else "more often with a whole body"
        return f"the hosts answer for unchanged pages {how} ({old:.0%} of them had a 304, now {new:.0%})"
    return _pace(before, after)


def _pace(before: Numbers, after: Numbers) -> str:
    """The site's pace of change beside ours of checking, each a watch and day."""
    changes = _per_day(before.changes, before), _per_day(after.changes, after)
    checks = _per_day(before.checks, before), _per_day(after.checks, after)
    moved = f"{_pair(*changes)} changes and {_pair(*checks)} checks a page and day"
    if not _same(*changes):
        followed = "" if _same(*checks) else ", and the schedule followed"
        return f"the pages {'change more' if changes[1] > changes[0] else 'change less'}{followed} ({moved})"
    if not _same(*checks):
        slower = "less often" if checks[1] < checks[0] else "more often"
        return f"our scheduling drifted: pages that change as before are checked {slower} ({moved})"
    return f"neither the pages nor our pace moved; the mix of watches did ({moved})"


def _per_day(count: int, numbers: Numbers) -> float:
    return count / numbers.watch_days if numbers.watch_days else 0.0


def _pair(old: float, new: float) -> str:
    return f"{old:.2g} → {new:.2g}"


def _same(old: float, new: float) -> bool:
    low, high = sorted((old, new))
    return high <= low * FACTOR


def _day(at: float) -> str:
    day = datetime.fromtimestamp(at, UTC)
    return f"{day.day} {day:%b}"
