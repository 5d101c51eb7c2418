"""From a visit to an observation: status class first, then 304, then the page: extracted, fingerprinted, compared."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass

import msgspec

from watcher.core.answer import meaning_of
from watcher.core.charset import Decoded, decode_text
from watcher.core.diff import changes_between
from watcher.core.exchange import Exchange, Response, Visit
from watcher.core.freshness import freshness, last_modified
from watcher.core.lessons import Learned, after_200, after_304, after_error
from watcher.core.model import Failure, Record, Status, Watch
from watcher.core.observation import Answer, Observation
from watcher.core.state import UNBOUNDED, Limits, Page, UrlState
from watcher.core.urls import parse_url
from watcher.core.validators import Conditions
from watcher.engine.tools import Tools
from watcher.extract import ExtractError, definition_of, extract_for

BIG = 200_000
"""Bytes. A larger body is extracted in a thread, so that a screen on this loop stays alive."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One check's material: what was known, what was really asked, what came back, and when it was all there."""

    watch: Watch
    before: UrlState
    conditions: Conditions
    key: str
    visit: Visit
    tools: Tools
    at: float
    suspect: bool = False


async def read(reading: Reading) -> Observation:
    """What the visit says about the watch. Only an accepted page carries a record; a failure touches nothing stored."""
    response = reading.visit.response
    if response is None:
        return _unanswered(reading)
    if response.status == 304:
        return _not_modified(reading, response)
    if response.status == 200:
        return await _page(reading, response)
    return _refused(reading, response)


def _unanswered(reading: Reading) -> Observation:
    visit = reading.visit
    failure = visit.failure or Failure(kind="internal", message="The visit ended without an answer.")
    learned = after_error(reading.before.validators, 0, conditions=reading.conditions)
    if failure.kind == "held":
        answer = Answer.DEFERRED
    elif failure.kind.startswith(("refused:", "blocked", "moved-suspect")):
        answer = Answer.BLOCKED
    else:
        answer = Answer.FAILED
    limits = Limits(jitter=reading.tools.jitter(), hold_until=visit.not_before_at)
    return _seen(reading, answer, learned, limits, failure=failure, until=visit.not_before_at or reading.at)


def _refused(reading: Reading, response: Response) -> Observation:
    wait = reading.visit.retry_after
    host = reading.tools.fetcher.hosts.get(parse_url(response.url).origin)
    meaning = meaning_of(
        response, conditional=reading.conditions.kind is not None, retry_after=wait, limited=max(0, host.limited - 1)
    )
    learned = after_error(reading.before.validators, response.status, conditions=reading.conditions)
    hold = None if wait is None else response.received_at + wait
    limits = Limits(jitter=reading.tools.jitter(), hold_until=hold)
    return _seen(reading, meaning.answer, learned, limits, failure=meaning.failure, until=meaning.until or reading.at)


def _not_modified(reading: Reading, response: Response) -> Observation:
    """304: the saved page stays and nothing is extracted, unless it answers a question we did not ask."""
    before = reading.before
    learned = after_304(before.validators, response, conditions=reading.conditions, has_body=before.record is not None)
    if learned.verdict == "without-body":
        sentence = "The server answers 304 to a request without conditions; the next one asks past every cache."
        failure = Failure(kind="broken:304-without-body", message=sentence)
        return _seen(reading, Answer.FAILED, learned, UNBOUNDED, failure=failure)
    limits = _limits(reading, response, teaches=learned.verdict == "same")
    return _seen(reading, Answer.NOT_MODIFIED, learned, limits)


async def _page(reading: Reading, response: Response) -> Observation:
    """200: the page, its validators and its record replace the stored ones together, or none of them does."""
    watch, before = reading.watch, reading.before
    if not response.body and before.record is not None and not _was_empty(before):
        return _broken(reading, "broken:empty", "The server sent an empty page; a second one in a row is believed.")
    digest = hashlib.sha256(response.body).hexdigest()
    content_type = _content_type(response)
    same_bytes = None if before.record is None else digest == before.body
    try:
        if same_bytes and content_type == before.content_type and _defined_alike(watch, before.record):
            record, read_as = before.record, None
        else:
            read_as = _charset(watch, response, content_type)
            record = await extracted(watch, response.body, content_type, response.url, before.volatile)
    except ExtractError as error:
        return _broken(reading, error.kind, str(error))
    assert record is not None
    answer = _compared(reading, record)
    fresh = freshness(response)
    learned = after_200(
        before.validators,
        response,
        same_bytes=same_bytes,
        same_record=None if before.record is None else record.fingerprint == before.fingerprint,
        conditions=reading.conditions,
        now=reading.at,
        key=reading.key,
        counts=not fresh.excused,
    )
    page = Page(
        record=record,
        body=digest if same_bytes else await reading.tools.keep_body(response.body, before.body),
        content_type=content_type,
        effective_url=response.url,
        validators=learned.validators,
    )
    changes = changes_between(before.record, record) if before.record and answer is Answer.CHANGED else ()
    seen = _seen(reading, answer, learned, _limits(reading, response, teaches=True), read_as=read_as)
    return msgspec.structs.replace(seen, page=page, changes=changes)


async def extracted(watch: Watch, body: bytes, content_type: str | None, url: str, volatile: tuple[str, ...]) -> Record:
    """The record of a body; off the loop where that may take long. Raises ExtractError."""

    def extract() -> Record:
        return extract_for(watch, body, content_type=content_type, url=url, volatile=volatile)

    return await asyncio.to_thread(extract) if len(body) > BIG else extract()


def _compared(reading: Reading, record: Record) -> Answer:
    before = reading.before
    if before.record is None:
        return Answer.FIRST
    if before.record.definition != record.definition or reading.suspect:
        return Answer.REDEFINED
    if before.status is Status.GONE:
        return Answer.RETURNED
    return Answer.UNCHANGED if record.fingerprint == before.fingerprint else Answer.CHANGED


def _defined_alike(watch: Watch, record: Record | None) -> bool:
    return record is not None and record.definition == definition_of(watch)


def _was_empty(before: UrlState) -> bool:
    return before.failure is not None and before.failure.kind == "broken:empty"


def _broken(reading: Reading, kind: str, message: str) -> Observation:
    """A page that cannot be read: what is stored stays, its validators too, so that no 304 hides the trouble."""
    failure = Failure(kind=kind, message=message)
    limits = Limits(jitter=reading.tools.jitter())
    return _seen(reading, Answer.FAILED, None, limits, failure=failure)


def _limits(reading: Reading, response: Response, *, teaches: bool) -> Limits:
    stored = reading.before.validators.max_age if response.status == 304 else None
    fresh, watch = freshness(response, stored), reading.watch
    honoured = not watch.request.ignore_freshness
    return Limits(
        floor=reading.tools.floor(watch.url),
        jitter=reading.tools.jitter(),
        fresh_until=fresh.until(response.received_at) if honoured else None,
        modified_at=last_modified(response),
        teaches=teaches and not fresh.excused,
    )


def _content_type(response: Response) -> str | None:
    line = response.header(b"content-type")
    return None if line is None else line.decode("latin-1")


def _seen(
    reading: Reading,
    answer: Answer,
    learned: Learned | None,
    limits: Limits,
    *,
    failure: Failure | None = None,
    until: float = 0.0,
    read_as: Decoded | None = None,
) -> Observation:
    visit, response = reading.visit, reading.visit.response
    return Observation(
        at=reading.at,
        answer=answer,
        status=response.status if response else 0,
        validators=learned.validators if learned else None,
        failure=failure,
        until=until,
        limits=limits,
        sent=visit.sent,
        conditional=reading.conditions.kind,
        exchanges=_audited(reading, learned, read_as),
        flags=learned.flags if learned else (),
        findings=learned.findings if learned else (),
        moved=reading.before.moved,
        bytes_wire=sum(exchange.bytes_wire for exchange in visit.exchanges),
        bytes_body=len(response.body) if response else 0,
    )


def _audited(reading: Reading, learned: Learned | None, read_as: Decoded | None) -> tuple[Exchange, ...]:
    """The visit's exchanges; what only the reading knows is written to the last one, which brought the answer."""
    exchanges = reading.visit.exchanges
    known, trust = reading.before.validators.trust, None
    if learned is not None and learned.validators.trust is not known:
        trust = f"{known} > {learned.validators.trust}"
    if not exchanges or not (trust or read_as):
        return exchanges
    charset, charset_from = (read_as.charset, read_as.origin) if read_as else (None, None)
    last = msgspec.structs.replace(exchanges[-1], charset=charset, charset_from=charset_from, trust=trust)
    return (*exchanges[:-1], last)


def _charset(watch: Watch, response: Response, content_type: str | None) -> Decoded | None:
    """What the text of a page is read as and why, for the audit trail; None for what is no text."""
    kind = (content_type or "text/html").lower()
    if not any(word in kind for word in ("text/", "html", "xml", "json")):
        return None
    return decode_text(response.body[:BIG], content_type, watch.request.encoding, is_json="json" in kind)
