"""Edited fields: the saved page is read again at once, so that an edit is never mistaken for a change."""

from __future__ import annotations

import msgspec

from watcher.core.model import Watch
from watcher.core.news import news_of
from watcher.core.observation import Answer, Observation, journaled, observe
from watcher.core.state import Page, UrlState
from watcher.core.validators import Validators
from watcher.engine.events import Checked
from watcher.engine.reading import Reading, extracted
from watcher.engine.tools import Tools
from watcher.extract import ExtractError, definition_of
from watcher.store import Entry


def is_redefined(watch: Watch, state: UrlState | None) -> bool:
    """Whether the stored record was made by other field definitions or rules than ``watch`` has now."""
    return state is not None and state.record is not None and state.record.definition != definition_of(watch)


async def redefined(watch: Watch, before: UrlState, tools: Tools) -> UrlState:
    """``before`` with a record of the current definitions, made from the saved page and already on disk.

    Unchanged where nothing was edited, or where the saved page cannot give the new fields: then the next
    fetch sets the baseline. Validators go in either case: a 304 must not hide an edit.
    """
    if not is_redefined(watch, before):
        return before
    page = await reread(watch, before, tools)
    if page is None:
        return before
    after, told = await silently(watch, before, page, tools)
    tools.tell(told)
    return after


async def as_baseline(reading: Reading, seen: Observation) -> Observation:
    """``seen`` as a re-extraction run has it: the page read anew, by a 304 the saved one, and compared with nothing."""
    page = seen.page
    if seen.answer is Answer.NOT_MODIFIED:
        page = await reread(reading.watch, reading.before, reading.tools)
        if page is not None and seen.validators is not None:
            page = msgspec.structs.replace(page, validators=seen.validators)
    if page is None or seen.answer is Answer.FIRST:
        return seen
    flags = (*seen.flags, "re_extract")
    return msgspec.structs.replace(seen, answer=Answer.REDEFINED, page=page, changes=(), flags=flags)


async def reread(watch: Watch, state: UrlState, tools: Tools) -> Page | None:
    """The page that ``state`` has saved, read by today's definitions; None where it is gone or cannot be read so."""
    body = tools.store.body(state.body) if state.body else None
    if body is None:
        return None
    url = state.effective_url or state.url
    try:
        record = await extracted(watch, body, state.content_type, url, state.volatile)
    except ExtractError:
        return None
    return Page(
        record=record,
        body=state.body,
        content_type=state.content_type,
        effective_url=url,
        validators=Validators(trust=state.validators.trust, off_until_at=state.validators.off_until_at),
    )


async def silently(watch: Watch, before: UrlState, page: Page, tools: Tools) -> tuple[UrlState, Checked]:
    """Write a record that no request led to: a row of history, counted in no number, announced to nobody."""
    seen = Observation(at=tools.clock.now(), answer=Answer.REDEFINED, page=page, moved=before.moved)
    after = observe(before, seen, watch.cadence)
    _, after = news_of(before, after, seen.at)
    record = journaled(before, after, seen, watch.cadence)
    await tools.store.commit(Entry(state=after, check=record, version=True, retention=watch.retention))
    return after, Checked(check=record)
