"""What we know of each host, in memory: waits, budget, robots.txt. The engine persists what changed with each check."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from watcher.core.freshness import LONGEST_WAIT
from watcher.core.model import Finding
from watcher.core.phrase import DAY, HOUR
from watcher.core.settings import HostSettings
from watcher.core.state import HostState

COOL_AFTER = 3
COOL_DOWN, COOLEST = 900.0, 6 * HOUR
"""Seconds a host rests after three of its pages failed in a row; doubled at each further failure, up to the second."""

SAVED_EVERY = 50
"""Requests after which a host's count is worth a journal line of its own; a crash forgets at most these."""


class HostBook:
    """The host states. ``load_body`` and ``save_body`` keep bodies (robots.txt) by their hash."""

    def __init__(
        self,
        states: Iterable[HostState] = (),
        *,
        load_body: Callable[[str], bytes | None] | None = None,
        save_body: Callable[[bytes], str] | None = None,
    ) -> None:
        self._states = {state.key: state for state in states}
        self._dirty: set[str] = set()
        self._counted: set[str] = set()
        self._failing: dict[str, set[str]] = {}
        self._bodies: dict[str, bytes] = {}
        self.load_body = load_body or self._bodies.get
        self.save_body = save_body or self._remember

    def _remember(self, body: bytes) -> str:
        name = str(hash(body))
        self._bodies[name] = body
        return name

    def get(self, key: str) -> HostState:
        """The state of ``scheme://host:port``; a new one for a host never met."""
        return self._states.get(key) or HostState(key=key)

    def change(self, key: str, **fields: object) -> HostState:
        """Replace fields of a host's state; a change is handed out by :meth:`take_dirty`."""
        before = self.get(key)
        after = msgspec.structs.replace(before, **fields)
        if after != before:
            self._states[key] = after
            self._dirty.add(key)
        return after

    def take_dirty(self, *, final: bool = False) -> list[HostState]:
        """The states that changed since last asked, to be persisted; ``final`` adds those whose count only moved."""
        keys = self._dirty | self._counted if final else self._dirty
        self._counted -= keys
        self._dirty = set()
        return [self._states[key] for key in sorted(keys)]

    def learn(self, key: str, findings: Iterable[Finding]) -> None:
        """Keep what a page taught about its host, one finding a kind; the first ``since_at`` stays."""
        known = {finding.kind: finding for finding in self.get(key).findings}
        for new in findings:
            old = known.get(new.kind, new)
            known[new.kind] = msgspec.structs.replace(new, since_at=min(old.since_at, new.since_at))
        self.change(key, findings=tuple(known.values()))

    # -- waiting because the host said so

    def hold(self, key: str, until: float, reason: str) -> None:
        """Ask nothing of this host before ``until``. Only ever lengthens a wait."""
        if until > self.get(key).not_before_at:
            self.change(key, not_before_at=until, not_before_reason=reason)

    def held(self, key: str, now: float) -> tuple[float, str] | None:
        """Until when, and why, nothing may be asked of this host; None when it may.

        A wait longer than the longest there is comes from a clock that was wrong: it is over.
        """
        state = self.get(key)
        if now < state.not_before_at <= now + LONGEST_WAIT + HOUR:
            return state.not_before_at, state.not_before_reason
        return None

    def limited(self, key: str, now: float, wait: float | None) -> float:
        """The host answered 429: hold it for ``wait`` seconds, or for 1 h doubling to 24 h. Returns the wait."""
        state = self.get(key)
        wait = min(DAY, HOUR * 2 ** min(state.limited, 8)) if wait is None else wait
        self.change(key, limited=state.limited + 1)
        self.hold(key, now + wait, "the host limits our requests (429)")
        return wait

    def failed(self, key: str, url: str, now: float) -> None:
        """A page of this host could not be had. The third page in a row, and each one after it, cools the host down."""
        urls = self._failing.setdefault(key, set())
        state = self.get(key)
        if url in urls and state.failing < COOL_AFTER:
            return
        urls.add(url)
        failing = self.change(key, failing=state.failing + 1).failing
        if failing >= COOL_AFTER:
            rest = min(COOLEST, COOL_DOWN * 2 ** min(failing - COOL_AFTER, 8))
            self.hold(key, now + rest, f"{failing} checks of this host failed in a row")

    def answered(self, key: str, *, limited: bool) -> None:
        """The host gave an answer that is not its failure: what was counted against it is forgotten."""
        self._failing.pop(key, None)
        state = self.get(key)
        if state.failing or (state.limited and not limited):
            self.change(key, failing=0, limited=state.limited if limited else 0)

    # -- the budget

    def spend(self, key: str, now: float) -> None:
        """Count one request: page, redirect and robots.txt alike."""
        state = self._in_window(key, now)
        state = msgspec.structs.replace(state, spent=state.spent + 1)
        self._states[key] = state
        (self._dirty if state.spent % SAVED_EVERY == 1 else self._counted).add(key)

    def budget_left(self, key: str, now: float, settings: HostSettings) -> int:
        """Requests this host may still get in its current day."""
        return max(0, settings.checks_per_day - self._in_window(key, now).spent)

    def budget_frees_at(self, key: str, now: float) -> float:
        """When the host's next day begins."""
        state = self._in_window(key, now)
        return (state.window_at if state.spent else now) + DAY

    def _in_window(self, key: str, now: float) -> HostState:
        state = self.get(key)
        if state.window_at <= now < state.window_at + DAY:
            return state
        return msgspec.structs.replace(state, window_at=now, spent=0)
