"""What the watches of one host have in common: how fast its pages change, and in which hours.

A host publishes by its own rhythm and its pages resemble each other, so the little that is known of one page is
completed by the others. Kept in memory only: it is a sum over what each watch journals.
"""

from __future__ import annotations

import math

from watcher.core.evidence import PRIOR_CHANGES, PRIOR_HOURS, Evidence, Surroundings
from watcher.core.rhythm import BINS, FLAT, Sums, shape_of, unpacked

STRANGERS = 3.0
"""How many pages of its own a host needs to count as much as the prior for all pages."""

BELIEF = 0.35
"""How many changes of its own a page needs to count as much as what its host suggests."""

REFRESH = 16
"""Pieces of evidence after which a host's shape is computed again."""

_BASE = math.log(PRIOR_CHANGES / PRIOR_HOURS)


class _Host:
    """The sums over one host's watches."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[float, bytes]] = {}
        self.log_rates = 0.0
        self.sums = [0] * (2 * BINS)
        self.shape: Sums = FLAT
        self.stale = 0


class Neighbours:
    """Every host's common evidence. :meth:`put` what a watch knows, ask :meth:`around` about it."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Host] = {}

    def put(self, host: str, name: str, evidence: Evidence) -> None:
        """``name`` on ``host`` knows ``evidence`` now, instead of what it knew before."""
        at = self._hosts.setdefault(host, _Host())
        log_rate, hours = at.known.get(name, (0.0, b""))
        now = math.log(evidence.rate)
        at.known[name] = now, evidence.rhythm
        at.log_rates += now - log_rate
        if evidence.rhythm != hours:
            new, old = unpacked(evidence.rhythm), unpacked(hours)
            at.sums = [total + n - o for total, n, o in zip(at.sums, new, old, strict=True)]
            at.stale += 1

    def drop(self, host: str, name: str) -> None:
        """Forget ``name``."""
        at = self._hosts.get(host)
        if at is not None and name in at.known:
            log_rate, hours = at.known.pop(name)
            at.log_rates -= log_rate
            at.sums = [total - old for total, old in zip(at.sums, unpacked(hours), strict=True)]
            at.stale += 1

    def around(self, host: str, name: str) -> Surroundings:
        """What the host's other watches suggest about the rate of ``name``, and all of them about the hours."""
        at = self._hosts.get(host)
        if at is None:
            return Surroundings()
        own = at.known.get(name)
        others = len(at.known) - (own is not None)
        total = at.log_rates - (own[0] if own else 0.0)
        rate = math.exp((total + STRANGERS * _BASE) / (others + STRANGERS))
        if at.stale >= REFRESH:
            at.shape = shape_of(at.sums)
            at.stale = 0
        return Surroundings(prior_changes=BELIEF, prior_hours=BELIEF / rate, shape=at.shape)
