"""A loopback origin that misbehaves on purpose: one scenario per path, raw sockets, nothing repairs what it sends."""

from __future__ import annotations

from tests.support.badserver import answers, bodies, conditions
from tests.support.badserver.server import BadServer, Reply, Seen

__all__ = ["BadServer", "Reply", "Seen", "answers", "bodies", "conditions"]
