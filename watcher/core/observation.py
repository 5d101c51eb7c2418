"""Everything one check learned, and the one place that turns it into the next state."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from watcher.core.exchange import Exchange
from watcher.core.history import Check
from watcher.core.model import Cadence, Changes, Failure, Finding, Outcome
from watcher.core.state import UNBOUNDED, Limits, Moved, Page, UrlState
from watcher.core.validators import Validators

VOLATILE, FLAPPING = "volatile", "flapping"
OWN = (VOLATILE, FLAPPING)
"""Findings about what one watch says: its host has no part in them."""


class Answer(StrEnum):
    """What the host's answer meant, before the watch's own past turns it into an outcome."""

    FIRST = "first"
    NOT_MODIFIED = "not_modified"
    UNCHANGED = "unchanged"
    CHANGED = "changed"
    RETURNED = "returned"
    REDEFINED = "redefined"
    MISSING = "missing"
    BLOCKED = "blocked"
    DEFERRED = "deferred"
    FAILED = "failed"


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One check's result as a value: what was answered, what it left behind, what it cost, what bounds the next one.

    ``page`` comes with every accepted 200. ``validators`` replaces the stored ones when no page does.
    ``sent`` is False when the page itself was never asked for (robots.txt, a host on hold).
    """

    at: float
    answer: Answer
    status: int = 0
    page: Page | None = None
    validators: Validators | None = None
    failure: Failure | None = None
    until: float = 0.0
    limits: Limits = UNBOUNDED
    sent: bool = True
    conditional: str | None = None
    changes: Changes = ()
    exchanges: tuple[Exchange, ...] = ()
    flags: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    volatile: tuple[str, ...] | None = None
    moved: Moved | None = None
    bytes_wire: int = 0
    bytes_body: int = 0


def observe(before: UrlState, seen: Observation, cadence: Cadence) -> UrlState:
    """The state after ``seen``. Only an accepted page or a 304 touches record, fingerprint, body and validators."""
    after = _moved_by(before, seen, cadence)
    known = before.findings
    if seen.answer is Answer.REDEFINED:  # what was offered may have been taken up
        known = tuple(finding for finding in known if finding.kind != FLAPPING)
    kept: dict[str, object] = {"moved": seen.moved, "findings": merged(known, seen.findings, seen.at)}
    if seen.page is None and seen.validators is not None:
        kept["validators"] = seen.validators
    if seen.volatile is not None:
        kept["volatile"] = seen.volatile
    return msgspec.structs.replace(after, **kept)


def _moved_by(before: UrlState, seen: Observation, cadence: Cadence) -> UrlState:
    failure = seen.failure or Failure(kind="internal", message="The check ended without an answer.")
    match seen.answer, seen.page:
        case Answer.NOT_MODIFIED, _:
            return before.observe_unchanged(seen.at, cadence, None, seen.limits, seen.status)
        case Answer.FIRST, Page() as page:
            return before.observe_first(seen.at, cadence, page, seen.limits)
        case Answer.UNCHANGED, Page() as page:
            return before.observe_unchanged(seen.at, cadence, page, seen.limits, seen.status)
        case Answer.CHANGED, Page() as page:
            return before.observe_changed(seen.at, cadence, page, seen.limits)
        case Answer.RETURNED, Page() as page:
            return before.observe_returned(seen.at, cadence, page, seen.limits)
        case Answer.REDEFINED, Page() as page:
            return before.observe_redefined(seen.at, page, cadence if seen.exchanges else None, seen.limits)
        case Answer.MISSING, _:
            return before.observe_missing(seen.at, seen.status, cadence, seen.limits)
        case Answer.BLOCKED, _:
            return before.observe_blocked(seen.at, failure, seen.limits, seen.status, seen.sent)
        case Answer.DEFERRED, _:
            return before.observe_deferred(seen.at, seen.until, failure, seen.status, seen.sent)
        case _:
            return before.observe_error(seen.at, failure, seen.limits, seen.status, seen.sent)


def merged(known: tuple[Finding, ...], new: tuple[Finding, ...], at: float) -> tuple[Finding, ...]:
    """``known`` findings still in force, ``new`` ones replacing those of their kind (the first ``since_at`` stays)."""
    by_kind = {f.kind: f for f in known if f.until_at is None or f.until_at > at}
    for finding in new:
        old = by_kind.get(finding.kind)
        by_kind[finding.kind] = msgspec.structs.replace(finding, since_at=old.since_at) if old else finding
    return tuple(by_kind.values())


def journaled(before: UrlState, after: UrlState, seen: Observation, cadence: Cadence) -> Check:
    """``seen`` as the journal, the four numbers and the activity screen want it."""
    return Check(
        name=after.name,
        url=after.url,
        at=seen.at,
        outcome=after.outcome or Outcome.ERROR,
        status=seen.status,
        gap=None if before.last_seen is None else seen.at - before.last_seen,
        interval=after.check_interval,
        next_check_at=after.next_check_at,
        modified_at=seen.limits.modified_at,
        conditional=seen.conditional,
        policy=cadence.policy.value,
        reason=after.reason,
        bytes_wire=seen.bytes_wire,
        bytes_body=seen.bytes_body,
        changed_fields=tuple(change.field for change in seen.changes),
        failure=seen.failure,
        flags=seen.flags,
        silent=seen.answer is Answer.REDEFINED,
        exchanges=seen.exchanges,
    )
