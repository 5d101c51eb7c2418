"""The shapes of lines, derived from the core's values.

Fields of UrlState, Validators, Check and HostState that are not named here travel under their own names, so
that the core can grow without this file. Members left at their default are not written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from watcher.core.exchange import Exchange
from watcher.core.history import Check
from watcher.core.model import Status
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
"""What every ``s`` and ``a`` line says in full (a missing member means the default): the schedule and the summary.
``status`` is ``ok`` and ``last_seen`` the same as ``last_fetched_at`` unless said otherwise."""

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
}
DERIVED: Final = {
    "at": ("at", "last_fetched_at"),
    "outcome": ("out", "outcome"),
    "status": ("st", "http_status"),
    "interval": ("ivl", "check_interval"),
    "next_check_at": ("nxt", "next_check_at"),
    "reason": ("why", "reason"),
}
"""Check fields that the line's own members already say, unless the state says otherwise: member, UrlState field."""

Fields = Mapping[str, tuple[str, Any, Any]]
"""Attribute -> member, type, default."""


def defaults(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Field -> default; ``NODEFAULT`` where there is none."""
    out = {}
    for info in msgspec.structs.fields(struct):
        factory = info.default_factory
        out[info.name] = factory() if callable(factory) else info.default
    return out


def _types(struct: type[msgspec.Struct]) -> dict[str, Any]:
    return {info.name: info.type for info in msgspec.structs.fields(struct)}


def _make(name: str, fields: Fields) -> Any:
    made = [(attr, kind, msgspec.field(name=wire, default=value)) for attr, (wire, kind, value) in fields.items()]
    return msgspec.defstruct(name, made, frozen=True, gc=False, omit_defaults=True)


def getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Several attributes at once, as a tuple whatever their number."""
    one = attrgetter(*names)
    return one if len(names) > 1 else lambda value: (one(value),)


STATE_DEFAULTS: Final = defaults(UrlState)
_STATE_TYPES = _types(UrlState)
_SET_APART = ("name", "url", "record", "validators", "last_seen")
HOT_FIELDS: Final = tuple(f for f in HOT if f not in _SET_APART)
COLD_FIELDS: Final = tuple(f for f in STATE_DEFAULTS if f not in HOT and f not in _SET_APART)
COLD: Final = {**{f: SHORT.get(f, f) for f in COLD_FIELDS}, "validators": "val"}
"""The fields an ``a`` line names only where they differ, or once differed, from the ``s`` line it builds on."""
WIRE: Final = {wire: name for name, wire in COLD.items()}

_hot: Fields = {f: (HOT[f], _STATE_TYPES[f], Status.OK if f == "status" else STATE_DEFAULTS[f]) for f in HOT_FIELDS}
_seen: Fields = {"last_seen": ("seen", float | None | UnsetType, UNSET)}
_cold: Fields = {f: (COLD[f], _STATE_TYPES[f], STATE_DEFAULTS[f]) for f in COLD_FIELDS}
_cold_named: Fields = {f: (COLD[f], _STATE_TYPES[f] | UnsetType, UNSET) for f in COLD_FIELDS}
_record: Fields = {
    "values": ("rec", dict[str, Any] | None, None),
    "fingerprint": ("fp", str, ""),
    "definition": ("def", str, ""),
    "untracked": ("unt", tuple[str, ...], ()),
    "personal": ("pers", tuple[str, ...], ()),
    "notes": ("notes", tuple[str, ...], ()),
}
_own: Fields = {f: (CHECK.get(f, f), t, defaults(Check)[f]) for f, t in _types(Check).items() if f not in DERIVED}
CHECK_FIELDS: Final = tuple(
    sorted(
        (f for f in _own if f not in ("name", "url", "exchanges")), key=lambda f: (f not in CHECK, [*CHECK, f].index(f))
    )
)

CheckMembers: Final = _make(
    "CheckMembers",
    {
        **{f: _own[f] for f in CHECK_FIELDS},
        "url": ("url", str | UnsetType, UNSET),
        **{f: (wire, _types(Check)[f] | UnsetType, UNSET) for f, (wire, _) in DERIVED.items()},
    },
)
_validators: Fields = {
    "etag": ("etag", str | None, None),
    "last_modified": ("lm", str | None, None),
    "rest": ("val", Validators | None, None),
}
_check: Fields = {"check": ("check", CheckMembers | None, None), "http": ("http", Exchange | None, None)}
_numbers: Fields = {"n": ("n", int, 0), "base": ("b", int, 0)}
_marks: Fields = {"ver": ("ver", bool, False), "cls": ("cls", str, "default")}
_url: Fields = {"url": ("url", str | None, None)}

_head: Fields = {"kind": ("k", str | UnsetType, UNSET), "key": ("w", str | UnsetType, UNSET)}
FullMembers: Final = _make(
    "FullMembers", {**_head, **_numbers, **_marks, **_hot, **_seen, **_url, **_cold, **_validators, **_record, **_check}
)
DeltaMembers: Final = _make(
    "DeltaMembers",
    {**_head, **_numbers, **_hot, **_seen, **_cold_named, **_validators, "fingerprint": ("fp", str, ""), **_check},
)
LoneMembers: Final = _make("LoneMembers", {**_head, **_numbers, **_check})
HostMembers: Final = _make(
    "HostMembers",
    {
        **_head,
        "n": ("n", int, 0),
        **{f: (f, t, defaults(HostState)[f]) for f, t in _types(HostState).items() if f != "key"},
    },
)


def _untouched(name: str, fields: Fields) -> Any:
    """The same members, each left as the bytes it is; what a line does not say is ``UNSET``."""
    return _make(name, {f: (wire, msgspec.Raw | UnsetType, UNSET) for f, (wire, _, _) in fields.items()})


_fold: Fields = {"n": ("n", Any, 0), "base": ("b", Any, 0), "sticky": ("d", Any, 0), "lost": ("lost", Any, 0)}
_kept: Fields = {**_fold, "cls": _marks["cls"], **_hot, **_seen, **_url, **_cold, **_validators, **_record}
FullBytes: Final = _untouched("FullBytes", _kept)
"""An ``s`` line as snapshots keep it, undecoded."""
DeltaBytes: Final = _untouched("DeltaBytes", {**_numbers, **_hot, **_seen, **_cold, **_validators})
"""An ``a`` line without its check, undecoded."""

_name: Fields = {"name": ("w", str, "")}
FullLine: Final = _make(
    "FullLine",
    {
        **_name,
        **_hot,
        **_seen,
        **_url,
        **_cold,
        **_validators,
        **_record,
    },
)
DeltaLine: Final = _make("DeltaLine", {**_name, **_hot, **_seen, **_cold_named, **_validators})
HostLine: Final = _make(
    "HostLine",
    {
        f: ("w" if f == "key" else f, t, "" if f == "key" else defaults(HostState)[f])
        for f, t in _types(HostState).items()
    },
)
CheckLine: Final = _make(
    "CheckLine",
    {
        **_name,
        **_numbers,
        **{f: (wire, _STATE_TYPES[own], STATE_DEFAULTS[own]) for f, (wire, own) in DERIVED.items()},
        **_check,
    },
)
RECORD_FIELDS: Final = tuple(RECORD)
