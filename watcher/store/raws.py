"""Lines made from lines without building the values in them: each member stays the bytes it was."""

from __future__ import annotations

from typing import Final

import msgspec

from watcher.store import lines
from watcher.store.mirror import HOT, WIRE

Members = dict[str, msgspec.Raw]

_decode = msgspec.json.Decoder(Members).decode
_decode_names = msgspec.json.Decoder(tuple[str, ...]).decode
_encode = msgspec.json.Encoder().encode

_FRAME: Final = ("k", "w", "c")
_CHECK: Final = ("check", "http")
_OWN: Final = frozenset({*_FRAME, *_CHECK, "n", "b", "d", "fp", "ver"})
_VALIDATORS: Final = frozenset({"etag", "lm", "val"})
_REPLACED: Final = frozenset({*HOT.values(), *_CHECK, "ver", "n", "b", "d", "lost"})
_TRUE: Final = msgspec.Raw(b"true")


def members(raw: bytes) -> Members:
    """The members of a keyed line, undecoded, without its kind, key and checksum. Raises msgspec.MsgspecError."""
    found = _decode(raw)
    for frame in _FRAME:
        found.pop(frame, None)
    return found


def rebuild(raw: bytes, found: Members, kind: bytes | None = None) -> bytes:
    """The line ``raw`` with other members (and perhaps of another kind), sealed anew."""
    head = b'{"k":"%b"%b' % (kind or raw[6:7], raw[8 : lines.key_end(raw) + 1])
    return lines.seal(head, _encode(found))


def without(raw: bytes, *names: str) -> bytes:
    """The line without some members."""
    found = members(raw)
    for name in names:
        found.pop(name, None)
    return rebuild(raw, found)


def snapshot_line(full: bytes) -> bytes:
    """An ``s`` line as a snapshot keeps it: the state, without the check that led to it."""
    return without(full, *_CHECK, "ver")


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
    return rebuild(full, found)


def fold(full: bytes | None, delta: bytes) -> bytes:
    """One ``s`` line that says what ``full`` and then ``delta`` say.

    It keeps the number of the ``s`` line deltas build on (``b``) and the cold members named since (``d``), so
    that an ``a`` line written on top of ``full`` is as right on top of this one. Where the two do not fit, a line
    between them was lost: the schedule is the delta's, and ``lost`` marks the watch as suspect.
    """
    change = members(delta)
    found = members(full) if full is not None else {}
    base = found.get("b") or found.get("n")
    named = {w for w in change if w in WIRE}
    if "d" in found:
        named.update(_decode_names(found["d"]))
    head: Members = {"n": change["n"], "b": base or change.get("b", change["n"])}
    if named:
        head["d"] = msgspec.Raw(_encode(sorted(named)))
    if base is None or change.get("b") != base or "lost" in found:
        head["lost"] = _TRUE
    replaced = _REPLACED | _VALIDATORS if "val" in change else _REPLACED
    head |= {name: value for name, value in found.items() if name not in replaced}
    head |= {name: value for name, value in change.items() if name not in _OWN}
    return rebuild(delta, head, b"s")
