"""Noise nobody foresaw: the first page of a smart watch is fetched twice, and what differs at once is no news.

What goes back and forth later is offered to the user, and stays.
"""

from __future__ import annotations

import json

import msgspec

from watcher.core.exchange import Exchange, RequestPlan
from watcher.core.model import Detect, FieldType, Finding, Watch
from watcher.core.observation import FLAPPING, VOLATILE, Answer, Observation
from watcher.core.phrase import DAY
from watcher.core.state import Page, UrlState
from watcher.engine.moving import destination
from watcher.engine.reading import Reading, extracted
from watcher.extract import BEGINS, ExtractError, Flapping, Volatile, find_flapping, find_volatile
from watcher.store import Store

LOOKED_BACK = 12
"""Versions within which a place has to go back and forth."""
OFFERED_FOR = 30 * DAY
"""How long an offer stands after the last time it would have helped."""
SHOWN = 60
"""Characters of a text that is shown or offered for the configuration."""


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
    tools = reading.tools
    url = destination(reading.watch, reading.before.moved, tools.clock.now())
    visit = await tools.visit(RequestPlan(url=url), reading.watch, has_record=True)
    exchanges = seen.exchanges + tuple(map(_probing, visit.exchanges))
    wire = seen.bytes_wire + sum(e.bytes_wire for e in visit.exchanges)
    seen = msgspec.structs.replace(seen, exchanges=exchanges, bytes_wire=wire, at=tools.clock.now())
    response = visit.response
    if response is None or response.status != 200:
        return seen
    try:
        second = await extracted(reading.watch, response.body, page.content_type, response.url, ())
        places = find_volatile(page.record, second)
        if not places:
            return seen
        keys = tuple(place.key for place in places)
        page = await _without(reading, page, keys)
    except ExtractError:
        return seen
    findings = (*seen.findings, _left_out(places, seen.at))
    return msgspec.structs.replace(seen, page=page, volatile=keys, findings=findings)


def _probing(exchange: Exchange) -> Exchange:
    return exchange if exchange.purpose == "robots" else msgspec.structs.replace(exchange, purpose="probe")


async def _without(reading: Reading, page: Page, volatile: tuple[str, ...]) -> Page:
    """``page`` with the record that leaves ``volatile`` blocks out, read from the body that is saved."""
    body = reading.visit.response.body if reading.visit.response else b""
    record = await extracted(reading.watch, body, page.content_type, page.effective_url, volatile)
    return msgspec.structs.replace(page, record=record)


def _is_smart(watch: Watch) -> bool:
    """Whether the record of ``watch`` is one that noise is to be kept out of, and its page one to ask for twice."""
    plain = not watch.fields and watch.detect is Detect.FIELDS and VOLATILE not in watch.disabled_rules
    asked = not watch.command and watch.url.startswith("http") and watch.request.method == "GET"
    return plain and asked


def _left_out(places: tuple[Volatile, ...], at: float) -> Finding:
    shown = "; ".join(f"`{_short(place.text)}`" for place in places)
    return Finding(
        kind=VOLATILE,
        since_at=at,
        reason=f'left out, as it differs at every fetch: {shown}; disabled_rules = ["{VOLATILE}"] keeps it',
    )


def flapping(watch: Watch, before: UrlState, seen: Observation, store: Store) -> Observation:
    """``seen``, and for a change, the places that go back and forth in the history: a finding that offers to hide them.

    Versions before the fields were last edited are not looked at.
    """
    if seen.answer is not Answer.CHANGED or seen.page is None or before.record is None:
        return seen
    records = [seen.page.record]
    for version in store.history(watch.name, limit=LOOKED_BACK):
        if version.record is None or version.record.definition != records[0].definition:
            break
        records.append(version.record)
    names = [field.name for field in watch.fields if field.type is FieldType.CONTENT] if watch.fields else ["content"]
    found = [place for name in names for place in find_flapping(records[::-1], name)]
    if not found:
        return seen
    return msgspec.structs.replace(seen, findings=(*seen.findings, _offered(watch, found, seen.at)))


def _offered(watch: Watch, places: list[Flapping], at: float) -> Finding:
    texts = dict.fromkeys(text for place in places for text in (*place.one, *place.other))
    ignore = [*watch.ignore, *map(_short, texts)]
    turns = "; ".join(f"{_turn(place.one)} and {_turn(place.other)}" for place in places)
    line = f"ignore = {json.dumps(ignore, ensure_ascii=False)}"
    return Finding(
        kind=FLAPPING,
        since_at=at,
        until_at=at + OFFERED_FOR,
        reason=f"it goes back and forth between {turns}; to hide that, add to this watch: {line}",
    )


def _turn(blocks: tuple[str, ...]) -> str:
    return f"`{_short(' / '.join(blocks))}`" if blocks else "nothing"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 1].rstrip() + BEGINS
