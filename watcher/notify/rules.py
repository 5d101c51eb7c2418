"""Which destinations a piece of news goes to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from watcher.core.model import Secret, Watch
from watcher.core.news import News
from watcher.core.settings import NotifyRule
from watcher.core.state import Summary

if TYPE_CHECKING:
    from watcher.core.query import Query


class Destination(msgspec.Struct, frozen=True, kw_only=True):
    """A command or an Apprise URL that takes notices. ``id`` names it on disk and gives nothing of it away.

    Its notices outlive edits of the rules that lead there, and two rules that lead to the same place send once.
    """

    id: str
    command: tuple[str, ...] = ()
    url: str | Secret | None = None
    digest_after: int = 5

    def __str__(self) -> str:
        """For messages: the program's name, or the kind of service, never its address."""
        if self.command:
            return f"the command {self.command[0]!r}"
        if isinstance(self.url, Secret):
            return f"the notification service given by {self.url.source.partition(':')[0]}:"
        return f"the notification service {(self.url or '').partition(':')[0]}:"


class Rules:
    """The configured rules, ready to be asked. Raises :class:`watcher.core.query.QueryError`."""

    def __init__(self, rules: Sequence[NotifyRule]) -> None:
        self.destinations: dict[str, Destination] = {}
        self._rules: list[tuple[Query | None, frozenset[str], tuple[str, ...]]] = []
        for rule in rules:
            found = _destinations(rule)
            for destination in found:
                self.destinations.setdefault(destination.id, destination)
            self._rules.append((_query(rule.match), frozenset(rule.events), tuple(d.id for d in found)))

    def destinations_for(self, news: News, watch: Watch, summary: Summary, now: float) -> tuple[str, ...]:
        """The ids of the destinations that ``news`` of ``watch`` goes to, each once, in the order of the rules."""
        found: dict[str, None] = {}
        for query, events, ids in self._rules:
            if news.value in events and (query is None or query.matches(watch, summary, now)):
                found |= dict.fromkeys(ids)
        return tuple(found)


def _query(text: str) -> Query | None:
    if not text.strip():
        return None
    from watcher.core.query import parse

    return parse(text)


def _destinations(rule: NotifyRule) -> list[Destination]:
    found = []
    if rule.command:
        found.append(
            Destination(id=_id("command", *rule.command), command=rule.command, digest_after=rule.digest_after)
        )
    if rule.url is not None:
        source = rule.url.source if isinstance(rule.url, Secret) else rule.url
        kind = "secret" if isinstance(rule.url, Secret) else "url"
        found.append(Destination(id=_id(kind, source), url=rule.url, digest_after=rule.digest_after))
    return found


def _id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
