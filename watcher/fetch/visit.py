"""The fetcher: one visit for one plan, through every gate. All that the engine knows of the network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, Self

from watcher.core.clock import Clock
from watcher.core.exchange import RequestPlan, Visit
from watcher.core.model import Failure, RequestOptions
from watcher.core.settings import HostSettings
from watcher.core.state import HostState
from watcher.core.urls import Url, UrlError, parse_url
from watcher.fetch.asking import TOKEN, agent_of, asking
from watcher.fetch.errand import Errand, House
from watcher.fetch.hosts import HostBook
from watcher.fetch.net import is_private, literal
from watcher.fetch.pacing import Pacer
from watcher.fetch.robots import RobotsGate
from watcher.fetch.secrets import SecretError, Vault
from watcher.fetch.sending import Sender
from watcher.fetch.sources import read_file, run_command

if TYPE_CHECKING:
    from watcher.fetch.transport import AnyTransport

_AT_HOME = ("localhost", "local", "localdomain", "lan", "home", "internal", "intranet", "corp", "private", "test")


class Shelf(Protocol):
    """Where host states and the bodies of robots.txt are kept: what the fetcher needs of a store."""

    def hosts(self) -> Mapping[str, HostState]: ...

    def body(self, name: str, /) -> bytes | None: ...

    def put_body(self, data: bytes, /) -> str: ...


def names_private(url: Url) -> bool:
    """Whether the URL itself says that its host is not on the public Internet: by its address or a name for home."""
    address = literal(url.host)
    if address is not None:
        return is_private(address)
    name = url.host.rstrip(".")
    return "." not in name or name.rpartition(".")[2] in _AT_HOME or name.endswith(".home.arpa")


class Fetcher:
    """Visits pages politely. Trouble on the network is never raised: the :class:`Visit` says what happened.

    ``transport`` may be any httpx transport; ``contact`` goes into the User-Agent; ``settings_for`` gives the
    settings of hosts that redirects lead to.
    """

    def __init__(
        self,
        transport: AnyTransport,
        clock: Clock,
        hosts: HostBook,
        *,
        contact: str | None = None,
        settings_for: Callable[[str], HostSettings] | None = None,
    ) -> None:
        self.hosts = hosts
        self._transport = transport
        self._clock = clock
        self._pacer = Pacer(hosts, clock)
        self._house = House(
            book=hosts,
            robots=RobotsGate(hosts, clock, TOKEN),
            sender=Sender(transport, clock, hosts, self._pacer),
            clock=clock,
            agent=agent_of(contact),
            settings_for=settings_for or (lambda host: HostSettings()),
        )

    @classmethod
    def over(
        cls,
        shelf: Shelf,
        transport: AnyTransport,
        clock: Clock,
        *,
        contact: str | None = None,
        settings_for: Callable[[str], HostSettings] | None = None,
    ) -> Self:
        """A fetcher that remembers hosts as ``shelf`` does."""
        hosts = HostBook(shelf.hosts().values(), load_body=shelf.body, save_body=shelf.put_body)
        return cls(transport, clock, hosts, contact=contact, settings_for=settings_for)

    def ready_in(self, origin: str) -> float:
        """Seconds until the host ``scheme://host:port`` may be asked again; 0 when it may be now."""
        return self._pacer.ready_in(origin)

    def budget_left(self, origin: str, settings: HostSettings) -> int:
        """Requests this host may still get in its day: pages, redirects and robots.txt alike."""
        return self.hosts.budget_left(origin, self._clock.now(), settings)

    def budget_frees_at(self, origin: str) -> float:
        """When a host whose budget is spent gets a new one."""
        return self.hosts.budget_frees_at(origin, self._clock.now())

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        await self._transport.aclose()

    async def visit(
        self,
        plan: RequestPlan,
        options: RequestOptions,
        *,
        settings: HostSettings,
        trusted_private: bool | None = None,
        has_record: bool = True,
    ) -> Visit:
        """Ask for what ``plan`` says and follow where it leads; ``settings`` are those of the plan's own host.

        ``trusted_private`` lets the plan's own host be at a private address; by default its URL has to say so.
        Conditions are sent only with ``has_record``, and never with another method than GET.
        """
        if plan.command:
            return await run_command(
                plan.command, plan.url, self._clock, patience=options.timeout, most=options.max_body
            )
        if plan.url[:5].lower() == "file:":
            return await read_file(plan.url, self._clock, most=options.max_body)
        vault = Vault(options.secret_query)
        try:
            source = await vault.with_query(parse_url(plan.url))
            asked = await asking(options, self._house.agent, plan.identity, vault)
        except UrlError as error:
            return Visit(exchanges=(), failure=Failure(kind="broken:url", message=f"The URL cannot be used: {error}."))
        except SecretError as error:
            return Visit(exchanges=(), failure=Failure(kind="secret", message=str(error)))
        private = names_private(source) or settings.private if trusted_private is None else trusted_private
        errand = Errand(
            self._house, plan, options, asked, vault, source, settings, private=private, conditional=has_record
        )
        visit = await errand.run()
        self._judge(plan.url, errand.last.origin, visit)
        return visit

    def _judge(self, url: str, origin: str, visit: Visit) -> None:
        """Count a page that could not be had against its host (rule 26)."""
        unheard = visit.failure is not None and visit.failure.kind.startswith(("transient", "tls"))
        broken = visit.response is not None and visit.response.status >= 500
        if visit.sent and (unheard or broken):
            self.hosts.failed(origin, url, self._clock.now())
