"""robots.txt: whether we may ask for a page, and how long to pause (RFC 9309; CONDUCT rules 30-34).

Which lines concern us is decided here, since the parser also takes groups for a part of our name; which of their
paths matches is Protego's to say.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from watcher.core.clock import Clock
from watcher.core.exchange import Exchange, Response
from watcher.core.freshness import freshness
from watcher.core.lessons import after_200, after_304
from watcher.core.model import Failure
from watcher.core.phrase import DAY, HOUR
from watcher.core.state import HostState
from watcher.core.urls import Url
from watcher.core.validators import Conditions, Validators, plan_conditions
from watcher.fetch.hosts import HostBook

if TYPE_CHECKING:
    from protego import Protego

LIMIT = 512 * 1024
"""Bytes read; the last line within them that is whole is the last that counts."""

GOOD_FOR = 30 * DAY
"""A good copy stands in this long for a file that cannot be reached."""

LONGEST_DELAY = DAY
LARGE = 16 * 1024
PARSED = 256

_BREAK = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_AGENT = re.compile(r"(\*|[A-Za-z_-]+)(?![A-Za-z0-9_-])")
_FIELD = re.compile(r"\s*(user[- ]?agent|d[ia]+s+al+[ao]w|allow|crawl[- ]?delay|request[- ]?rate)\s*[:\s]\s*(.*)", re.I)


class Rules:
    """The lines of a robots.txt that concern one product token. ``group`` is whose they are: the token, ``*``, None."""

    def __init__(self, text: str, token: str) -> None:
        from protego import Protego

        lines, self.group = _ours(text, token)
        self._token = token
        text = "\n".join((f"User-agent: {token}", *lines))
        # The parser breaks lines where only Unicode does; in a path such a character is one octet sequence like others.
        self._rules: Protego = Protego.parse(_BREAK.sub(lambda found: quote(found[0]), text))

    def allows(self, url: Url) -> bool:
        """Whether ``url`` may be asked for, path and query as they are sent."""
        return bool(self._rules.can_fetch(str(url), self._token))

    @property
    def delay(self) -> float | None:
        """Seconds to leave between two requests, at most a day, or None when nothing is said."""
        delays = [self._rules.crawl_delay(self._token)]
        if rate := self._rules.request_rate(self._token):
            delays.append(rate.seconds / rate.requests)
        found = [float(delay) for delay in delays if delay is not None and math.isfinite(delay)]
        return min(max(found), LONGEST_DELAY) if found else None


def _ours(text: str, token: str) -> tuple[list[str], str | None]:
    """Every rule line of the groups for ``token``, merged; those for ``*`` when there is none (RFC 9309, 2.2.1).

    Lines that are no rules are passed over and end no group (2.2.4).
    """
    named: list[str] = []
    general: list[str] = []
    agents: set[str] = set()
    in_rules, found_named, found_general = True, False, False
    for line in re.split(r"\r\n|\n|\r", text):
        field = _FIELD.fullmatch(line.partition("#")[0])
        if field is None:
            continue
        if field[1][0] in "uU":
            if in_rules:
                agents, in_rules = set(), False
            agent = _AGENT.match(field[2])
            agents.add(agent[1].lower() if agent else "")
            found_named = found_named or token.lower() in agents
            found_general = found_general or "*" in agents
            continue
        in_rules = True
        if token.lower() in agents:
            named.append(line)
        if "*" in agents:
            general.append(line)
    if found_named:
        return named, token
    return general, "*" if found_general else None


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What robots.txt says about one URL. ``failure`` is set when it may not be asked for, until ``until``.

    ``note`` is for the audit trail: the decision, whose group made it, the copy's age.
    """

    note: str
    failure: Failure | None = None
    until: float | None = None
    exchanges: tuple[Exchange, ...] = ()


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """What came of asking for a robots.txt, redirects followed: a response, or what went wrong on the network."""

    exchanges: tuple[Exchange, ...]
    response: Response | None = None
    failure: Failure | None = None


Ask = Callable[[Url, Conditions], Awaitable[Answered]]


class RobotsGate:
    """Keeps each host's robots.txt for a day, and decides by it."""

    def __init__(self, book: HostBook, clock: Clock, token: str) -> None:
        self._book = book
        self._clock = clock
        self._token = token
        self._parsed: OrderedDict[str, Rules] = OrderedDict()

    async def decide(self, url: Url, ask: Ask) -> Verdict:
        """Whether ``url`` may be asked for, after fetching or refreshing its host's robots.txt where that is due."""
        key, now = url.origin, self._clock.now()
        state = self._book.get(key)
        exchanges: tuple[Exchange, ...] = ()
        trouble: Failure | None = None
        fetched_at = state.robots_fetched_at or 0.0
        if state.robots_expires_at is None or not now < state.robots_expires_at <= max(fetched_at, now) + DAY:
            state, trouble, exchanges = await self._refresh(url, state, ask)
        if trouble is not None and trouble.kind == "refused:address":
            return Verdict(note="not asked", failure=trouble, exchanges=exchanges)
        if state.robots_failures and not self._stands_in(state):
            why = f"The robots.txt of {url.netloc} cannot be reached, so its pages are left alone for now."
            # What stopped robots.txt would have stopped the page: a person is better told that.
            failure = trouble or Failure(kind="refused:robots-unreachable", message=why)
            return Verdict(note="unreachable", failure=failure, until=state.robots_expires_at, exchanges=exchanges)
        rules = await self._rules(state)
        if rules is None:
            return Verdict(note=f"allowed: no rules ({state.robots_status})", exchanges=exchanges)
        allowed = rules.allows(url)
        age = max(0.0, now - (state.robots_fetched_at or now))
        note = f"{'allowed' if allowed else 'disallowed'}: group {rules.group or 'none'}, {age:.0f} s old"
        if allowed:
            return Verdict(note=note, exchanges=exchanges)
        why = f"The robots.txt of {url.netloc} disallows this page (group {rules.group})."
        return Verdict(note=note, failure=Failure(kind="refused:robots", message=why), exchanges=exchanges)

    def _stands_in(self, state: HostState) -> bool:
        """Whether an unreachable file has a good copy, or a good absence, that is young enough."""
        good_at = state.robots_fetched_at
        return good_at is not None and self._clock.now() - good_at <= GOOD_FOR

    async def _refresh(
        self, url: Url, state: HostState, ask: Ask
    ) -> tuple[HostState, Failure | None, tuple[Exchange, ...]]:
        body = self._book.load_body(state.robots_body) if state.robots_body else None
        conditions = plan_conditions(
            state.robots_validators, key=self._token, now=self._clock.now(), has_body=body is not None
        )
        target = msgspec.structs.replace(url, path="/robots.txt", query=None, fragment=None, user=None, password=None)
        answered = await ask(target, conditions)
        response, now = answered.response, self._clock.now()
        if answered.failure is not None and answered.failure.kind == "refused:address":
            return state, answered.failure, answered.exchanges
        if response is None or response.status == 429 or response.status >= 500:
            failures = state.robots_failures + 1
            retry = now + min(6 * HOUR, 300.0 * 2 ** min(failures - 1, 10))
            status = response.status if response is not None else None
            after = self._book.change(
                state.key, robots_failures=failures, robots_expires_at=retry, robots_status=status
            )
            return after, answered.failure, answered.exchanges
        fields = await self._learned(state, response, body, conditions)
        lifetime = freshness(response).lifetime
        good = DAY if lifetime is None else min(DAY, max(HOUR, lifetime))
        after = self._book.change(
            state.key,
            robots_status=response.status,
            robots_fetched_at=now,
            robots_expires_at=now + good,
            robots_failures=0,
            **fields,
        )
        return after, None, answered.exchanges

    async def _learned(
        self, state: HostState, response: Response, body: bytes | None, conditions: Conditions
    ) -> dict[str, object]:
        validators = state.robots_validators
        if response.status == 304:
            learned = after_304(validators, response, conditions=conditions, has_body=body is not None)
            return {"robots_validators": learned.validators}
        if response.status != 200:
            return {"robots_body": None, "robots_validators": Validators(), "crawl_delay": None}
        text = _cut(response.body)
        same = None if body is None else body == text
        learned = after_200(
            validators,
            response,
            same_bytes=same,
            same_record=same,
            conditions=conditions,
            now=response.received_at,
            key=self._token,
        )
        name = self._book.save_body(text)
        rules = await self._parse(name, text)
        return {"robots_body": name, "robots_validators": learned.validators, "crawl_delay": rules.delay}

    async def _rules(self, state: HostState) -> Rules | None:
        name = state.robots_body
        if name is None:
            return None
        if name in self._parsed:
            self._parsed.move_to_end(name)
            return self._parsed[name]
        body = self._book.load_body(name)
        return None if body is None else await self._parse(name, body)

    async def _parse(self, name: str, body: bytes) -> Rules:
        text = body.decode("utf-8-sig", "replace")
        if len(body) > LARGE:
            rules = await asyncio.to_thread(Rules, text, self._token)
        else:
            rules = Rules(text, self._token)
        self._parsed[name] = rules
        if len(self._parsed) > PARSED:
            self._parsed.popitem(last=False)
        return rules


def _cut(body: bytes) -> bytes:
    """The whole lines within the limit."""
    if len(body) < LIMIT:
        return body
    end = max(body.rfind(b"\n", 0, LIMIT), body.rfind(b"\r", 0, LIMIT))
    return body[: end + 1]
