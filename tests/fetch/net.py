"""A fetcher facing the misbehaving server, in virtual time over real sockets; one call is one check."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Concatenate, ParamSpec

from tests.support.badserver import BadServer, Seen
from tests.support.clock import FakeClock
from watcher.core.exchange import RequestPlan, Response, Visit
from watcher.core.lessons import Learned, after_200, after_304, after_error
from watcher.core.model import Detect, RequestOptions
from watcher.core.settings import HostSettings
from watcher.core.validators import NOTHING, Conditions, Validators, plan_conditions
from watcher.fetch import Fetcher, HostBook, Transport

P = ParamSpec("P")
DAY = 86_400.0
PLAIN = RequestOptions()
EAGER = HostSettings(min_gap=0.0, checks_per_day=1_000_000)


class Net:
    """Server, clock and fetcher. Every name of any host leads to the server."""

    def __init__(self, clock: FakeClock | None = None, **transport: Any) -> None:
        self.clock = clock or FakeClock()
        self.server = BadServer(self.clock.now, self.clock.sleep)
        self.addresses: dict[str, Sequence[str]] = {}
        self.lookups: list[str] = []
        self.hosts = HostBook()
        self.transport = Transport(**{"resolver": self.resolve, **transport})
        self.fetcher = self.new_fetcher()

    def new_fetcher(self, hosts: HostBook | None = None) -> Fetcher:
        self.hosts = hosts or self.hosts
        self.fetcher = Fetcher(self.transport, self.clock, self.hosts, contact="https://example.org/me")
        return self.fetcher

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.lookups.append(host)
        return self.addresses.get(host, ("127.0.0.1",))

    async def __aenter__(self) -> Net:
        await self.server.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.fetcher.aclose()
        await self.server.__aexit__(*exc)

    def url(self, path: str, host: str = "site.test") -> str:
        return f"http://{host}:{self.server.port}{path}"

    async def visit(
        self,
        path: str,
        options: RequestOptions = PLAIN,
        *,
        host: str = "site.test",
        settings: HostSettings = EAGER,
        trusted_private: bool | None = None,
        **plan: Any,
    ) -> Visit:
        url = path if path.startswith("http") else self.url(path, host)
        return await self.fetcher.visit(
            RequestPlan(url=url, **plan), options, settings=settings, trusted_private=trusted_private
        )

    async def page(self, path: str, **more: Any) -> Response:
        """The response of a visit that must bring one."""
        visit = await self.visit(path, **more)
        assert visit.response is not None, visit.failure
        return visit.response

    async def kind(self, path: str, **more: Any) -> str:
        """The failure's kind of a visit that must fail, whose sentence must be one."""
        visit = await self.visit(path, **more)
        assert visit.failure is not None, visit.response
        assert visit.failure.message.endswith(".")
        assert "\n" not in visit.failure.message
        return visit.failure.kind

    def seen(self, path: str | None = None, **more: Any) -> list[Seen]:
        return self.server.requests(path, **more)


class Poller:
    """One page checked again and again with the conditional layer in between, as the engine does it."""

    def __init__(self, net: Net, path: str, *, detect: Detect = Detect.FIELDS, key: str = "k") -> None:
        self.net = net
        self.path = path
        self.detect = detect
        self.key = key
        self.known = Validators()
        self.body: bytes | None = None
        self.learned: Learned | None = None
        self.conditions: Conditions = NOTHING
        self.record: Callable[[bytes], object] = lambda body: body

    async def check(self, *, force: bool = False) -> Learned:
        """One check; the body is kept as the engine would keep it."""
        self.conditions = plan_conditions(
            self.known,
            key=self.key,
            now=self.net.clock.now(),
            has_body=self.body is not None,
            force=force,
            detect=self.detect,
        )
        plan = self.conditions
        visit = await self.net.visit(
            self.path,
            conditions=plan.headers,
            conditional=plan.kind,
            conditions_for=plan.for_url,
            no_cache=plan.no_cache,
            identity=self.detect is Detect.BYTES,
        )
        self.learned = self._learn(visit, plan if visit.conditional == plan.kind else NOTHING)
        self.known = self.learned.validators
        return self.learned

    def _learn(self, visit: Visit, carried: Conditions) -> Learned:
        response = visit.response
        if response is None or response.status not in (200, 304):
            return after_error(self.known, response.status if response else 0, conditions=carried)
        if response.status == 304:
            return after_304(self.known, response, conditions=carried, has_body=self.body is not None)
        same = None if self.body is None else response.body == self.body
        kept = None if self.body is None else self.record(response.body) == self.record(self.body)
        learned = after_200(
            self.known,
            response,
            same_bytes=same,
            same_record=kept,
            conditions=carried,
            now=response.received_at,
            key=self.key,
        )
        self.body = response.body
        return learned

    async def checks(self, count: int, every: float = DAY) -> list[dict[str, str]]:
        """What was sent at each of ``count`` checks, a day apart: the conditional fields only."""
        sent = []
        for _ in range(count):
            await self.check()
            sent.append(self.sent())
            await self.net.clock.advance(every)
        return sent

    def sent(self) -> dict[str, str]:
        """The conditional fields of the last request as it arrived."""
        seen = self.net.seen(self.path)[-1]
        names = (b"if-none-match", b"if-modified-since")
        return {name.decode(): b", ".join(seen.all(name)).decode("latin-1") for name in names if seen.all(name)}


Test = Callable[Concatenate[Net, P], Awaitable[None]]


def virtual(test: Test[P]) -> Callable[P, None]:
    """Run an async test that takes a :class:`Net` in virtual time; its other parameters are pytest's."""
    return _run(test, {})


def virtual_anywhere(test: Test[P]) -> Callable[P, None]:
    """The same with the address guard off: hosts other than the watch's own may be on this machine too."""
    return _run(test, {"guard": False})


def _run(test: Test[P], transport: dict[str, Any]) -> Callable[P, None]:
    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        clock = FakeClock()

        async def main() -> None:
            async with Net(clock, **transport) as net:
                await test(net, *args, **kwargs)

        clock.run(main())

    parameters = list(inspect.signature(test).parameters.values())[1:]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    del run.__wrapped__
    return run
