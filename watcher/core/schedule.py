"""When to ask again. Pure: every policy is a function of the cadence, the interval so far and one observation."""

from __future__ import annotations

import msgspec

from watcher.core.model import Cadence


class Evidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a watch's past checks say about its rate of change (SCHEDULE.md section 5): faded changes and hours."""

    changes: float = 0.0
    hours: float = 0.0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The next check: the interval (seconds), when it is due, one sentence why, and the evidence so far."""

    interval: float
    due_at: float
    reason: str
    evidence: Evidence = Evidence()


def clamp(interval: float, cadence: Cadence, floor: float) -> float:
    """Bring ``interval`` (seconds) within the cadence's weighted bounds; ``floor`` (the host's) always wins."""
    low, high = cadence.minimum * cadence.weight, cadence.maximum * cadence.weight
    return max(min(max(interval, low), high), floor)
