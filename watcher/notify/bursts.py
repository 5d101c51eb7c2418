"""One digest instead of a burst: how many messages a destination gets, and when the next one may go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

WINDOW = 600.0
"""Seconds that make a burst: within them, one destination gets at most ``digest_after`` messages."""

T = TypeVar("T")


def recent(sent: Sequence[float], now: float) -> list[float]:
    """The instants among ``sent`` that still count, in order. What a wrong clock put into the future never does."""
    return sorted(at for at in sent if at <= now < at + WINDOW)


def portions(ready: Sequence[T], sent: Sequence[float], now: float, digest_after: int) -> list[Sequence[T]]:
    """``ready`` news as the messages to send now: each alone while there is room for all, else one digest.

    ``sent`` are the instants of this destination's messages so far. Without room for one more nothing goes,
    until :func:`free_at`.
    """
    room = digest_after - len(recent(sent, now))
    if room <= 0 or not ready:
        return []
    return [[news] for news in ready] if len(ready) <= room else [ready]


def free_at(sent: Sequence[float], now: float, digest_after: int) -> float:
    """The first instant, ``now`` or later, at which one more message may go."""
    times = recent(sent, now)
    return now if len(times) < digest_after else times[-digest_after] + WINDOW
