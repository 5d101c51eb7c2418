"""What we know of one watch, and how each outcome moves it. Time comes in as an argument; nothing is mutated."""

from __future__ import annotations

from typing import Self

import msgspec

from watcher.core.model import Cadence, Failure, Finding, Outcome, Record, Status
from watcher.core.schedule import Evidence
from watcher.core.validators import Validators

HOUR = 3_600.0
DAY = 86_400.0


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
    volatile: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    paused: bool = False
    seen_at: float | None = None

    @classmethod
    def new(cls, name: str, url: str, cadence: Cadence, at: float) -> Self:
        """A watch never fetched, due at once; its interval is the seed of its page type."""
        return cls(name=name, url=url, check_interval=cadence.interval * cadence.weight, next_check_at=at)


class HostState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What we know of one host: how long it asked us to wait, its robots.txt, and what was learned about it.

    ``key`` is ``scheme://host:port``. ``robots_body`` is the hash of the stored robots.txt body.
    """

    key: str
    not_before_at: float = 0.0
    not_before_reason: str = ""
    limited: int = 0
    failing: int = 0
    robots_status: int | None = None
    robots_fetched_at: float | None = None
    robots_expires_at: float | None = None
    robots_body: str | None = None
    robots_failures: int = 0
    robots_validators: Validators = Validators()
    crawl_delay: float | None = None
    findings: tuple[Finding, ...] = ()
