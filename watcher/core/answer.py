"""Status class before content: what an answer other than a usable 200 or 304 means (CONDUCT, table of statuses)."""

from __future__ import annotations

import msgspec

from watcher.core.exchange import Response
from watcher.core.model import Failure
from watcher.core.observation import Answer
from watcher.core.phrase import DAY, HOUR

TRANSIENT = frozenset({408, 425})
REFUSES_CONDITIONS = frozenset({400, 412, 417, 431})
"""Statuses that, in answer to a conditional request, may speak of the condition and not of the page (rule 17)."""


class Meaning(msgspec.Struct, frozen=True):
    """How an answer is to be observed, and the sentence that says so. ``until`` is set for :attr:`Answer.DEFERRED`."""

    answer: Answer
    failure: Failure
    until: float | None = None


def meaning_of(response: Response, *, conditional: bool, retry_after: float | None, limited: int = 0) -> Meaning:
    """What a response that is neither an acceptable 200 nor a 304 says about the watch.

    ``retry_after`` is in seconds from receipt; ``limited`` counts the 429s of the host in a row, for the
    wait where the server names none (1 h doubling to 24 h).
    """
    status = response.status
    if status in (404, 410):
        return _because(Answer.MISSING, "missing", f"The server says {status}: not there.")
    if status == 429 or (status == 503 and retry_after is not None):
        wait = retry_after if retry_after is not None else min(DAY, HOUR * 2 ** min(limited, 8))
        why = "limits our requests" if status == 429 else "is unavailable"
        failure = Failure(kind="limited", message=f"The host {why} ({status}) and asks to wait {spoken(wait)}.")
        return Meaning(Answer.DEFERRED, failure, response.received_at + wait)
    if conditional and status in REFUSES_CONDITIONS:
        sentence = f"The server answers {status} to a conditional request; the next one goes without conditions."
        return _because(Answer.FAILED, "transient:conditional", sentence)
    if 200 <= status < 300:
        return _because(Answer.FAILED, f"broken:{status}", _odd_success(status))
    if 300 <= status < 400:
        return _because(Answer.FAILED, "broken:redirect", f"The server answers {status} without a usable Location.")
    if status in TRANSIENT or 500 <= status < 600:
        return _because(Answer.FAILED, "transient", f"The server answers {status}; it may be better next time.")
    return _refusal(response)


def _refusal(response: Response) -> Meaning:
    status = response.status
    if status in (401, 407):
        return _because(Answer.BLOCKED, "blocked:auth", f"The server wants a login ({status}): set auth on this watch.")
    if status == 451:
        return _because(Answer.BLOCKED, "blocked:legal", "The page is withheld for legal reasons (451).")
    if response.header(b"cf-mitigated") == b"challenge":
        return _because(Answer.BLOCKED, "blocked:challenge", f"The host answers with a browser challenge ({status}).")
    return _because(Answer.BLOCKED, "blocked", f"The server refuses ({status}).")


def _odd_success(status: int) -> str:
    if status == 206:
        return "The server sent a part of the page (206), which is not compared."
    if status in (204, 205):
        return f"The server sent no page ({status})."
    return f"The server answers {status}, which is not a page to compare."


def _because(answer: Answer, kind: str, message: str) -> Meaning:
    return Meaning(answer, Failure(kind=kind, message=message))


def spoken(seconds: float) -> str:
    """A duration as people say it: ``45 s``, ``15 min``, ``6 h``, ``3 d``; one unit, rounded."""
    for size, unit in ((DAY, "d"), (HOUR, "h"), (60.0, "min")):
        if seconds >= size:
            number = f"{seconds / size:.1f}".removesuffix(".0")
            return f"{number} {unit}"
    return f"{seconds:.0f} s"
