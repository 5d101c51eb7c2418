"""Where a case and our contract disagree, the contract wins: each disagreement as a rule, with its source.

The rules are applied before anything is compared and say what must happen *instead*, so a step that is overruled is
checked as strictly as any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.replay.told import ANY, Told
from tests.support.wire import Spec, body_of

HOUR, DAY = 3_600.0, 86_400.0

MISSING = "CONDUCT, table of statuses: 404 is `missing` until three in a row over 24 h, 410 until a second 1 h later"
RETURNED = "DESIGN, outcomes: a 200 after `gone` is `returned`"
UNREACHABLE = "CONDUCT, preface and rule 32: robots.txt unreachable is refused:*, which is `blocked`"
HOST_HOLD = "CONDUCT rule 27: Retry-After of a 503 holds the host, not the watch"
NO_COOKIES = "CONDUCT rule 39: no cookie jar; rule 23: a redirect to itself is a cycle"
TAG_LIST = "CONDUCT rule 14: after another tag on the same bytes, every tag seen with them is listed"
REDEFINED = "DESIGN, outcomes: edited fields make a new baseline from the saved page (`redefined`), not a first one"


@dataclass
class Story:
    """What the watch's own URL answered so far: enough to know which rule of the contract applies next."""

    missing: int = 0
    missing_since: float = 0.0
    gone: bool = False
    tags: list[str] = field(default_factory=list)
    body: bytes | None = None
    modified: str | None = None
    churned: int = 0

    def heard(self, spec: Spec, at: float, conditional: bool) -> None:
        """Take note of one answer."""
        status = int(spec.get("status", 200))
        if status in (404, 410):
            self.missing, since = self.missing + 1, self.missing_since if self.missing else at
            self.missing_since = since
            lasted = at - since
            twice = status == 410 and self.missing >= 2 and lasted >= HOUR
            self.gone = self.gone or twice or (self.missing >= 3 and lasted >= DAY)
        elif status in (200, 304):
            self.missing, self.gone = 0, False
        if status == 200:
            self._page(spec, conditional)
        elif status == 304:
            self.churned = 0

    def _page(self, spec: Spec, conditional: bool) -> None:
        headers = {name.lower(): value for name, value in spec.get("headers", {}).items()}
        tag, body = headers.get("etag"), body_of(spec, {}, 0.0)
        if body == self.body and isinstance(tag, str) and self.tags and conditional and tag not in self.tags:
            self.tags = [tag, *self.tags][:4]
            self.churned += 1
        else:
            self.tags, self.churned = [tag] if isinstance(tag, str) and tag else [], 0
        self.body, self.modified = body, headers.get("last-modified")


def apply(told: Told, step: dict[str, Any], story: Story, before: Story) -> None:
    """Replace in ``told`` what the contract decides otherwise; ``before`` is the story up to this step."""
    if _cookie_wall(step):
        told.overrule(NO_COOKIES, outcomes=["error"], events=None, record=None, requests={"min": 1, "max": 2})
        return
    for rule, instead in _rules(told, step, story, before):
        told.overrule(rule, **instead)


def _rules(told: Told, step: dict[str, Any], story: Story, before: Story) -> Iterator[tuple[str, dict[str, Any]]]:
    outcomes = told.outcomes or []
    if "gone" in outcomes and not story.gone:
        yield MISSING, {"outcomes": ["error"], "events": ["none"]}
    elif "gone" in outcomes and not before.gone and told.events == ["none"]:
        yield MISSING, {"events": ["gone"]}
    if before.missing and not before.gone and told.events == ["back"]:
        yield MISSING, {"events": ["none"]}
    if before.gone and not story.gone and "returned" not in outcomes:
        yield RETURNED, {"outcomes": ["returned"], "events": ["back"]}
    robots = step.get("responses", {}).get("/robots.txt", {}).get("status", 200)
    if "deferred" in outcomes and (robots >= 500 or robots == 429):
        yield UNREACHABLE, {"outcomes": [*outcomes, "blocked"]}
    if "config_change" in step and "first" in outcomes:
        yield REDEFINED, {"outcomes": ["redefined", "unchanged"], "events": ["none"]}
    yield from _validators(told, before)


def _validators(told: Told, before: Story) -> Iterator[tuple[str, dict[str, Any]]]:
    expected = told.headers.get("If-None-Match")
    if not expected or expected == [None]:
        return
    if before.churned == 1 or (before.churned == 2 and before.modified is None):
        yield TAG_LIST, {"headers": {**told.headers, "If-None-Match": [", ".join(before.tags)]}}
    elif before.churned == 2:
        yield TAG_LIST, {"headers": {"If-None-Match": [None], "If-Modified-Since": [before.modified]}}
    elif before.churned >= 3:
        yield TAG_LIST, {"headers": {**told.headers, "If-None-Match": [None]}}


def _cookie_wall(step: dict[str, Any]) -> bool:
    """Whether the page redirects to itself until a cookie given on the way comes back."""
    answers = step.get("responses", {}).get("seq", [])
    return any({"Set-Cookie", "Location"} <= set(answer.get("headers", {})) for answer in answers)


def apply_other(told: Told, step: dict[str, Any], overruled: list[str]) -> None:
    """The same for another watch of the same host: a hold of the host is a hold of every watch on it."""
    answers = [spec for spec in step.get("responses", {}).values() if "Retry-After" in spec.get("headers", {})]
    if any(answer.get("status") == 503 for answer in answers) and told.outcomes != ["no_request"]:
        told.overrule(HOST_HOLD, outcomes=None, record=ANY, requests=0)
        if HOST_HOLD not in overruled:
            overruled.append(HOST_HOLD)
