"""One incremental fetch, from the watch that is due to the event that tells of it."""

from __future__ import annotations

import msgspec

from watcher.core.exchange import RequestPlan, Visit
from watcher.core.history import VERSIONS
from watcher.core.model import Detect, Failure, Status, Watch
from watcher.core.news import News, news_of
from watcher.core.observation import OWN, Answer, Observation, journaled, observe
from watcher.core.state import Limits, UrlState
from watcher.core.validators import NOTHING, Conditions, plan_conditions, request_key
from watcher.engine.events import Checked
from watcher.engine.moving import destination, moving
from watcher.engine.reading import Reading, read
from watcher.engine.redefine import as_baseline, redefined
from watcher.engine.settle import flapping, settled
from watcher.engine.tools import Tools
from watcher.engine.wanted import wanted
from watcher.extract import definition_of
from watcher.store import Entry


async def check(
    watch: Watch, before: UrlState, tools: Tools, *, force: bool = False, re_extract: bool = False
) -> Checked:
    """Ask for the page of ``watch`` once and learn from the answer; told when it is on disk.

    ``before`` is what is known of it; ``force`` asks without conditions; ``re_extract`` reads the page anew
    whatever the answer, as a new baseline. Raises StoreError.
    """
    before = await redefined(watch, before, tools)
    conditions, key = _conditions(watch, before, tools, force)
    visit = await _visit(watch, before, conditions, tools)
    reading = _reading(watch, before, conditions, key, visit, tools)
    seen = await settled(reading, await read(reading))
    if re_extract:
        seen = await as_baseline(reading, seen)
    seen = msgspec.structs.replace(seen, moved=moving(before.moved, watch, visit, seen.at))
    return await _told(watch, before, seen, tools)


async def mishap(watch: Watch, before: UrlState, tools: Tools, error: Exception) -> Checked:
    """An unforeseen ``error`` as one failed check of one watch."""
    sentence = f"The check ended in an unforeseen {type(error).__name__}; the log has the details."
    failure = Failure(kind="internal", message=sentence)
    limits = Limits(jitter=tools.jitter())
    seen = Observation(at=tools.clock.now(), answer=Answer.FAILED, failure=failure, limits=limits, moved=before.moved)
    return await _told(watch, before, seen, tools)


def _conditions(watch: Watch, before: UrlState, tools: Tools, force: bool) -> tuple[Conditions, str]:
    """What to send. Without the record and body behind it no validator goes out, nor with a POST (rules 3 and 9)."""
    key = request_key(watch.request, definition_of(watch), watch.detect)
    if not watch.request.conditional or watch.request.method != "GET" or tools.store.is_suspect(watch.name):
        return NOTHING, key
    has_body = before.record is not None and before.body is not None and tools.store.has_body(before.body)
    conditions = plan_conditions(
        before.validators,
        key=key,
        now=tools.clock.now(),
        has_body=has_body and before.url == watch.url,
        force=force or before.gone_at is not None,
        detect=watch.detect,
    )
    return conditions, key


async def _visit(watch: Watch, before: UrlState, conditions: Conditions, tools: Tools) -> Visit:
    plan = RequestPlan(
        url=destination(watch, before.moved, tools.clock.now()),
        command=watch.command,
        conditions=conditions.headers,
        conditions_for=conditions.for_url,
        conditional=conditions.kind,
        no_cache=conditions.no_cache,
        identity=watch.detect is Detect.BYTES,
    )
    return await tools.visit(plan, watch, has_record=before.record is not None)


def _reading(watch: Watch, before: UrlState, conditions: Conditions, key: str, visit: Visit, tools: Tools) -> Reading:
    carried = conditions if visit.conditional == conditions.kind else NOTHING
    return Reading(
        watch=watch,
        before=msgspec.structs.replace(before, url=watch.url),
        conditions=carried,
        key=key,
        visit=visit,
        tools=tools,
        at=tools.clock.now(),
        suspect=tools.store.is_suspect(watch.name) or before.url != watch.url,
    )


async def _told(watch: Watch, before: UrlState, seen: Observation, tools: Tools) -> Checked:
    """The last steps of every check: the next state, its line in the journal, and only then the event."""
    seen = flapping(watch, before, seen, tools.store)
    after = observe(before, seen, watch.cadence)
    news, after = news_of(before, after, seen.at)
    after = msgspec.structs.replace(after, url=watch.url)
    if news is News.CHANGED and not wanted(watch, before, after, tools.store):
        news = None
    record = journaled(before, after, seen, watch.cadence)
    tools.learn(after.effective_url or watch.url, [found for found in seen.findings if found.kind not in OWN])
    hosts = tuple(tools.fetcher.hosts.take_dirty())
    version = after.outcome in VERSIONS and not (before.status is after.status is Status.GONE)
    entry = Entry(state=after, check=record, hosts=hosts, version=version, retention=watch.retention)
    await tools.store.commit(entry)
    message = after.failure.message if after.failure else ""
    return Checked(check=record, news=news, changes=seen.changes, message=message)
