"""One visit under way: robots.txt, pacing and the address guard at every hop (CONDUCT rules 21-23, 30-40)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from watcher.core.clock import Clock
from watcher.core.exchange import Exchange, RequestPlan, Response, Visit
from watcher.core.freshness import retry_after
from watcher.core.model import Failure, RequestOptions
from watcher.core.settings import HostSettings
from watcher.core.urls import Url
from watcher.core.validators import Conditions
from watcher.fetch.asking import Asking, robots_headers
from watcher.fetch.hosts import HostBook
from watcher.fetch.message import Request
from watcher.fetch.redirects import FOLLOWED, HOPS, PERMANENT, RedirectRefused, next_hop, suspect
from watcher.fetch.robots import LIMIT, Answered, RobotsGate
from watcher.fetch.secrets import Vault
from watcher.fetch.sending import Deadline, Order, Sender

WIRE = 5 * 1024 * 1024
"""Bytes of a body on the wire, unless the watch asks for more."""

_PLAIN = RequestOptions()


@dataclass(frozen=True, slots=True)
class House:
    """What every errand uses: the host book, the robots gate, the sender, the clock, our name."""

    book: HostBook
    robots: RobotsGate
    sender: Sender
    clock: Clock
    agent: str
    settings_for: Callable[[str], HostSettings]

    def closed(self, url: Url, settings: HostSettings) -> tuple[Failure, float] | None:
        """Why nothing may be sent to this host now, and until when; None when it may."""
        now = self.clock.now()
        if held := self.book.held(url.origin, now):
            return Failure(kind="held", message=f"{url.netloc} is left alone for now: {held[1]}."), held[0]
        if self.book.budget_left(url.origin, now, settings) <= 0:
            why = f"Today's {settings.checks_per_day} requests to {url.netloc} are spent."
            return Failure(kind="held", message=why), self.book.budget_frees_at(url.origin, now)
        return None


class Errand:
    """One visit to ``source``. ``private``: its host may be at an address that is not on the public Internet."""

    def __init__(
        self,
        house: House,
        plan: RequestPlan,
        options: RequestOptions,
        asking: Asking,
        vault: Vault,
        source: Url,
        settings: HostSettings,
        *,
        private: bool,
        conditional: bool,
    ) -> None:
        self._house = house
        self._plan = plan
        self._options = options
        self._asking = asking
        self._vault = vault
        self._source = source
        self._settings = settings
        self._private = private
        self._conditional = conditional and asking.method == "GET"
        self._deadline = Deadline(options.timeout)
        self._exchanges: list[Exchange] = []
        self._permanent: list[str] = []
        self._private_peer = False
        self._sent = False
        self._carried: str | None = None
        self._robots_note = ""
        self.last = source

    async def run(self) -> Visit:
        """Go there and back. Never raises for trouble on the network."""
        url, seen, permanent = self._source, {str(self._source)}, True
        method, body = self._asking.method, self._asking.body
        for hop in range(HOPS + 1):
            self.last = url
            settings = self._settings if url.host == self._source.host else self._house.settings_for(url.host)
            if (stopped := await self._stopped(url, hop, settings)) is not None:
                return stopped
            answered = await self._ask(url, hop, settings, method, body)
            if isinstance(answered, Failure):
                return self._ended(failure=answered)
            if answered.status not in FOLLOWED:
                return self._arrived(url, hop, answered, permanent)
            try:
                target = next_hop(url, answered)
            except RedirectRefused as refused:
                return self._ended(failure=Failure(kind="broken:redirect", message=str(refused)))
            if answered.status == 303 or (answered.status in (301, 302) and method == "POST"):
                method, body = "GET", b""
            elif body and target.origin != self._source.origin:
                why = f"The answer to the {method} request sends its body on to {target.netloc}, which is not done."
                return self._ended(failure=Failure(kind="broken:redirect", message=why))
            if str(target) in seen:
                return self._ended(failure=Failure(kind="broken:redirect", message="The page redirects in a circle."))
            seen.add(str(target))
            permanent = permanent and answered.status in PERMANENT
            self._permanent.append(self._vault.hide(str(target)))
            url = target
        why = f"The page redirects more than {HOPS} times."
        return self._ended(failure=Failure(kind="broken:redirect", message=why))

    async def _stopped(self, url: Url, hop: int, settings: HostSettings) -> Visit | None:
        """The end of the visit when this hop may not be asked for; None when it may."""
        if (closed := self._house.closed(url, settings)) is not None:
            return self._ended(failure=closed[0], until=closed[1])
        if not self._options.obey_robots:
            self._robots_note = "overridden by this watch"
            return None
        verdict = await self._house.robots.decide(url, self._ask_robots)
        self._exchanges += verdict.exchanges
        self._robots_note = verdict.note
        if verdict.failure is not None and (closed := self._house.closed(url, settings)) is not None:
            return self._ended(failure=closed[0], until=closed[1])
        if verdict.failure is not None:
            return self._ended(failure=verdict.failure, until=verdict.until)
        if verdict.exchanges and (closed := self._house.closed(url, settings)) is not None:
            return self._ended(failure=closed[0], until=closed[1])
        return None

    async def _ask(self, url: Url, hop: int, settings: HostSettings, method: str, body: bytes) -> Response | Failure:
        own = url.origin == self._source.origin
        headers = self._asking.to(own)
        if not body:
            headers = tuple(line for line in headers if line[0].lower() != b"content-type")
        public = self._vault.hide(str(url))
        here = self._conditional and method == "GET" and self._plan.conditions_for in (public, None)
        if here:
            headers += self._plan.conditions
            self._carried = self._plan.conditional
        if self._plan.no_cache:
            headers += ((b"Cache-Control", b"no-cache"),)
        request = Request(
            url=url,
            method=method,
            headers=headers,
            body=body,
            proxy=self._asking.proxy,
            private=self._may_be_private(url),
        )
        most = self._options.max_body
        order = Order(
            request=request,
            purpose="redirect" if hop else "page",
            hop=hop,
            conditional=self._plan.conditional if here else None,
            most=most,
            most_wire=WIRE if most <= _PLAIN.max_body else most,
            hide=self._vault.hide,
            robots=self._robots_note,
            flags=() if self._options.obey_robots else ("robots-overridden",),
        )
        self._sent = True
        sent = await self._house.sender.send(order, settings, self._deadline)
        self._exchanges.append(sent.exchange)
        self._private_peer = self._private_peer or sent.private_peer
        if sent.response is None:
            return sent.failure or Failure(kind="transient", message="The exchange ended without an answer.")
        return sent.response

    async def _ask_robots(self, target: Url, conditions: Conditions) -> Answered:
        """Fetch a robots.txt; five redirects, to other hosts too; more count as no file (rule 32)."""
        url = target
        exchanges: list[Exchange] = []
        response: Response | None = None
        for hop in range(HOPS + 1):
            settings = self._settings if url.host == self._source.host else self._house.settings_for(url.host)
            if hop and self._house.closed(url, settings) is not None:
                return Answered(exchanges=tuple(exchanges))
            carried = conditions if hop == 0 or conditions.for_url == str(url) else Conditions()
            request = Request(
                url=url,
                headers=robots_headers(self._house.agent) + carried.headers,
                proxy=self._asking.proxy,
                private=self._may_be_private(url),
            )
            order = Order(
                request=request,
                purpose="robots",
                hop=hop,
                conditional=carried.kind,
                most=LIMIT,
                most_wire=LIMIT,
                cut=True,
                hide=self._vault.hide,
            )
            sent = await self._house.sender.send(order, settings, self._deadline)
            exchanges.append(sent.exchange)
            response = sent.response
            if response is None:
                return Answered(exchanges=tuple(exchanges), failure=sent.failure)
            if response.status not in FOLLOWED:
                break
            try:
                url = next_hop(url, response)
            except RedirectRefused:
                break
        return Answered(exchanges=tuple(exchanges), response=response)

    def _may_be_private(self, url: Url) -> bool:
        """A private address is for the watch's own host only: no redirect leads there (rule 40)."""
        return self._private and url.host == self._source.host

    def _arrived(self, url: Url, hop: int, response: Response, permanent: bool) -> Visit:
        if hop and response.status in (200, 304):
            failure = suspect(self._source, url, self._options.forbid_redirect_to)
            if failure is not None:
                return self._ended(failure=failure)
        return self._ended(response=response, permanent=permanent and hop > 0)

    def _ended(
        self,
        *,
        response: Response | None = None,
        failure: Failure | None = None,
        until: float | None = None,
        permanent: bool = False,
    ) -> Visit:
        if failure is not None:
            failure = msgspec.structs.replace(failure, message=self._vault.hide(failure.message))
        wait = retry_after(response) if response is not None else None
        if response is not None and response.status == 429 and wait is None:
            wait = max(0.0, self._house.book.get(self.last.origin).not_before_at - response.received_at)
        return Visit(
            exchanges=tuple(self._exchanges),
            response=response,
            failure=failure,
            permanent=tuple(self._permanent) if permanent else (),
            retry_after=wait,
            not_before_at=until,
            sent=self._sent,
            conditional=self._carried,
            private_peer=self._private_peer,
        )
