"""What deserves a person's attention: a change, and each move between the lasting states, told once."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from watcher.core.model import Outcome, Status
from watcher.core.phrase import DAY
from watcher.core.state import UrlState


class News(StrEnum):
    """The kinds of news. Everything else is only counted."""

    FIRST = "first"
    CHANGED = "changed"
    GONE = "gone"
    RETURNED = "returned"
    FAILING = "failing"
    BLOCKED = "blocked"
    RECOVERED = "recovered"


SAYINGS = {
    News.FIRST: "was looked at for the first time",
    News.CHANGED: "changed",
    News.GONE: "is gone",
    News.RETURNED: "is there again",
    News.FAILING: "is failing",
    News.BLOCKED: "refuses us",
    News.RECOVERED: "works again",
}
"""What each kind says of a watch, after its name."""

SHOWN_AT_ONCE = ("tls", "blocked:auth")
"""Failures a person has to act on, so the third one is not waited for (CONDUCT, table of statuses)."""


def news_of(before: UrlState, after: UrlState, at: float) -> tuple[News | None, UrlState]:
    """The news in moving from ``before`` to ``after`` ``at`` an instant, and ``after`` with what was announced noted.

    A trouble is announced when it becomes the state (failing after 3 checks or 24 h) and its end once;
    the repeats in between are silent. A page that is gone has no troubles.
    """
    trouble = "" if after.status is Status.GONE else _trouble(after, at)
    over = after.failure is None or after.status is Status.GONE
    news: News | None = None
    if after.outcome is Outcome.GONE:
        news = News.GONE if before.status is not Status.GONE else None
    elif after.outcome in (Outcome.CHANGED, Outcome.RETURNED):
        news = News(after.outcome.value)
    elif trouble and trouble != before.announced:
        news = News(trouble)
    elif before.announced and over:
        news = News.RECOVERED
    elif after.outcome is Outcome.FIRST:
        news = News.FIRST
    return news, msgspec.structs.replace(after, announced="" if over else trouble or before.announced)


def _trouble(after: UrlState, at: float) -> str:
    """What the state would be told as: at once where a person has to act, else after three checks or a day."""
    at_once = after.failure is not None and after.failure.kind in SHOWN_AT_ONCE
    lasted = after.failing_since_at is not None and at - after.failing_since_at >= DAY
    if after.outcome is Outcome.BLOCKED and (at_once or lasted or after.failures >= 3):
        return News.BLOCKED.value
    if after.outcome is Outcome.ERROR and (at_once or after.status is Status.FAILING):
        return News.FAILING.value
    return ""
