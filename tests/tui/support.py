"""An engine's handle over plain lists, with a small town's worth of pages. Whatever a screen asks is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from decimal import Decimal
from typing import Any

import msgspec

from watcher.core.exchange import Exchange
from watcher.core.history import Check, Version
from watcher.core.model import Cadence, Failure, Field, FieldChange, Finding, Outcome, Record, Status, Watch
from watcher.core.news import News
from watcher.core.settings import Settings
from watcher.core.state import HostState, Summary, UrlState
from watcher.core.urls import parse_url
from watcher.engine.bus import Bus, Subscription
from watcher.engine.events import Checked, Draining, Event, Started, StateChanged, Stopped
from watcher.engine.handle import Preview

NOW = 1_773_324_131.0
"""Thursday 12 March 2026, 14:02:11 UTC."""
SHELF = "https://shop.example/shelf"
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0


class ListHandle:
    """The protocol over dictionaries. ``asked`` keeps what a screen asked for, in order."""

    def __init__(self, settings: Settings, states: Iterable[UrlState] = (), *, read_only: bool = False) -> None:
        self.settings = settings
        self.read_only = read_only
        self.watches = {watch.name: watch for watch in settings.watches}
        self.states = {state.name: state for state in states}
        self.summaries = {name: summary_of(state) for name, state in self.states.items()}
        self.versions: dict[str, list[Version]] = {}
        self.journal: list[Check] = []
        self.hosts: dict[str, HostState] = {}
        self.busy: set[str] = set()
        self.asked: list[tuple[str, Any]] = []
        self.previews: dict[str, Preview] = {}
        self.bus = Bus()
        self.time = NOW
        self.hold_stop = asyncio.Event()
        self.hold_stop.set()

    def now(self) -> float:
        return self.time

    def names(self) -> Sequence[str]:
        return list(self.watches)

    def watch(self, name: str) -> Watch | None:
        return self.watches.get(name)

    def summary(self, name: str) -> Summary | None:
        return self.summaries.get(name) if name in self.watches else None

    def state(self, name: str) -> UrlState | None:
        return self.states.get(name)

    def host(self, url: str) -> HostState | None:
        return self.hosts.get(parse_url(url).origin)

    def running(self) -> frozenset[str]:
        return frozenset(self.busy)

    def history(self, name: str, *, limit: int = 100, before: float | None = None) -> list[Version]:
        found = [v for v in self.versions.get(name, ()) if before is None or v.at < before]
        return found[:limit]

    def checks(self, name: str | None = None, *, since: float | None = None) -> Iterator[Check]:
        return (c for c in self.journal if name in (None, c.name) and (since is None or c.at >= since))

    def recent(self, limit: int = 200) -> list[Check]:
        return self.journal[::-1][:limit]

    def subscribe(self) -> AbstractContextManager[Subscription]:
        return self.bus.subscribe()

    def check_now(self, names: Iterable[str], *, force: bool = False) -> None:
        self.asked.append(("force" if force else "check", list(names)))

    def check_due(self) -> None:
        self.asked.append(("due", None))

    def set_paused(self, names: Iterable[str], paused: bool) -> None:
        self._change(list(names), paused=paused)

    def mark_seen(self, names: Iterable[str], seen: bool = True) -> None:
        self._change(list(names), seen_at=self.time if seen else None)

    async def preview(self, url: str, fields: Sequence[Field] = ()) -> Preview:
        self.asked.append(("preview", url))
        return self.previews.get(url, Preview(url=url, record=None, error=f"{url}: the host does not answer."))

    async def stop(self, *, force: bool = False) -> None:
        self.asked.append(("stop", force))
        self.publish(Draining(len(self.busy)))
        if not force:
            await self.hold_stop.wait()
        self.busy.clear()
        self.publish(Stopped())

    # -- what a test does to it

    def publish(self, event: Event) -> None:
        self.bus.publish(event)

    def waiting(self) -> bool:
        """Whether a listener has events it did not take yet."""
        return any(subscription._events for subscription in self.bus._open)

    def start(self, name: str) -> None:
        """A check of ``name`` begins."""
        self.busy.add(name)
        self.publish(Started(name))

    def finish(self, state: UrlState, check: Check, *, news: News | None = None, changes: Any = ()) -> None:
        """A check ends with ``state``."""
        self.busy.discard(state.name)
        self.put(state)
        self.journal.append(check)
        self.publish(Checked(check=check, news=news, changes=changes))

    def put(self, state: UrlState) -> None:
        self.states[state.name] = state
        self.summaries[state.name] = summary_of(state)

    def _change(self, names: list[str], **fields: Any) -> None:
        for name in names:
            self.put(msgspec.structs.replace(self.states[name], **fields))
        self.asked.append((next(iter(fields)), names))
        self.publish(StateChanged(tuple(names)))


def summary_of(state: UrlState) -> Summary:
    """The narrow part of ``state``."""
    return Summary(**{name: getattr(state, name) for name in Summary.__struct_fields__})


def watch(name: str, **more: Any) -> Watch:
    """A watch of https://NAME."""
    return Watch(
        name=name,
        url=more.pop("url", f"https://{name}"),
        cadence=Cadence(interval=more.pop("interval", 900.0), minimum=900.0),
        **more,
    )


def state(name: str, outcome: Outcome | None, **more: Any) -> UrlState:
    """A state as a check left it."""
    known: dict[str, Any] = {
        "status": Status.OK if outcome else Status.NEW,
        "http_status": 200 if outcome else 0,
        "check_interval": HOUR,
        "next_check_at": NOW + 12 * MINUTE,
        "last_fetched_at": NOW - 48 * MINUTE,
        "unchanged_streak": 0,
        "reason": "doubled to 1 h after an unchanged check; max 3 d" if outcome else "",
    }
    return UrlState(name=name, url=f"https://{name}", outcome=outcome, **{**known, **more})


def town() -> ListHandle:
    """Fourteen pages in every state there is."""
    states = [
        state("python.org/downloads", Outcome.NOT_MODIFIED, unchanged_streak=42, http_status=304),
        state(
            "shop.example/desk-lamp",
            Outcome.CHANGED,
            last_changed_at=NOW - 3 * MINUTE,
            check_interval=15 * MINUTE,
            next_check_at=NOW + 3 * MINUTE,
            reason="halved to 15 min after a change; min 15 min",
            record=_lamp(1750, "Desk lamp Orbit, brushed steel, now with a warm light", "4 in stock"),
        ),
        state(
            "blog.example/feed",
            Outcome.CHANGED,
            last_changed_at=NOW - 2 * HOUR,
            check_interval=6 * HOUR,
            next_check_at=NOW + 2 * HOUR,
            record=_feed("Release 2.4", 13),
        ),
        state(
            "old.example/status",
            Outcome.ERROR,
            status=Status.FAILING,
            http_status=503,
            failures=4,
            failure=Failure(kind="transient", message="The server answers 503 Service Unavailable."),
            reason="backing off after 4 failed checks",
            next_check_at=NOW + 40 * MINUTE,
        ),
        state(
            "api.example/v2/notes",
            Outcome.DEFERRED,
            status=Status.DEFERRED,
            http_status=429,
            failures=2,
            failure=Failure(kind="deferred", message="The server asks us to wait until 15:02 (Retry-After)."),
        ),
        state("paused.example", Outcome.UNCHANGED, paused=True, check_interval=DAY),
        state("shop.example/chair", Outcome.GONE, status=Status.GONE, http_status=404, next_check_at=NOW + 6 * DAY),
        state("members.example/area", Outcome.BLOCKED, status=Status.BLOCKED, http_status=403, failures=1),
        state("new.example/press", Outcome.FIRST, next_check_at=NOW + DAY, check_interval=DAY),
        state("never.example/looked", None, next_check_at=0.0, last_fetched_at=None),
        state("archive.example/1998", Outcome.NOT_MODIFIED, unchanged_streak=9, check_interval=30 * DAY),
        state("weather.example/harbour", Outcome.UNCHANGED, unchanged_streak=1, seen_at=NOW, last_changed_at=NOW - DAY),
        state("museum.example/hours", Outcome.RETURNED, seen_at=NOW, last_changed_at=NOW - 5 * DAY),
        state("日本.example/ニュース", Outcome.NOT_MODIFIED, unchanged_streak=3),
    ]
    tags = {"shop.example/desk-lamp": ("shop",), "shop.example/chair": ("shop",), "blog.example/feed": ("news",)}
    types = {"archive.example/1998": "archive", "blog.example/feed": "index", "shop.example/desk-lamp": "detail"}
    watches = tuple(watch(s.name, tags=tags.get(s.name, ()), type=types.get(s.name, "listing")) for s in states)
    handle = ListHandle(Settings(watches=watches), states)
    _give_histories(handle)
    handle.previews[SHELF] = Preview(url=SHELF, record=_lamp(8900, "Oak shelf", "2 in stock"), suggested_type="detail")
    return handle


def read_shelf(preview: Preview, fields: Sequence[Field]) -> Preview:
    """What the shelf's page gives for fields whose selector it has."""
    page = {"h1": "Oak shelf", "main": ["Oak shelf", "Solid oak, oiled."], ".price": {"minor": 8900, "currency": "EUR"}}
    values = {
        field.name: next((v for k, v in page.items() if k in (field.css or "").split(", ")), None) for field in fields
    }
    missing = tuple(f"{field.name}: 0 matches" for field in fields if values[field.name] is None and not field.optional)
    record = None if missing else Record(values=values)
    return Preview(
        url=preview.url, record=record, matches=missing, error="A field matches nothing." if missing else None
    )


def _lamp(minor: int, title: str, stock: str) -> Record:
    return Record(values={"title": title, "price": {"minor": minor, "currency": "EUR"}, "stock": stock})


def _feed(title: str, items: int) -> Record:
    text = [
        "The release adds twelve commands and a quieter installer.",
        f"{title} was announced on the mailing list." if items > 12 else "It was announced on the mailing list.",
        "Upgrades from older versions need no migration.",
    ]
    return Record(values={"title": title, "items": Decimal(items), "body": text})


def _give_histories(handle: ListHandle) -> None:
    lamp, feed = "shop.example/desk-lamp", "blog.example/feed"
    title = "Desk lamp Orbit, brushed steel"
    handle.versions[lamp] = [
        Version(name=lamp, at=NOW - 3 * MINUTE, outcome=Outcome.CHANGED, record=handle.states[lamp].record, seq=4),
        Version(name=lamp, at=NOW - 2 * DAY, outcome=Outcome.CHANGED, record=_lamp(1990, title, "12 in stock"), seq=3),
        Version(
            name=lamp, at=NOW - 9 * DAY, outcome=Outcome.REDEFINED, record=_lamp(2150, title, "12 in stock"), seq=2
        ),
        Version(name=lamp, at=NOW - 20 * DAY, outcome=Outcome.FIRST, record=_lamp(2150, title, "3 in stock"), seq=1),
    ]
    handle.versions[feed] = [
        Version(name=feed, at=NOW - 2 * HOUR, outcome=Outcome.CHANGED, record=_feed("Release 2.4", 13), seq=2),
        Version(name=feed, at=NOW - 3 * DAY, outcome=Outcome.FIRST, record=_feed("Release 2.3", 12), seq=1),
    ]
    for index in range(40):
        changed = index % 9 == 0
        handle.journal.append(
            check(
                lamp,
                NOW - (40 - index) * 47 * MINUTE,
                Outcome.CHANGED if changed else Outcome.ERROR if index == 30 else Outcome.NOT_MODIFIED,
                interval=(15 + 15 * (index % 9)) * MINUTE,
            )
        )
    handle.hosts["https://shop.example:443"] = HostState(
        key="https://shop.example:443",
        robots_status=200,
        crawl_delay=10.0,
        spent=214,
        not_before_at=NOW + 42,
        not_before_reason="Retry-After",
        findings=(Finding(kind="etag_churn", since_at=NOW - DAY, reason="its ETag moves although the page does not"),),
    )


def check(name: str, at: float, outcome: Outcome, **more: Any) -> Check:
    """A check of ``name`` with one exchange."""
    status = {Outcome.NOT_MODIFIED: 304, Outcome.ERROR: 503, Outcome.GONE: 404}.get(outcome, 200)
    exchange = Exchange(
        at=at,
        purpose="page",
        method="GET",
        url=f"https://{name}",
        status=status,
        conditional="etag" if status == 304 else None,
        dns=0.004,
        connect=0.011,
        first_byte=0.061,
        total=0.083,
        bytes_wire=214 if status == 304 else 18_220,
        bytes_body=0 if status == 304 else 64_118,
    )
    known: dict[str, Any] = {"interval": HOUR, "gap": HOUR, "policy": "adaptive", "conditional": exchange.conditional}
    return Check(
        name=name,
        url=f"https://{name}",
        at=at,
        outcome=outcome,
        status=status,
        exchanges=(exchange,),
        bytes_wire=exchange.bytes_wire,
        bytes_body=exchange.bytes_body,
        **{**known, **more},
    )


def change_of_lamp(handle: ListHandle) -> tuple[UrlState, Check, tuple[FieldChange, ...]]:
    """The lamp's price falls once more."""
    lamp = handle.states["shop.example/desk-lamp"]
    record = _lamp(1490, "Desk lamp Orbit, brushed steel, now with a warm light", "4 in stock")
    after = msgspec.structs.replace(lamp, record=record, last_changed_at=handle.time, outcome=Outcome.CHANGED)
    changes = (FieldChange("price", {"minor": 1750, "currency": "EUR"}, {"minor": 1490, "currency": "EUR"}),)
    return after, check(lamp.name, handle.time, Outcome.CHANGED, changed_fields=("price",)), changes


def crowd(count: int) -> ListHandle:
    """``count`` unremarkable pages."""
    states = [
        state(f"host{i % 977}.example/page/{i}", Outcome.NOT_MODIFIED, unchanged_streak=i % 50) for i in range(count)
    ]
    return ListHandle(Settings(watches=tuple(watch(s.name) for s in states)), states)
