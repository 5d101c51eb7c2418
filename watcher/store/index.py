"""What is always in memory: one packed row a watch (about 140 bytes beside its name), and where its lines are."""

from __future__ import annotations

import struct
from collections.abc import Callable, ItemsView, Iterator, Mapping
from math import isnan, nan
from typing import Final, NamedTuple

from watcher.core.model import Outcome, Status
from watcher.core.state import Summary, UrlState

STATUSES: Final = tuple(Status)
OUTCOMES: Final = (None, *Outcome)
STATUS_CODE: Final[dict[str, int]] = {str(s): i for i, s in enumerate(STATUSES)}
OUTCOME_CODE: Final[dict[str | None, int]] = {None if o is None else str(o): i for i, o in enumerate(OUTCOMES)}

PLACES: Final = struct.Struct("<IQIIQI")
ROW: Final = struct.Struct("<IQIIQIQQBBBHIIddddd")


class Place(NamedTuple):
    """A line on disk: the file's number (see :func:`watcher.store.layout.file_id`), offset and length."""

    file: int
    offset: int
    size: int


def pack(places: tuple[int, ...], n: int, base: int, state: UrlState) -> bytes:
    """The packed form of a row; the URL follows where it is not the name itself."""
    nxt, at, chg, read = state.next_check_at, state.last_fetched_at, state.last_changed_at, state.seen_at
    row = ROW.pack(
        *places,
        n,
        base,
        STATUS_CODE[state.status],
        OUTCOME_CODE[state.outcome],
        state.paused,
        state.http_status,
        state.unchanged_streak,
        state.failures,
        state.check_interval,
        nan if nxt is None else nxt,
        nan if at is None else at,
        nan if chg is None else chg,
        nan if read is None else read,
    )
    return row if state.url == state.name else row + state.url.encode("utf-8")


def places(packed: bytes) -> tuple[Place | None, Place | None]:
    """Where a row's ``s`` line is, and the newest ``a`` line on top of it."""
    f = PLACES.unpack_from(packed)
    return Place(f[0], f[1], f[2]) if f[0] else None, Place(f[3], f[4], f[5]) if f[3] else None


def newest(packed: bytes | None) -> int | None:
    """The number of a row's newest line; 0 in an index of places only."""
    return None if packed is None else ROW.unpack_from(packed)[6] if len(packed) >= ROW.size else 0


def base_of(packed: bytes) -> int:
    """The number of the ``s`` line that a row's deltas are told against."""
    return int(ROW.unpack_from(packed)[7])


def url_of(name: str, packed: bytes) -> str:
    """A row's URL, which is the name where none is packed."""
    return packed[ROW.size :].decode() if len(packed) > ROW.size else name


def summarise(name: str, packed: bytes) -> Summary:
    """The summary in a packed row."""
    f = ROW.unpack_from(packed)
    return Summary(
        url=url_of(name, packed),
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


def summary_of(state: UrlState) -> Summary:
    """The narrow part of a state."""
    return Summary(**{field: getattr(state, field) for field in Summary.__struct_fields__})


class Summaries(Mapping[str, Summary]):
    """The summaries by name, made on demand from the packed rows; a live view.

    ``far`` reads one from disk, for an index of places only.
    """

    def __init__(self, rows: dict[str, bytes], far: Callable[[str], Summary]) -> None:
        self._rows = rows
        self._far = far

    def __getitem__(self, name: str) -> Summary:
        return self._of(name, self._rows[name])

    def _of(self, name: str, packed: bytes) -> Summary:
        return summarise(name, packed) if len(packed) >= ROW.size else self._far(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def items(self) -> ItemsView[str, Summary]:
        return _Items(self)


class _Items(ItemsView[str, Summary]):
    """Pairs without a second look-up a row."""

    _mapping: Summaries

    def __iter__(self) -> Iterator[tuple[str, Summary]]:
        for name, packed in self._mapping._rows.items():
            yield name, self._mapping._of(name, packed)
