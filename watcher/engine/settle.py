"""Noise nobody foresaw: the first page of a smart watch is fetched twice, and what differs at once is no news."""

from __future__ import annotations

import msgspec

from watcher.core.exchange import RequestPlan
from watcher.core.model import Detect, Watch
from watcher.core.observation import Answer, Observation
from watcher.core.state import Page
from watcher.engine.reading import Reading, extracted
from watcher.extract import ExtractError, volatile_blocks


async def settled(reading: Reading, seen: Observation) -> Observation:
    """``seen``, and for a first smart record without usable validators, what a second plain GET tells of its noise.

    The second request waits for the host's gap and counts in its budget. Blocks that differ between the two
    are volatile: left out of the record from now on, and shown to the user as such. A second answer that is
    not a readable page tells nothing.
    """
    page = seen.page
    if seen.answer is not Answer.FIRST or page is None or not _is_smart(reading.watch):
        return seen
    if page.validators.etag or page.validators.last_modified:
        return seen
    visit = await reading.tools.visit(RequestPlan(url=page.effective_url), reading.watch, has_record=True)
    exchanges = seen.exchanges + tuple(msgspec.structs.replace(e, purpose="probe") for e in visit.exchanges)
    wire = seen.bytes_wire + sum(e.bytes_wire for e in visit.exchanges)
    seen = msgspec.structs.replace(seen, exchanges=exchanges, bytes_wire=wire, at=reading.tools.clock.now())
    response = visit.response
    if response is None or response.status != 200:
        return seen
    try:
        second = await extracted(reading.watch, response.body, page.content_type, response.url, ())
        volatile = volatile_blocks(page.record, second)
        if not volatile:
            return seen
        return msgspec.structs.replace(seen, page=await _without(reading, page, volatile), volatile=volatile)
    except ExtractError:
        return seen


async def _without(reading: Reading, page: Page, volatile: tuple[str, ...]) -> Page:
    """``page`` with the record that leaves ``volatile`` blocks out, read from the body that is saved."""
    body = reading.visit.response.body if reading.visit.response else b""
    record = await extracted(reading.watch, body, page.content_type, page.effective_url, volatile)
    return msgspec.structs.replace(page, record=record)


def _is_smart(watch: Watch) -> bool:
    return not watch.fields and watch.detect is Detect.FIELDS and not watch.command and watch.url.startswith("http")
