"""What the engine tells the world, once it is on disk."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from watcher.core.history import Check
from watcher.core.model import Changes, Failure
from watcher.core.news import News


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A check ended and its line is durable. ``news`` is set when it is worth telling, ``changes`` says what moved."""

    check: Check
    news: News | None = None
    changes: Changes = ()
    message: str = ""


class Started(msgspec.Struct, frozen=True):
    """A check of ``name`` has begun."""

    name: str


class StateChanged(msgspec.Struct, frozen=True):
    """Something else than a check moved these watches (pause, seen, reload, another process)."""

    names: tuple[str, ...]


class Reloaded(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration was read again; on errors the old one stays in force. ``edited`` watches say something else."""

    errors: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()


class EngineFailed(msgspec.Struct, frozen=True):
    """The loop itself stopped; ``failure`` says why and what to do."""

    failure: Failure


class Draining(msgspec.Struct, frozen=True):
    """Quit was asked for; ``left`` checks are still being finished."""

    left: int


class Stopped(msgspec.Struct, frozen=True):
    """The loop has ended and everything is on disk."""


__all__ = ["Checked", "Draining", "EngineFailed", "Event", "News", "Reloaded", "Started", "StateChanged", "Stopped"]

Event: TypeAlias = Checked | Started | StateChanged | Reloaded | EngineFailed | Draining | Stopped
