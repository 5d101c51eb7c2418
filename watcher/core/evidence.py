"""What a watch's past checks say about its rate of change. Every policy writes the same, so a switch loses nothing."""

from __future__ import annotations

import math

import msgspec

from watcher.core import rhythm
from watcher.core.phrase import HOUR, WEEK
from watcher.core.rhythm import FLAT, Sums

HALF_LIFE = 21 * 24.0
"""Hours after which an observation weighs half (SCHEDULE section 5: 7 d and no forgetting at all score worse)."""

PRIOR_CHANGES = 0.5
PRIOR_HOURS = 240.0


class Evidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Faded sums over a watch's checks: ``changes`` seen, and the ``hours`` of exposure they were seen in.

    ``rhythm`` holds the hours of the week that changes fell into (:mod:`watcher.core.rhythm`), empty until a
    change could be placed; ``since_at`` is when the watching began.
    """

    changes: float = 0.0
    hours: float = 0.0
    rhythm: bytes = b""
    since_at: float | None = None

    @property
    def rate(self) -> float:
        """Changes an hour: the posterior mean under the prior of half a change in 240 hours."""
        return (PRIOR_CHANGES + self.changes) / (PRIOR_HOURS + self.hours)

    def rate_among(self, around: Surroundings) -> float:
        """Changes an hour under the prior that the host's other watches suggest."""
        return (around.prior_changes + self.changes) / (around.prior_hours + self.hours)


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What the other watches of a host suggest about one of which little is known yet."""

    prior_changes: float = PRIOR_CHANGES
    prior_hours: float = PRIOR_HOURS
    shape: Sums = FLAT


ALONE = Surroundings()


def learn(
    known: Evidence,
    *,
    at: float,
    gap: float | None,
    changed: bool | None,
    modified_at: float | None = None,
    around: Surroundings = ALONE,
) -> Evidence:
    """``known`` and one more check: ``gap`` seconds after the one before, which ``changed`` or not.

    A change counts once however many there were, which keeps a page that always changes from being
    abandoned (SCHEDULE section 2). A believable ``modified_at`` (Last-Modified) makes the exposure exact.
    The first check has no gap: it teaches only through ``modified_at``. ``changed=None`` teaches nothing else.
    """
    if gap is None:
        return _first(known, at, modified_at)
    if changed is None or gap <= 0:
        return known
    exact = modified_at if changed and modified_at is not None and at - gap < modified_at <= at else None
    fade = 0.5 ** (gap / HOUR / HALF_LIFE)
    hours = known.rhythm
    if exact is not None or gap <= rhythm.LONGEST_GAP:
        hours = rhythm.learned(hours, at=at, gap=gap, changed=changed, exact_at=exact, base=around.shape)
    return Evidence(
        changes=known.changes * fade + changed,
        hours=known.hours * fade + (gap if exact is None else at - exact) / HOUR,
        rhythm=hours,
        since_at=at - gap if known.since_at is None else known.since_at,
    )


def has_rhythm(known: Evidence, at: float, around: Surroundings) -> bool:
    """Whether hours may be told apart: from the second week on, where the watch or its host has shown any."""
    watched = known.since_at is not None and at - known.since_at >= WEEK
    return watched and (bool(known.rhythm) or around.shape is not FLAT)


def _first(known: Evidence, at: float, modified_at: float | None) -> Evidence:
    """One change at ``modified_at`` and quiet since, faded as if it had been watched all along."""
    if modified_at is None or modified_at > at:
        return msgspec.structs.replace(known, since_at=at)
    fade = 0.5 ** ((at - modified_at) / HOUR / HALF_LIFE)
    return Evidence(changes=fade, hours=(1 - fade) * HALF_LIFE / math.log(2), since_at=at)
