"""News that leaves the program: rules, messages, and deliveries that survive a crash and are never made twice."""

from __future__ import annotations

from watcher.notify.outbox import Outbox, Reveal
from watcher.notify.standing import troubles

__all__ = ["Outbox", "Reveal", "troubles"]
