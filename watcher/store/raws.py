"""Lines made from lines without building the values in them: each member stays the bytes it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import UNSET

from watcher.store import lines, mirror
from watcher.store.mirror import getter

Members = dict[str, msgspec.Raw]

_decode = msgspec.json.Decoder(Members).decode
_decode_names = msgspec.json.Decoder(tuple[str, ...]).decode
_encode = msgspec.json.Encoder().encode

_FRAME: Final = ("k", "w", "c")
_CHECK: Final = ("check", "http")
_TRUE: Final = msgspec.Raw(b"true")
_full: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(mirror.FullBytes).decode
_delta: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(mirror.DeltaBytes).decode
_hot = getter((*mirror.HOT_FIELDS, "last_seen"))
_cold = getter(mirror.COLD_FIELDS)
_validators = getter(("etag", "last_modified", "rest"))
_record = getter(mirror.RECORD_FIELDS)
_COLD_WIRES: Final = tuple(mirror.COLD[f] for f in mirror.COLD_FIELDS)
_skim: Final = msgspec.json.Decoder(msgspec.Raw).decode
_EMPTY: Final = mirror.FullBytes()


def members(raw: bytes) -> Members:
    """The members of a keyed line, undecoded, without its kind, key and checksum. Raises msgspec.MsgspecError."""
    found = _decode(raw)
    for frame in _FRAME:
        found.pop(frame, None)
    return found


def _rebuild(raw: bytes, found: object, kind: bytes | None = None) -> bytes:
    """The line ``raw`` with other members (and perhaps of another kind), sealed anew."""
    return lines.seal(b'{"k":"%b%b' % (kind or raw[6:7], raw[7 : lines.key_end(raw) + 1]), _encode(found))


def without(raw: bytes, *names: str) -> bytes:
    """The line without some members."""
    found = members(raw)
    for name in names:
        found.pop(name, None)
    return _rebuild(raw, found)


def snapshot_line(full: bytes) -> bytes:
    """An ``s`` line as a snapshot keeps it: the state, without the check that led to it."""
    # The check stands last, so it can be cut off; what looked like one inside a record leaves no JSON, and is read.
    cut = full.rfind(b',"check":{')
    if cut < 0:
        return full
    body = full[:cut]
    try:
        _skim(body + b"}")
    except msgspec.MsgspecError:
        return _rebuild(full, _full(full))
    return lines.seal(body, b"{}")


def history_line(full: bytes) -> bytes:
    """An ``s`` line as history keeps it: without the check, and without the values of personal fields."""
    found = members(full)
    for name in _CHECK:
        found.pop(name, None)
    if "pers" in found and "rec" in found:
        record = _decode(found["rec"])
        for personal in _decode_names(found["pers"]):
            record.pop(personal, None)
        found["rec"] = msgspec.Raw(_encode(record))
    return _rebuild(full, found)


def fold(full: bytes | None, delta: bytes) -> bytes:
    """One ``s`` line that says what ``full`` and then ``delta`` say.

    It keeps the number of the ``s`` line deltas build on (``b``) and the cold members named since (``d``), so
    that an ``a`` line written on top of ``full`` is as right on top of this one. Where the two do not fit, a line
    between them was lost: the schedule is the delta's, and ``lost`` marks the watch as suspect.
    """
    change, found = _delta(delta), _EMPTY if full is None else _full(full)
    base = found.n if found.base is UNSET else found.base
    fits = found.lost is UNSET and base is not UNSET and base == change.base
    cold, named = list(_cold(found)), set()
    for at, value in enumerate(_cold(change)):
        if value is not UNSET:
            cold[at] = value
            named.add(_COLD_WIRES[at])
    held = _validators(found)
    if change.rest is not UNSET:
        held = _validators(change)
        named.add("val")
    if found.sticky is not UNSET:
        named.update(_decode_names(found.sticky))
    members = mirror.FullBytes(
        change.n,
        change.base if base is UNSET else base,
        msgspec.Raw(_encode(sorted(named))) if named else UNSET,
        UNSET if fits else _TRUE,
        found.cls,
        *_hot(change),
        found.url,
        *cold,
        *held,
        *_record(found),
    )
    return _rebuild(delta, members, b"s")
