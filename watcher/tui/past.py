"""The last checks of watches that were looked at, kept in memory: reading them means reading the journal."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence

from watcher.core.history import Check
from watcher.engine.handle import Handle

KEPT = 60
"""Checks kept of one watch."""
WATCHES = 64
"""Watches kept; the one longest not looked at goes first."""
WINDOW = 14 * 86_400.0
"""Seconds of the journal that are read."""


class Past:
    """The last checks by watch, oldest first. Bounded, whatever happens."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._known: OrderedDict[str, deque[Check]] = OrderedDict()

    def known(self, name: str) -> Sequence[Check] | None:
        """The checks of ``name`` if they were read before; never reads."""
        found = self._known.get(name)
        return None if found is None else list(found)

    def read(self, name: str) -> Sequence[Check]:
        """The checks of ``name``, read from the journal the first time."""
        if name not in self._known:
            since = self._handle.now() - WINDOW
            self._known[name] = deque(self._handle.checks(name, since=since), maxlen=KEPT)
            while len(self._known) > WATCHES:
                self._known.popitem(last=False)
        self._known.move_to_end(name)
        return list(self._known[name])

    def add(self, checks: Iterable[Check]) -> None:
        """Take in checks that just ended."""
        for check in checks:
            if check.name in self._known:
                self._known[check.name].append(check)
