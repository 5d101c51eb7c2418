"""What we know of one watch, and how each outcome moves it. Time comes in as an argument; nothing is mutated."""

from __future__ import annotations

from typing import Self

import msgspec

from watcher.core import schedule
from watcher.core.evidence import ALONE, Evidence, Surroundings
from watcher.core.model import Cadence, Failure, Finding, Outcome, Record, Status
from watcher.core.phrase import DAY, HOUR
from watcher.core.validators import Validators

PROBES = (7 * DAY, 30 * DAY, 90 * DAY)


class Summary(msgspec.Struct, kw_only=True, gc=False):
    """The narrow, always-in-memory part of a state: what lists, queues and screens need of every watch."""

    url: str
    status: Status
    outcome: Outcome | None
    http_status: int
    check_interval: float
    next_check_at: float | None
    last_fetched_at: float | None
    last_changed_at: float | None
    seen_at: float | None
    unchanged_streak: int
    failures: int
    paused: bool

    @property
    def unseen(self) -> bool:
        """Whether the last change has not been looked at yet."""
        return self.last_changed_at is not None and (self.seen_at is None or self.seen_at < self.last_changed_at)


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What one accepted 200 leaves behind: record, saved body, validators. They are replaced together or not at all."""

    record: Record
    body: str | None
    content_type: str | None
    effective_url: str
    validators: Validators


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What bounds the next check besides the cadence: it may only come later.

    ``floor`` is the host's crawl delay times its watches (seconds), ``jitter`` a share of the interval
    (0 to 0.1), ``fresh_until`` the instant until which the response called itself fresh, ``hold_until``
    an instant the server asked us to wait for, ``modified_at`` its Last-Modified.
    ``teaches`` is False for a response that was served stale (CONDUCT rule 29). ``around`` is what the host's
    other watches suggest about this one.
    """

    floor: float = 0.0
    jitter: float = 0.0
    fresh_until: float | None = None
    hold_until: float | None = None
    modified_at: float | None = None
    teaches: bool = True
    around: Surroundings = ALONE


UNBOUNDED = Limits()


class Moved(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A chain of 301/308 seen at ``times`` checks since ``since_at``; ``probed_at`` is when the source was last asked.

    Once ``settled``, requests start at ``target`` and the source is probed every 30 days (CONDUCT rule 22).
    """

    target: str
    since_at: float
    times: int = 1
    settled: bool = False
    probed_at: float = 0.0


class UrlState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything known of one watch. ``name`` is the key; a new state is made by :meth:`new`.

    ``last_seen`` is when the page was last there (200 or 304), ``last_fetched_at`` when it was last
    asked for, ``last_changed_at`` when its record last moved. ``next_check_at`` is None when no
    check is planned (a gone page past its probes). ``not_before_at`` is a floor no manual check undercuts.
    """

    name: str
    url: str
    status: Status = Status.NEW
    outcome: Outcome | None = None
    http_status: int = 0
    first_seen: float | None = None
    last_seen: float | None = None
    last_fetched_at: float | None = None
    last_changed_at: float | None = None
    unchanged_streak: int = 0
    check_interval: float = 0.0
    next_check_at: float | None = 0.0
    not_before_at: float = 0.0
    reason: str = ""
    failures: int = 0
    failing_since_at: float | None = None
    failure: Failure | None = None
    announced: str = ""
    missing: int = 0
    missing_since_at: float | None = None
    gone_at: float | None = None
    probes: int = 0
    record: Record | None = None
    body: str | None = None
    content_type: str | None = None
    effective_url: str | None = None
    validators: Validators = Validators()
    evidence: Evidence = Evidence()
    moved: Moved | None = None
    volatile: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    paused: bool = False
    seen_at: float | None = None

    @property
    def fingerprint(self) -> str:
        """The change fingerprint of the stored record, or an empty string."""
        return self.record.fingerprint if self.record else ""

    @classmethod
    def new(cls, name: str, url: str, cadence: Cadence, at: float) -> Self:
        """A watch never fetched, due at once; its interval is the seed of its page type."""
        return cls(name=name, url=url, check_interval=cadence.interval * cadence.weight, next_check_at=at)

    def observe_first(self, at: float, cadence: Cadence, page: Page, limits: Limits = UNBOUNDED) -> Self:
        """The first accepted record: a baseline. The interval stays its seed and adapts from the next check on."""
        met = msgspec.structs.replace(self._kept(page), first_seen=at, last_changed_at=None, unchanged_streak=0)
        return met._planned(at, cadence, limits, changed=None, outcome=Outcome.FIRST)

    def observe_unchanged(
        self, at: float, cadence: Cadence, page: Page | None = None, limits: Limits = UNBOUNDED, status: int = 304
    ) -> Self:
        """The record stands: by a 304 (``page`` None), or by a 200 with the same fingerprint. Both lengthen alike."""
        met = self if page is None else self._kept(page)
        met = msgspec.structs.replace(met, unchanged_streak=self.unchanged_streak + 1, http_status=status)
        outcome = Outcome.NOT_MODIFIED if page is None else Outcome.UNCHANGED
        return met._planned(at, cadence, limits, changed=False, outcome=outcome)

    def observe_changed(self, at: float, cadence: Cadence, page: Page, limits: Limits = UNBOUNDED) -> Self:
        """Another fingerprint: the streak ends and the interval halves."""
        met = msgspec.structs.replace(self._kept(page), last_changed_at=at, unchanged_streak=0)
        return met._planned(at, cadence, limits, changed=True, outcome=Outcome.CHANGED)

    def observe_returned(self, at: float, cadence: Cadence, page: Page, limits: Limits = UNBOUNDED) -> Self:
        """A gone page is there again. Its interval starts from the seed, as nobody knows how it lives now."""
        met = msgspec.structs.replace(
            self._kept(page),
            last_changed_at=at,
            unchanged_streak=0,
            check_interval=cadence.interval * cadence.weight,
        )
        return met._planned(at, cadence, limits, changed=None, outcome=Outcome.RETURNED)

    def observe_redefined(
        self, at: float, page: Page, cadence: Cadence | None = None, limits: Limits = UNBOUNDED
    ) -> Self:
        """The user changed what is extracted: a new baseline. Streak, interval and counts know nothing of it.

        ``cadence`` is given when a request led here, which has to be followed by the next one.
        """
        kept = self._kept(page)
        if cadence is None:
            return msgspec.structs.replace(kept, outcome=Outcome.REDEFINED)
        return kept._planned(at, cadence, limits, changed=None, outcome=Outcome.REDEFINED)

    def observe_missing(self, at: float, status: int, cadence: Cadence, limits: Limits = UNBOUNDED) -> Self:
        """404 or 410. Three 404s in a row over a day, or two 410s an hour apart, make the page ``gone``."""
        if self.status is Status.GONE:
            return self.observe_gone(at, status)
        missing, since = self.missing + 1, self.missing_since_at if self.missing else at
        lasted = at - (since or at)
        if (status == 410 and missing >= 2 and lasted >= HOUR) or (missing >= 3 and lasted >= DAY):
            return msgspec.structs.replace(self, missing=missing, missing_since_at=since).observe_gone(at, status)
        wait = HOUR if status == 410 else max(HOUR, 2 * self.check_interval)
        failure = Failure(kind="missing", message=f"The server says {status}: not there.")
        return msgspec.structs.replace(
            self,
            outcome=Outcome.ERROR,
            http_status=status,
            last_fetched_at=at,
            failure=failure,
            missing=missing,
            missing_since_at=since,
            next_check_at=_later(at + wait * (1 + limits.jitter), limits),
            reason=f"not there ({status}); asked again before it is called gone",
        )

    def observe_gone(self, at: float, status: int) -> Self:
        """The page no longer exists. It is probed after 7, 30 and 90 days, then left alone; ``last_seen`` stays."""
        since = self.gone_at if self.status is Status.GONE and self.gone_at is not None else at
        # A probe made late, or by hand, stands for all that were due by then.
        made = [probe for probe in PROBES if since + probe <= at]
        due = since + PROBES[len(made)] if len(made) < len(PROBES) else None
        return msgspec.structs.replace(
            self,
            status=Status.GONE,
            outcome=Outcome.GONE,
            http_status=status,
            last_fetched_at=at,
            gone_at=since,
            probes=len(made),
            failure=None,
            failures=0,
            failing_since_at=None,
            next_check_at=due,
            reason="gone; looked for again after 7, 30 and 90 days"
            if due is not None
            else "gone; check it by hand if it may be back",
        )

    def observe_error(
        self, at: float, failure: Failure, limits: Limits = UNBOUNDED, status: int = 0, sent: bool = True
    ) -> Self:
        """A failed check teaches the interval nothing; the k-th in a row waits max(D, min(24 h, 5 min x 2^(k-1)))."""
        failures = self.failures + 1
        since = self.failing_since_at if self.failing_since_at is not None else at
        back_off = min(DAY, 300.0 * 2 ** min(failures - 1, 16))
        wait = max(self.check_interval, back_off) * (1 + limits.jitter)
        failing = failures >= 3 or at - since >= DAY
        return msgspec.structs.replace(
            self,
            status=self._unless_gone(Status.FAILING if failing else self.status),
            outcome=Outcome.ERROR,
            http_status=status,
            last_fetched_at=at if sent else self.last_fetched_at,
            failure=failure,
            failures=failures,
            failing_since_at=since,
            next_check_at=_later(at + wait, limits),
            reason=f"backing off after {failures} failed check{'s' if failures > 1 else ''}",
        )

    def observe_blocked(
        self, at: float, failure: Failure, limits: Limits = UNBOUNDED, status: int = 0, sent: bool = True
    ) -> Self:
        """Refused: 401, 403, robots.txt. Asked again after 24 h, 48 h ... 7 days; 451 after 7 days. Never evaded."""
        again = self.status is Status.BLOCKED or self.outcome is Outcome.BLOCKED
        failures = self.failures + 1 if again else 1
        legal = failure.kind == "blocked:legal"
        steady = failure.kind.startswith("refused:") or failure.kind == "blocked:auth"
        wait = 7 * DAY if legal else DAY if steady else min(7 * DAY, DAY * 2 ** min(failures - 1, 8))
        due = at + max(wait, self.check_interval) * (1 + limits.jitter)
        if failure.kind == "refused:robots-unreachable" and limits.hold_until is not None:
            due = limits.hold_until
        since = self.failing_since_at if self.failing_since_at is not None else at
        return msgspec.structs.replace(
            self,
            status=self._unless_gone(Status.BLOCKED),
            outcome=Outcome.BLOCKED,
            http_status=status,
            last_fetched_at=at if sent else self.last_fetched_at,
            failure=failure,
            failures=failures,
            failing_since_at=since,
            next_check_at=_later(due, limits),
            reason=failure.message,
        )

    def observe_deferred(self, at: float, until: float, failure: Failure, status: int = 0, sent: bool = True) -> Self:
        """Told to wait until ``until``. Nothing is learned, nothing counts as failed; the next check comes later."""
        due = max(until, at + self.check_interval if sent else self.next_check_at or until)
        return msgspec.structs.replace(
            self,
            status=self._unless_gone(Status.DEFERRED),
            outcome=Outcome.DEFERRED,
            http_status=status if sent else self.http_status,
            last_fetched_at=at if sent else self.last_fetched_at,
            failure=failure,
            next_check_at=due,
            not_before_at=max(until, self.not_before_at),
            reason=failure.message,
        )

    def _kept(self, page: Page) -> Self:
        return msgspec.structs.replace(
            self,
            http_status=200,
            record=page.record,
            body=page.body,
            content_type=page.content_type,
            effective_url=page.effective_url,
            validators=page.validators,
        )

    def _planned(self, at: float, cadence: Cadence, limits: Limits, *, changed: bool | None, outcome: Outcome) -> Self:
        """Every success ends here: failures are forgotten, the page was seen, the policy says when to come back."""
        gap = None if self.last_seen is None else at - self.last_seen
        plan = schedule.plan(
            cadence,
            at=at,
            interval=self.check_interval,
            evidence=self.evidence,
            changed=changed if limits.teaches else None,
            gap=gap,
            modified_at=limits.modified_at,
            floor=limits.floor,
            first=outcome in (Outcome.FIRST, Outcome.RETURNED),
            jitter=limits.jitter,
            streak=self.unchanged_streak,
            around=limits.around,
        )
        due, reason = plan.due_at, plan.reason
        if limits.fresh_until is not None and limits.fresh_until > due:
            due, reason = limits.fresh_until, "the server calls this copy fresh until then"
        return msgspec.structs.replace(
            self,
            status=Status.OK,
            outcome=outcome,
            last_seen=at,
            last_fetched_at=at,
            check_interval=plan.interval,
            evidence=plan.evidence,
            next_check_at=_later(due, limits),
            not_before_at=0.0,
            reason=reason,
            failure=None,
            failures=0,
            failing_since_at=None,
            missing=0,
            missing_since_at=None,
            gone_at=None,
            probes=0,
        )

    def _unless_gone(self, status: Status) -> Status:
        return Status.GONE if self.status is Status.GONE else status


def _later(due: float, limits: Limits) -> float:
    return due if limits.hold_until is None else max(due, limits.hold_until)


class HostState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What we know of one host: how long it asked us to wait, its robots.txt, and what was learned about it.

    ``key`` is ``scheme://host:port``. ``robots_body`` is the hash of the stored robots.txt body. ``spent`` requests
    were made since ``window_at``, the beginning of the host's day; ``open_at`` is when a long crawl delay ends.
    """

    key: str
    not_before_at: float = 0.0
    not_before_reason: str = ""
    limited: int = 0
    failing: int = 0
    open_at: float = 0.0
    window_at: float = 0.0
    spent: int = 0
    robots_status: int | None = None
    robots_fetched_at: float | None = None
    robots_expires_at: float | None = None
    robots_body: str | None = None
    robots_failures: int = 0
    robots_validators: Validators = Validators()
    crawl_delay: float | None = None
    findings: tuple[Finding, ...] = ()
