"""Between the core's values and the members of a line.

Fields of UrlState, Validators, Check and HostState that are not named here travel under their own names, so
that the core can grow without this file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from watcher.core.exchange import Exchange
from watcher.core.history import Check
from watcher.core.model import Outcome, Record
from watcher.core.state import HostState, UrlState
from watcher.core.validators import Validators

HOT: Final = {
    "last_fetched_at": "at",
    "outcome": "out",
    "http_status": "st",
    "status": "is",
    "next_check_at": "nxt",
    "check_interval": "ivl",
    "unchanged_streak": "same",
    "failures": "fail",
    "last_changed_at": "chg",
    "last_seen": "seen",
    "seen_at": "read",
    "paused": "paused",
    "reason": "why",
}
"""What every ``s`` and ``a`` line says in full (a missing member means the default): the schedule and the summary."""

SHORT: Final = {
    "first_seen": "first",
    "not_before_at": "hold",
    "failing_since_at": "failing",
    "failure": "err",
    "announced": "told",
    "missing": "miss",
    "missing_since_at": "missing",
    "gone_at": "gone",
    "content_type": "type",
    "effective_url": "eff",
    "evidence": "ev",
    "volatile": "vol",
    "findings": "find",
}
_APART = ("name", "url", "record", "validators")
RECORD: Final = {
    "values": "rec",
    "fingerprint": "fp",
    "definition": "def",
    "untracked": "unt",
    "personal": "pers",
    "notes": "notes",
}
CHECK: Final = {
    "gap": "gap",
    "conditional": "cond",
    "policy": "policy",
    "changed_fields": "fields",
    "bytes_wire": "wire",
    "bytes_body": "bytes",
    "modified_at": "lm",
    "failure": "err",
    "url": "url",
    "at": "at",
    "outcome": "out",
    "status": "st",
    "interval": "ivl",
    "next_check_at": "nxt",
    "reason": "why",
}
DERIVED: Final = {
    "at": "last_fetched_at",
    "outcome": "outcome",
    "status": "http_status",
    "interval": "check_interval",
    "next_check_at": "next_check_at",
    "reason": "reason",
}
"""Check fields that the line's own members already say, unless the state says otherwise."""


def _defaults(struct: type[msgspec.Struct]) -> dict[str, Any]:
    out = {}
    for info in msgspec.structs.fields(struct):
        factory = info.default_factory
        out[info.name] = factory() if callable(factory) else info.default
    return out


def _types(struct: type[msgspec.Struct]) -> dict[str, Any]:
    return {info.name: info.type for info in msgspec.structs.fields(struct)}


def _mirror(name: str, fields: Mapping[str, tuple[str, Any, Any]]) -> Any:
    """A Struct class whose attribute -> (wire name, type, default)."""
    made = [(attr, kind, msgspec.field(name=wire, default=default)) for attr, (wire, kind, default) in fields.items()]
    return msgspec.defstruct(name, made, kw_only=True, frozen=True, gc=False)


_STATE = _defaults(UrlState)
_STATE_TYPES = _types(UrlState)
_CHECK = _defaults(Check)
_HOST = _defaults(HostState)
_VALIDATORS = _defaults(Validators)
PLAIN: Final = {
    f: HOT.get(f) or SHORT.get(f, f) for f in (*HOT, *(f for f in _STATE if f not in HOT)) if f not in _APART
}
"""UrlState attribute -> member, for the fields stored as they are, in the order they are written."""
COLD: Final = {**{f: w for f, w in PLAIN.items() if f not in HOT}, "validators": "val"}
"""The fields an ``a`` line names only where they differ, or once differed, from the ``s`` line it builds on."""
WIRE: Final = {wire: name for name, wire in COLD.items()}

_OWN_VALIDATORS = tuple(f for f in _VALIDATORS if f not in ("etag", "last_modified"))
_RestLine = _mirror("RestLine", {f: (f, _types(Validators)[f] | UnsetType, UNSET) for f in _OWN_VALIDATORS})

_state_fields: dict[str, tuple[str, Any, Any]] = {f: (w, _STATE_TYPES[f], _STATE[f]) for f, w in PLAIN.items()}
_delta_fields = {
    f: (w, t if f in HOT else t | UnsetType, d if f in HOT else UNSET) for f, (w, t, d) in _state_fields.items()
}
_common: dict[str, tuple[str, Any, Any]] = {
    "name": ("w", str, ""),
    "n": ("n", int, 0),
    "base": ("b", int, 0),
    "etag": ("etag", str | None, None),
    "last_modified": ("lm", str | None, None),
    "rest": ("val", _RestLine | None, None),
}
_record_fields: dict[str, tuple[str, Any, Any]] = {
    "values": ("rec", dict[str, Any] | None, None),
    "fingerprint": ("fp", str, ""),
    "definition": ("def", str, ""),
    "untracked": ("unt", tuple[str, ...], ()),
    "personal": ("pers", tuple[str, ...], ()),
    "notes": ("notes", tuple[str, ...], ()),
}
_extra: dict[str, tuple[str, Any, Any]] = {"url": ("url", str | None, None), "sticky": ("d", tuple[str, ...], ())}
StateLine = _mirror("StateLine", {**_common, **_extra, **_state_fields, **_record_fields})
DeltaLine = _mirror("DeltaLine", {**_common, **_delta_fields})
_HostLine = _mirror(
    "HostLine",
    {
        f: ("w" if f == "key" else f, _types(HostState)[f], "" if f == "key" else default)
        for f, default in _HOST.items()
    },
)
_CheckMembers: Any = _mirror(
    "CheckMembers",
    {f: (CHECK.get(f, f), _types(Check)[f] | UnsetType, UNSET) for f in _CHECK if f not in ("name", "exchanges")},
)


_CheckLine = _mirror(
    "CheckLine",
    {
        "name": ("w", str, ""),
        "n": ("n", int, 0),
        "at": ("at", float | None, None),
        "outcome": ("out", Outcome | None, None),
        "status": ("st", int, 0),
        "interval": ("ivl", float, 0.0),
        "next_check_at": ("nxt", float | None, 0.0),
        "reason": ("why", str, ""),
        "check": ("check", _CheckMembers | None, None),
        "http": ("http", Exchange | None, None),
    },
)


class ExchangeLine(msgspec.Struct, gc=False):
    """Which check an ``e`` line belongs to."""

    of: int = 0


decode_state: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(StateLine, float_hook=Decimal).decode
decode_delta: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(DeltaLine, float_hook=Decimal).decode
decode_check: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(_CheckLine).decode
decode_of: Final = msgspec.json.Decoder(ExchangeLine).decode
decode_exchange: Final = msgspec.json.Decoder(Exchange).decode
decode_members: Final[Callable[[bytes], dict[str, Any]]] = msgspec.json.Decoder(
    dict[str, Any], float_hook=Decimal
).decode
_decode_host: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(_HostLine).decode


def _validators_out(state: UrlState) -> dict[str, Any]:
    """``etag`` and ``lm`` for the eye, everything else in ``val``, whose ``url`` is the watch's own if missing."""
    held = state.validators
    rest = {f: v for f in _OWN_VALIDATORS if (v := getattr(held, f)) != _VALIDATORS[f]}
    if held.url == state.url:
        rest.pop("url", None)
    else:
        rest["url"] = held.url
    out: dict[str, Any] = {"val": rest}
    if held.etag is not None:
        out["etag"] = held.etag
    if held.last_modified is not None:
        out["lm"] = held.last_modified
    return out


def _validators_in(row: Any, url: str) -> Validators:
    rest = msgspec.structs.asdict(row.rest) if row.rest is not None else {}
    given = {f: v for f, v in rest.items() if v is not UNSET}
    given.setdefault("url", url)
    return Validators(etag=row.etag, last_modified=row.last_modified, **given)


def _hot(state: UrlState) -> dict[str, Any]:
    return {w: v for f, w in HOT.items() if (v := getattr(state, f)) != _STATE[f]}


def state_members(state: UrlState) -> dict[str, Any]:
    """The members of an ``s`` line that hold ``state``."""
    out = _hot(state)
    if state.url != state.name:
        out["url"] = state.url
    for field, wire in COLD.items():
        if field != "validators" and (value := getattr(state, field)) != _STATE[field]:
            out[wire] = value
    if state.validators != Validators():
        out |= _validators_out(state)
    return out | record_members(state.record)


def record_members(record: Record | None, *, public: bool = False) -> dict[str, Any]:
    """The members that hold a record; ``public`` leaves the personal fields' values out, as history must."""
    if record is None:
        return {}
    values = record.public() if public else record.values
    out: dict[str, Any] = {"rec": values}
    for field, wire in RECORD.items():
        if field != "values" and (value := getattr(record, field)):
            out[wire] = value
    return out


def delta_members(state: UrlState, base: UrlState, sticky: frozenset[str]) -> tuple[dict[str, Any], frozenset[str]]:
    """The members of an ``a`` line on top of ``base``, and the cold fields that stay named from now on.

    A field once named stays named until the next ``s`` line: so the newest ``a`` line is right on top of
    the ``s`` line itself and of every fold of it, whichever a crash leaves standing.
    """
    named = sticky | {f for f in COLD if getattr(state, f) != getattr(base, f)}
    out = _hot(state)
    for field in COLD:
        if field in named and field != "validators":
            out[COLD[field]] = getattr(state, field)
    if "validators" in named:
        out |= _validators_out(state)
    if state.record is not None and state.record.fingerprint:
        out["fp"] = state.record.fingerprint[:10]
    return out, named


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
    url = row.name if row.url is None else row.url
    held = row.rest is not None or row.etag is not None or row.last_modified is not None
    validators = _validators_in(row, url) if held else Validators()
    fields = {f: getattr(row, f) for f in PLAIN}
    if delta is not None:
        fields |= {f: v for f in PLAIN if (v := getattr(delta, f)) is not UNSET}
        if delta.rest is not None:
            validators = _validators_in(delta, url)
    return UrlState(name=row.name, url=url, record=record_of(row), validators=validators, **fields)


def named_in(delta: Any) -> frozenset[str]:
    """The cold fields an ``a`` line names."""
    named = {f for f in COLD if f != "validators" and getattr(delta, f) is not UNSET}
    return frozenset(named | {"validators"} if delta.rest is not None else named)


def check_members(check: Check, state: UrlState | None) -> dict[str, Any]:
    """The members ``check`` and ``http`` (its last exchange) that a state line carries beside the state."""
    last = check.exchanges[-1] if check.exchanges else None
    said: dict[str, Any] = {"url": last.url if last is not None else UNSET, "next_check_at": 0.0}
    if state is not None:
        said |= {f: getattr(state, own) for f, own in DERIVED.items()}
    members = {
        CHECK.get(f, f): v
        for f in (*CHECK, *(f for f in _CHECK if f not in CHECK))
        if f not in ("name", "exchanges") and (v := getattr(check, f)) != said.get(f, _CHECK[f])
    }
    return {"check": members} if last is None else {"check": members, "http": last}


def check_of(row: Any, before: tuple[Exchange, ...] = ()) -> Check | None:
    """The check a decoded line tells of, if it tells of one; ``before`` are its earlier exchanges."""
    if row.check is None:
        return None
    said = {f: getattr(row, f) for f in DERIVED}
    said["url"] = row.http.url if row.http is not None else ""
    own = {f: v for f in _CHECK if f not in ("name", "exchanges") and (v := getattr(row.check, f)) is not UNSET}
    exchanges = before if row.http is None else (*before, row.http)
    return Check(**{"name": row.name, **said, **own, "exchanges": exchanges})


def host_members(host: HostState) -> dict[str, Any]:
    """The members of an ``o`` line."""
    given = msgspec.structs.asdict(host)
    return {f: v for f, v in given.items() if f != "key" and v != _HOST[f]}


def host_of(raw: bytes) -> HostState:
    """The host state in an ``o`` line."""
    return HostState(**msgspec.structs.asdict(_decode_host(raw)))
