"""The memory of hosts, lent to a fetcher that must not write."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watcher.core.state import HostState
    from watcher.store import Store


class Borrowed:
    """What the store knows of hosts, so that a host that asked us to wait is left alone; nothing goes back to it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._bodies: dict[str, bytes] = {}

    def hosts(self) -> dict[str, HostState]:
        """Every host state by key."""
        return self._store.hosts()

    def body(self, digest: str) -> bytes | None:
        """A stored body, or one of this process."""
        return self._bodies.get(digest) or self._store.body(digest)

    def put_body(self, data: bytes) -> str:
        """Remember a body until the process ends."""
        digest = hashlib.sha256(data).hexdigest()
        self._bodies[digest] = data
        return digest
