"""Between the core's values and lines, at the speed of the journal: a state or a check is a few calls into C."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import asdict, replace

from watcher.core.exchange import Exchange
from watcher.core.history import Check
from watcher.core.model import Record
from watcher.core.state import HostState, UrlState
from watcher.core.validators import Validators
from watcher.store import mirror
from watcher.store.lines import keyed
from watcher.store.mirror import COLD_FIELDS, HOT_FIELDS, getter

decode_state: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(mirror.FullLine, float_hook=Decimal).decode
decode_delta: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(mirror.DeltaLine, float_hook=Decimal).decode
decode_check: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(mirror.CheckLine).decode
decode_exchange: Final = msgspec.json.Decoder(Exchange).decode
_decode_host: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(mirror.HostLine).decode

_hot = getter(HOT_FIELDS)
_cold = getter(COLD_FIELDS)
_EFFECTIVE = COLD_FIELDS.index("effective_url")
_record = getter(mirror.RECORD_FIELDS)
_check = getter(mirror.CHECK_FIELDS)
_said = getter(tuple(own for _, own in mirror.DERIVED.values()))
_says = getter(tuple(mirror.DERIVED))
_UNTOUCHED = Validators()
_NO_STATE = ("etag", "last_modified", "rest", *mirror.RECORD_FIELDS)
NO_URL = " "
NO_TAGS = ("",)
_NOTHING_SAID = _says(mirror.CheckLine())
_SILENT = (UNSET,) * len(mirror.DERIVED)
_NO_RECORD = (None, "", "", (), (), ())
_COLD_AT = {field: at for at, field in enumerate(COLD_FIELDS)}


def _seen(state: UrlState) -> Any:
    return UNSET if state.last_seen == state.last_fetched_at else state.last_seen


def _cold_out(state: UrlState) -> tuple[Any, ...]:
    """The cold fields as they are written: an effective URL that is the watch's own is left empty."""
    cold = _cold(state)
    if cold[_EFFECTIVE] is None:
        return cold
    told = "" if cold[_EFFECTIVE] == state.url else cold[_EFFECTIVE] or NO_URL
    return (*cold[:_EFFECTIVE], told, *cold[_EFFECTIVE + 1 :])


def _validators_out(state: UrlState, *, marked: bool) -> tuple[Any, Any, Any]:
    """``etag`` and ``lm`` for the eye, everything else in ``val``; ``marked`` writes ``val`` even if it is empty.

    There, a missing ``url`` is the watch's own and missing ``tags`` are the ETag alone; none at all are spelt out.
    """
    held = state.validators
    if held == _UNTOUCHED and not marked:
        return None, None, None
    etag, modified, url, tags = held.etag, held.last_modified, held.url, held.tags
    url = "" if url == state.url else url or NO_URL
    tags = () if tags == _only(etag) else tags or NO_TAGS
    rest = replace(held, etag=None, last_modified=None, url=url, tags=tags)
    if rest == _UNTOUCHED and not marked and (etag is not None or modified is not None):
        return etag, modified, None
    return etag, modified, rest


def _only(etag: str | None) -> tuple[str, ...]:
    return () if etag is None else (etag,)


def _validators_in(etag: str | None, modified: str | None, rest: Validators | None, url: str) -> Validators:
    if rest is None:
        return Validators(etag=etag, last_modified=modified, url=url, tags=_only(etag))
    own = rest.url
    tags = rest.tags
    return replace(
        rest,
        etag=etag,
        last_modified=modified,
        url="" if own == NO_URL else own or url,
        tags=() if tags == NO_TAGS else tags or _only(etag),
    )


def check_members(check: Check | None, state: UrlState | None) -> tuple[Any, Exchange | None]:
    """The members ``check`` and ``http`` (its last exchange) that a line carries beside the state."""
    if check is None:
        return None, None
    last = check.exchanges[-1] if check.exchanges else None
    says, said = _says(check), _NOTHING_SAID if state is None else _said(state)
    differs = _SILENT if says == said else tuple(UNSET if a == b else a for a, b in zip(says, said, strict=True))
    url = UNSET if last is not None and last.url == check.url else check.url
    return mirror.CheckMembers(*_check(check), url, *differs), last


def full_line(state: UrlState, n: int, version: bool, retention: str, check: Check | None) -> bytes:
    """An ``s`` line. Raises ValueError for what strict JSON cannot hold."""
    name = state.name
    url = None if state.url == name else state.url
    record = _NO_RECORD if state.record is None else _record(state.record)
    held = _validators_out(state, marked=False)
    told = check_members(check, state)
    members = mirror.FullMembers(
        *("s", name, n, 0, version, retention),
        *_hot(state),
        _seen(state),
        url,
        *_cold_out(state),
        *held,
        *record,
        *told,
    )
    return keyed(name, members)


def delta_line(
    state: UrlState, n: int, base: UrlState, number: int, named: frozenset[str], check: Check | None
) -> tuple[bytes, frozenset[str]]:
    """An ``a`` line on top of ``base``, and the cold fields that stay named from now on. Raises ValueError.

    A field once named stays named until the next ``s`` line: so the newest ``a`` line is right on top of
    the ``s`` line itself and of every fold of it, whichever a crash leaves standing.
    """
    now, then = _cold_out(state), _cold_out(base)
    if now != then:
        named |= {f for f, a, b in zip(COLD_FIELDS, now, then, strict=True) if a != b}
    if state.validators != base.validators:
        named |= {"validators"}
    cold: list[Any] = [UNSET] * len(now)
    for field in named:
        if field in _COLD_AT:
            cold[_COLD_AT[field]] = now[_COLD_AT[field]]
    held = _validators_out(state, marked=True) if "validators" in named else (None, None, None)
    mark = state.record.fingerprint[:10] if state.record is not None else ""
    told = check_members(check, state)
    members = mirror.DeltaMembers("a", state.name, n, number, *_hot(state), _seen(state), *cold, *held, mark, *told)
    return keyed(state.name, members), named


def lone_line(check: Check, n: int) -> bytes:
    """A ``c`` line. Raises ValueError."""
    return keyed(check.name, mirror.LoneMembers("c", check.name, n, 0, *check_members(check, None)))


def record_of(row: Any) -> Record | None:
    """The record in a decoded ``s`` line."""
    if row.values is None:
        return None
    return Record(
        values=row.values,
        fingerprint=row.fingerprint,
        definition=row.definition,
        untracked=row.untracked,
        personal=row.personal,
        notes=row.notes,
    )


def state_of(row: Any, delta: Any = None) -> UrlState:
    """The state a decoded ``s`` line holds, with a decoded ``a`` line on top."""
    fields = asdict(row)
    for extra in _NO_STATE:
        del fields[extra]
    if fields["url"] is None:
        fields["url"] = row.name
    source = row
    if delta is not None:
        top = asdict(delta)
        for field in (*HOT_FIELDS, "last_seen"):
            fields[field] = top[field]
        for field in COLD_FIELDS:
            if top[field] is not UNSET:
                fields[field] = top[field]
        source = delta if delta.rest is not None else row
    if fields["last_seen"] is UNSET:
        fields["last_seen"] = fields["last_fetched_at"]
    if fields["effective_url"] is not None:
        told = fields["effective_url"]
        fields["effective_url"] = "" if told == NO_URL else told or fields["url"]
    held = source.rest is not None or source.etag is not None or source.last_modified is not None
    fields["validators"] = (
        _validators_in(source.etag, source.last_modified, source.rest, fields["url"]) if held else _UNTOUCHED
    )
    fields["record"] = record_of(row)
    # One mapping: keywords beside it would make the interpreter build another.
    return UrlState(**fields)


def named_in(delta: Any) -> frozenset[str]:
    """The cold fields an ``a`` line names."""
    named = {f for f, v in zip(COLD_FIELDS, _cold(delta), strict=True) if v is not UNSET}
    return frozenset(named | {"validators"} if delta.rest is not None else named)


def check_of(row: Any, before: tuple[Exchange, ...] = ()) -> Check | None:
    """The check a decoded line tells of, if it tells of one; ``before`` are its earlier exchanges."""
    own = row.check
    if own is None:
        return None
    last = row.http
    url = own.url if own.url is not UNSET else last.url if last is not None else ""
    says = {f: b if a is UNSET else a for f, a, b in zip(mirror.DERIVED, _says(own), _says(row), strict=True)}
    return Check(
        name=row.name,
        url=url,
        exchanges=before if last is None else (*before, last),
        **says,
        **dict(zip(mirror.CHECK_FIELDS, _check(own), strict=True)),
    )


_HOST_FIELDS = tuple(f for f in mirror.defaults(HostState) if f != "key")
_host = getter(_HOST_FIELDS)


def host_line(host: HostState, n: int) -> bytes:
    """An ``o`` line. Raises ValueError."""
    return keyed(host.key, mirror.HostMembers("o", host.key, n, *_host(host)))


def host_of(raw: bytes) -> HostState:
    """The host state in an ``o`` line."""
    row = _decode_host(raw)
    return HostState(key=row.key, **dict(zip(_HOST_FIELDS, _host(row), strict=True)))
