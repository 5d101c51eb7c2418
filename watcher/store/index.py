"""What is always in memory: one packed row a watch (about 140 bytes beside its name), and where its lines are."""

from __future__ import annotations

import struct
from collections.abc import ItemsView, Iterator, Mapping
from math import isnan, nan
from typing import Final, NamedTuple, cast

from watcher.core.model import Outcome, Status
from watcher.core.state import Summary

STATUSES: Final = tuple(Status)
OUTCOMES: Final = (None, *Outcome)
STATUS_CODE: Final = {str(s): i for i, s in enumerate(STATUSES)}
OUTCOME_CODE: Final = {None if o is None else str(o): i for i, o in enumerate(OUTCOMES)}

PLACES: Final = struct.Struct("<IQIIQI")
ROW: Final = struct.Struct("<IQIIQIQQBBBHIIddddd")


class Place(NamedTuple):
    """A line on disk: the file's number (see :func:`watcher.store.layout.file_id`), offset and length."""

    file: int
    offset: int
    size: int


class Row(NamedTuple):
    """One watch. ``full`` is the place of its ``s`` line, ``delta`` of the newest ``a`` line on top of it.

    ``n`` numbers the newest line, ``base`` the ``s`` line that deltas are told against. ``summary`` is
    None in an index of places only.
    """

    full: Place | None
    delta: Place | None
    n: int = 0
    base: int = 0
    summary: Summary | None = None


def pack(name: str, full: Place | None, delta: Place | None, n: int, base: int, summary: Summary) -> bytes:
    """The packed form of a row; the URL follows where it is not the name itself."""
    own = b"" if summary.url == name else summary.url.encode("utf-8", "surrogatepass")
    return _pack_raw(full or _NOWHERE, delta or _NOWHERE, n, base, _codes(summary), _times(summary)) + own


_NOWHERE: Final = Place(0, 0, 0)


def _codes(s: Summary) -> tuple[int, ...]:
    outcome = OUTCOME_CODE[None if s.outcome is None else str(s.outcome)]
    return (STATUS_CODE[str(s.status)], outcome, s.paused, s.http_status, s.unchanged_streak, s.failures)


def _times(s: Summary) -> tuple[float, ...]:
    held = (s.next_check_at, s.last_fetched_at, s.last_changed_at, s.seen_at)
    return (s.check_interval, *(nan if t is None else t for t in held))


def _pack_raw(full: Place, delta: Place, n: int, base: int, codes: tuple[int, ...], times: tuple[float, ...]) -> bytes:
    return ROW.pack(*full, *delta, n, base, *codes, *times)


def unpack(name: str, packed: bytes) -> Row:
    """The row behind its packed form."""
    if len(packed) == PLACES.size:
        fields = PLACES.unpack(packed)
        return Row(_place(fields[:3]), _place(fields[3:]))
    return Row(*_head(packed), summary=summarise(name, packed))


def _place(fields: tuple[int, ...]) -> Place | None:
    return Place(*fields) if fields[0] else None


def _head(packed: bytes) -> tuple[Place | None, Place | None, int, int]:
    f = ROW.unpack_from(packed)
    return _place(f[0:3]), _place(f[3:6]), f[6], f[7]


def newest(packed: bytes | None) -> int | None:
    """The number of a row's newest line; 0 in an index of places only."""
    return None if packed is None else ROW.unpack_from(packed)[6] if len(packed) >= ROW.size else 0


def summarise(name: str, packed: bytes) -> Summary:
    """The summary in a packed row."""
    f = ROW.unpack_from(packed)
    return Summary(
        url=packed[ROW.size :].decode("utf-8", "surrogatepass") if len(packed) > ROW.size else name,
        status=STATUSES[f[8]],
        outcome=OUTCOMES[f[9]],
        paused=bool(f[10]),
        http_status=f[11],
        unchanged_streak=f[12],
        failures=f[13],
        check_interval=f[14],
        next_check_at=None if isnan(f[15]) else f[15],
        last_fetched_at=None if isnan(f[16]) else f[16],
        last_changed_at=None if isnan(f[17]) else f[17],
        seen_at=None if isnan(f[18]) else f[18],
    )


class Summaries(Mapping[str, Summary]):
    """The summaries by name, made on demand from the packed rows; a live view."""

    def __init__(self, rows: dict[str, bytes]) -> None:
        self._rows = rows

    def __getitem__(self, name: str) -> Summary:
        return summarise(name, self._rows[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def items(self) -> ItemsView[str, Summary]:
        return cast(ItemsView[str, Summary], _Items(self))


class _Items(ItemsView[str, Summary]):
    """Pairs without a second look-up a row."""

    _mapping: Summaries

    def __iter__(self) -> Iterator[tuple[str, Summary]]:
        for name, packed in self._mapping._rows.items():
            yield name, summarise(name, packed)
