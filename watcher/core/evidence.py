"""What a watch's past checks say about its rate of change. Every policy writes the same, so a switch loses nothing."""

from __future__ import annotations

import math

import msgspec

from watcher.core.phrase import HOUR

HALF_LIFE = 21 * 24.0
"""Hours after which an observation weighs half (SCHEDULE section 5: 7 d and no forgetting at all score worse)."""

PRIOR_CHANGES = 0.5
PRIOR_HOURS = 240.0


class Evidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Faded sums over a watch's checks: ``changes`` seen, and the ``hours`` of exposure they were seen in."""

    changes: float = 0.0
    hours: float = 0.0

    @property
    def rate(self) -> float:
        """Changes an hour: the posterior mean under the prior of half a change in 240 hours."""
        return (PRIOR_CHANGES + self.changes) / (PRIOR_HOURS + self.hours)


def learn(
    known: Evidence, *, at: float, gap: float | None, changed: bool | None, modified_at: float | None = None
) -> Evidence:
    """``known`` and one more check: ``gap`` seconds after the one before, which ``changed`` or not.

    A change counts once however many there were, which keeps a page that always changes from being
    abandoned (SCHEDULE section 2). A believable ``modified_at`` (Last-Modified) makes the exposure exact.
    The first check has no gap: it teaches only through ``modified_at``. ``changed=None`` teaches nothing else.
    """
    if gap is None:
        return known if modified_at is None or modified_at > at else _from_the_past(at - modified_at)
    if changed is None:
        return known
    exposure = gap
    if changed and modified_at is not None and at - gap < modified_at <= at:
        exposure = at - modified_at
    fade = 0.5 ** (gap / HOUR / HALF_LIFE)
    return msgspec.structs.replace(
        known,
        changes=known.changes * fade + changed,
        hours=known.hours * fade + exposure / HOUR,
    )


def _from_the_past(age: float) -> Evidence:
    """One change ``age`` seconds ago and quiet since, faded as if it had been watched all along."""
    fade = 0.5 ** (age / HOUR / HALF_LIFE)
    return Evidence(changes=fade, hours=(1 - fade) * HALF_LIFE / math.log(2))
