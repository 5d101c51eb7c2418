"""States, checks and entries for the store's tests, and what a store is asked to prove that it kept them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec

from watcher.core.exchange import Exchange
from watcher.core.history import Check
from watcher.core.model import Failure, Finding, Outcome, Record, Status
from watcher.core.schedule import Evidence
from watcher.core.state import HostState, UrlState
from watcher.core.validators import Validators
from watcher.store import FS, Entry, Store

T0 = 1_767_607_200.0
BIG = 2**80 + 1


class QuickFS(FS):
    """Leaves syncing to the system: for tests that never cut the power."""

    def sync(self, fd: int) -> None:
        pass

    def sync_dir(self, path: str) -> None:
        pass


def record(i: int, **values: Any) -> Record:
    """A record with exact numbers beyond what doubles and 64 bits hold."""
    held = {"t": f"text {i} é", "price": {"minor": 100 + i, "currency": "EUR"}, "n": Decimal(f"{i}.10"), "big": BIG + i}
    return Record(
        values={**held, **values, "buyer": f"secret-{i}"},
        fingerprint=f"1:{i:064x}",
        definition="1:abcd",
        personal=("buyer",),
    )


def state(name: str, i: int, outcome: Outcome = Outcome.CHANGED, **given: Any) -> UrlState:
    """The state of ``name`` after its check number ``i``, one an hour."""
    at = T0 + 3600.0 * i
    fields: dict[str, Any] = {
        "url": f"https://{name}.example/page",
        "status": Status.OK,
        "http_status": 200,
        "first_seen": T0,
        "last_seen": at,
        "last_fetched_at": at,
        "last_changed_at": at,
        "check_interval": 3600.0,
        "next_check_at": at + 3600.0,
        "reason": "unchanged twice: 1 h",
        "record": record(i),
        "validators": Validators(etag=f'"{i}\xe9"', url=f"https://{name}.example/page"),
        "outcome": outcome,
    }
    return UrlState(name=name, **{**fields, **given})


def unchanged(before: UrlState, i: int, **given: Any) -> UrlState:
    """The state after one more check that found the same record."""
    at = T0 + 3600.0 * i
    moved: dict[str, Any] = {
        "outcome": Outcome.UNCHANGED,
        "last_seen": at,
        "last_fetched_at": at,
        "next_check_at": at + 7200.0,
        "check_interval": 7200.0,
        "unchanged_streak": before.unchanged_streak + 1,
        "validators": Validators(etag=f'W/"{i}"', url=before.url),
    }
    return msgspec.structs.replace(before, **{**moved, **given})


def failed(before: UrlState, i: int) -> UrlState:
    """The state after a check that failed."""
    at = T0 + 3600.0 * i
    return msgspec.structs.replace(
        before,
        outcome=Outcome.ERROR,
        last_fetched_at=at,
        next_check_at=None,
        failures=before.failures + 1,
        failing_since_at=at,
        failure=Failure(kind="transient", message="refused"),
        findings=(Finding(kind="etag_churn", since_at=at, reason="three times"),),
        evidence=Evidence(changes=1.5, hours=2.25),
    )


def exchange(url: str, at: float, **given: Any) -> Exchange:
    fields: dict[str, Any] = {"status": 200, "sent": (("Accept", "*/*"),), "bytes_wire": 120, "total": 0.25}
    return Exchange(at=at, purpose="page", method="GET", url=url, **{**fields, **given})


def check(of: UrlState, hops: int = 1) -> Check:
    """The check that led to a state, with ``hops`` exchanges."""
    at = of.last_fetched_at or 0.0
    return Check(
        name=of.name,
        url=of.url,
        at=at,
        outcome=of.outcome or Outcome.ERROR,
        status=of.http_status,
        gap=3600.0,
        interval=of.check_interval,
        next_check_at=of.next_check_at,
        reason=of.reason,
        policy="adaptive",
        conditional="etag",
        failure=of.failure,
        exchanges=tuple(exchange(f"{of.url}?hop={hop}", at) for hop in range(hops)),
    )


def entry(of: UrlState, hops: int = 1, **given: Any) -> Entry:
    return Entry(state=of, check=check(of, hops), **given)


def host(key: str, i: int) -> HostState:
    return HostState(key=key, limited=i, not_before_at=T0 + i, not_before_reason="Retry-After: 5")


def states(store: Store) -> dict[str, UrlState | None]:
    return {name: store.state(name) for name in store.names()}


def seen_at(store: Store, name: str) -> list[float]:
    """When the versions of a watch were reached, oldest first."""
    return [version.at for version in reversed(store.history(name, limit=10_000))]
