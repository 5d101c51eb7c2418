"""States, pages and observations for the tests of what a check does to a watch."""

from __future__ import annotations

from typing import Any

import msgspec

from watcher.core.exchange import Exchange
from watcher.core.model import Cadence, Failure, Record
from watcher.core.observation import Answer, Observation, observe
from watcher.core.state import Page, UrlState
from watcher.core.validators import Validators

HOUR = 3_600.0
DAY = 86_400.0
AT = 1_767_607_200.0
"""2026-01-05 10:00:00 UTC."""

CADENCE = Cadence()
"""Adaptive: from one day, between one hour and three days."""

WITH_PAGE = (Answer.FIRST, Answer.UNCHANGED, Answer.CHANGED, Answer.RETURNED, Answer.REDEFINED)
TROUBLES = (Answer.MISSING, Answer.BLOCKED, Answer.DEFERRED, Answer.FAILED)


def page(text: str = "one", definition: str = "d1") -> Page:
    return Page(
        record=Record(values={"title": text}, fingerprint=f"1:{text}", definition=definition),
        body=f"body of {text}",
        content_type="text/html",
        effective_url="https://a.example/",
        validators=Validators(etag=f'"{text}"'),
    )


def fresh(cadence: Cadence = CADENCE) -> UrlState:
    return UrlState.new("Lamp", "https://a.example/", cadence, AT)


def known(cadence: Cadence = CADENCE, **more: Any) -> UrlState:
    """A watch whose page was read once, at :data:`AT`."""
    return msgspec.structs.replace(fresh(cadence).observe_first(AT, cadence, page()), **more)


def failure(kind: str = "transient") -> Failure:
    return Failure(kind=kind, message=f"It is {kind}.")


def seen(answer: Answer, at: float, *, text: str = "one", kind: str = "transient", **more: Any) -> Observation:
    """An answer as the reading of a visit makes it, with what such an answer carries."""
    given: dict[str, Any] = {"answer": answer, "at": at}
    if answer in WITH_PAGE:
        given |= {"status": 200, "page": page(text), "exchanges": (EXCHANGE,)}
    elif answer is Answer.NOT_MODIFIED:
        given |= {"status": 304}
    elif answer is Answer.MISSING:
        given |= {"status": 404, "failure": failure("missing")}
    else:
        given |= {"status": 500, "failure": failure(kind)}
    return Observation(**{**given, **more})


def after(state: UrlState, *steps: Observation, cadence: Cadence = CADENCE) -> UrlState:
    """``state`` after these observations, one upon the other."""
    for step in steps:
        state = observe(state, step, cadence)
    return state


EXCHANGE = Exchange(at=AT, purpose="page", method="GET", url="https://a.example/")
