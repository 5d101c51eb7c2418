"""Who is next: due watches wait in one line per host, best score first, and each host serves one at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum

import msgspec

from watcher.core.revisit import DueQueue, RevisitCandidate, select_revisits


class Manner(Enum):
    """How a turn is taken: as the schedule would, without conditions, as a new baseline, or from the saved page."""

    CHECK = "check"
    FORCE = "force"
    RE_EXTRACT = "re_extract"
    REREAD = "reread"


class Turn(msgspec.Struct, frozen=True):
    """One turn of ``name``. ``asked``: it does not come from the schedule, and goes ahead of it."""

    name: str
    manner: Manner = Manner.CHECK
    asked: bool = False


class Agenda:
    """The due queue and the waiting lines. It decides order and knows nothing of clocks, disks or networks."""

    def __init__(self, host_of: Callable[[str], str]) -> None:
        self._host_of = host_of
        self._due = DueQueue()
        self._lines: dict[str, deque[Turn]] = {}
        self._waiting: set[str] = set()

    def plan(self, name: str, due_at: float | None) -> None:
        """(Re)schedule ``name``; None takes it off the schedule."""
        if due_at is None:
            self._due.discard(name)
        else:
            self._due.push(name, due_at)

    def drop(self, name: str) -> None:
        """Forget ``name`` altogether: unscheduled, and out of its line."""
        self._due.discard(name)
        if name in self._waiting:
            self._waiting.discard(name)
            host = self._host_of(name)
            self._keep(host, [turn for turn in self._lines[host] if turn.name != name])

    def ask(self, names: Iterable[str], manner: Manner = Manner.CHECK) -> None:
        """Put ``names`` at the head of their lines, in the given order, ahead of what is merely due."""
        by_host: dict[str, list[Turn]] = {}
        for name in dict.fromkeys(names):
            self.drop(name)
            by_host.setdefault(self._host_of(name), []).append(Turn(name, manner, asked=True))
            self._waiting.add(name)
        for host, turns in by_host.items():
            line = self._lines.setdefault(host, deque())
            line.extendleft(reversed(turns))

    def admit(
        self,
        now: float,
        candidate: Callable[[str], RevisitCandidate | None],
        budget: Callable[[str], int],
    ) -> list[str]:
        """Move what is due by ``now`` into the lines, as far as each host's budget goes; return who stayed out.

        Watches already in line compete again, so a late but better candidate is not behind an early one.
        """
        due = [name for name in self._due.pop_due(now) if name not in self._waiting]
        if not due:
            return []
        found = [c for c in map(candidate, due) if c is not None]
        hosts = {c.host for c in found}
        room = {host: max(0, budget(host) - self._asked(host)) for host in hosts}
        again = [c for host in hosts for turn in self._scheduled(host) if (c := candidate(turn.name)) is not None]
        chosen = select_revisits([*found, *again], room, now)
        for host in hosts:
            self._keep(host, [turn for turn in self._lines.get(host, ()) if turn.asked])
        for pick in chosen:
            self._lines.setdefault(pick.host, deque()).append(Turn(pick.name))
        kept = {pick.name for pick in chosen}
        self._waiting = (self._waiting - {c.name for c in again}) | kept
        return [c.name for c in (*found, *again) if c.name not in kept]

    def take(self, ready: Callable[[str], bool], room: int) -> Iterator[tuple[str, Turn]]:
        """Yield up to ``room`` turns, at most one a host, from the hosts that are ``ready``."""
        for host in list(self._lines):
            if room <= 0:
                return
            if not ready(host):
                continue
            turn = self._lines[host].popleft()
            self._waiting.discard(turn.name)
            if not self._lines[host]:
                del self._lines[host]
            room -= 1
            yield host, turn

    def next_due(self) -> float | None:
        """When the schedule next wants something, or None."""
        return self._due.next_at()

    def hosts_waiting(self) -> Iterable[str]:
        """The hosts with somebody in line."""
        return self._lines.keys()

    def __len__(self) -> int:
        """How many watches stand in a line."""
        return len(self._waiting)

    def lengths(self) -> Mapping[str, int]:
        """How many wait for each host."""
        return {host: len(line) for host, line in self._lines.items()}

    def _keep(self, host: str, turns: list[Turn]) -> None:
        """Make ``turns`` the host's line. An empty line goes, so that a host in ``_lines`` has somebody waiting."""
        if turns:
            self._lines[host] = deque(turns)
        else:
            self._lines.pop(host, None)

    def _scheduled(self, host: str) -> Iterator[Turn]:
        return (turn for turn in self._lines.get(host, ()) if not turn.asked)

    def _asked(self, host: str) -> int:
        return sum(turn.asked for turn in self._lines.get(host, ()))
