"""Pages as states: what the store's bench writes."""

from __future__ import annotations

import random

import msgspec

from watcher.core.history import Check
from watcher.core.model import Outcome, Record, Status
from watcher.core.state import UrlState
from watcher.core.validators import Validators

T0 = 1_767_607_200.0
WORDS = ("alpha", "beta", "gamma", "delta", "price", "stock", "update", "release", "hotel", "ticket", "grant", "court")


def name_of(i: int, named: bool) -> tuple[str, str]:
    url = f"https://www.site{i % 5000}.example/{WORDS[i % 12]}/{WORDS[i % 11]}-{i}?ref={i * 7919 % 99991}"
    return (f"{WORDS[i % 11].title()} {WORDS[i % 7]} number {i}" if named else url), url


def page(i: int, named: bool, rnd: random.Random, at: float = T0) -> UrlState:
    name, url = name_of(i, named)
    title = " ".join(rnd.choice(WORDS) for _ in range(6)).title()
    values = {"title": title, "price": {"minor": rnd.randrange(100, 999999), "currency": "EUR"}, "stock": "InStock"}
    etag, modified = f'"{rnd.getrandbits(64):016x}"', f"Mon, 05 Jan 2026 12:{i % 60:02}:{i % 59:02} GMT"
    return UrlState(
        name=name,
        url=url,
        status=Status.OK,
        outcome=Outcome.CHANGED,
        http_status=200,
        first_seen=T0,
        last_seen=at + i,
        last_fetched_at=at + i,
        last_changed_at=at + i,
        check_interval=3600.0 * (1 + i % 24),
        next_check_at=at + i + 3600.25,
        unchanged_streak=i % 50,
        reason="changed: half the interval",
        record=Record(values=values, fingerprint=f"1:{rnd.getrandbits(256):064x}", definition=f"1:{i % 9:016x}"),
        body=f"{rnd.getrandbits(256):064x}",
        validators=Validators(
            etag=etag if i % 3 else None,
            last_modified=modified if i % 2 else None,
            url=url,
            tags=(etag,) if i % 3 else (),
        ),
    )


def again(before: UrlState, at: float) -> UrlState:
    """The state after a check that found nothing new."""
    return msgspec.structs.replace(
        before,
        outcome=Outcome.NOT_MODIFIED,
        http_status=304,
        last_seen=at,
        last_fetched_at=at,
        next_check_at=at + 7200.0,
        unchanged_streak=before.unchanged_streak + 1,
        reason=f"unchanged {before.unchanged_streak + 1} times: twice the interval",
    )


def check_of(state: UrlState) -> Check:
    return Check(
        name=state.name,
        url=state.url,
        at=state.last_fetched_at or 0.0,
        outcome=state.outcome or Outcome.ERROR,
        status=state.http_status,
        gap=3600.0,
        interval=state.check_interval,
        next_check_at=state.next_check_at,
        reason=state.reason,
        policy="adaptive",
        conditional="etag",
    )
