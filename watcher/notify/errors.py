"""Why a notice was not delivered."""

from __future__ import annotations


class NotDelivered(Exception):
    """The destination did not take a message. ``str()`` is one sentence and repeats no secret."""
