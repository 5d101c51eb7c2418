"""What was known, and when: the rows of a watch's history and the answer to ``--as-of``."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from watcher.core.exchange import Exchange
from watcher.core.model import Failure, Outcome, Record

VERSIONS = frozenset({Outcome.FIRST, Outcome.CHANGED, Outcome.RETURNED, Outcome.REDEFINED, Outcome.GONE})
"""Outcomes that make a row of history."""


class Version(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row of history: at ``at`` the watch reached ``outcome`` and this record (personal fields left out).

    ``first``, ``changed``, ``returned`` and ``redefined`` carry a record; ``gone`` carries the last one known.
    """

    name: str
    at: float
    outcome: Outcome
    record: Record | None = None
    body: str | None = None
    seq: int = 0


class Known(StrEnum):
    """What kind of knowledge ``--as-of`` found."""

    UNKNOWN = "unknown"
    IN_FORCE = "in_force"
    GONE = "gone"


class AsOf(msgspec.Struct, frozen=True, kw_only=True):
    """The record in force at an instant: reached at ``unchanged_since``, last confirmed at ``confirmed_at``."""

    known: Known
    version: Version | None = None
    unchanged_since: float | None = None
    confirmed_at: float | None = None


class Check(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One check as the journal holds it: the material of the four numbers, of ``simulate`` and of the activity screen.

    ``gap`` is the time since the check before (seconds); ``modified_at`` is Last-Modified as an instant.
    ``silent`` marks re-extraction runs and other checks that no number counts.
    """

    name: str
    url: str
    at: float
    outcome: Outcome
    status: int = 0
    gap: float | None = None
    interval: float = 0.0
    next_check_at: float | None = None
    modified_at: float | None = None
    conditional: str | None = None
    policy: str = ""
    reason: str = ""
    bytes_wire: int = 0
    bytes_body: int = 0
    changed_fields: tuple[str, ...] = ()
    failure: Failure | None = None
    flags: tuple[str, ...] = ()
    silent: bool = False
    exchanges: tuple[Exchange, ...] = ()
