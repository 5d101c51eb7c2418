"""CONDUCT rules 39-41: secrets, the address guard, proxies, certificates."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import msgspec
import pytest
import trustme

from tests.fetch.net import EAGER, Net, virtual
from tests.support.badserver import BadServer, Reply
from tests.support.clock import FakeClock
from watcher.core.exchange import RequestPlan, Response, Visit
from watcher.core.model import RequestOptions, Secret
from watcher.core.settings import HostSettings
from watcher.core.urls import parse_url
from watcher.fetch import Fetcher, HostBook, Transport, names_private
from watcher.fetch.net import SystemResolver, is_private, literal
from watcher.fetch.redirects import RedirectRefused, next_hop

SECRETS = ("s3cr3t-user", "s3cr3t-pass", "s3cr3t-cookie", "s3cr3t-header", "s3cr3t-query", "s3cr3t-body")


@virtual
async def test_rule_39_no_cookie_jar(net: Net) -> None:
    for _ in range(2):
        assert (await net.page("/cookie/set")).body == b"none"


PATHS = (
    "/echo?token=env:T_QUERY",
    "/reflects?token=env:T_QUERY",
    "/conn/reset?token=env:T_QUERY",
    "/hdr/badname?token=env:T_QUERY",
    "/status/503?token=env:T_QUERY",
)


async def test_rule_39_secrets_reach_the_server_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("T_USER", SECRETS[0]), ("T_PASS", SECRETS[1]), ("T_QUERY", SECRETS[4])):
        monkeypatch.setenv(name, value)
    async with Net() as net:
        await _visited_with_secrets(net)


async def _visited_with_secrets(net: Net) -> None:
    stream = _Everything()
    handler = logging.StreamHandler(stream)
    logging.getLogger().addHandler(handler)
    level = logging.getLogger().level
    logging.getLogger().setLevel(logging.DEBUG)
    printer = f"command:{sys.executable} -c \"print('{SECRETS[3]}')\""
    options = RequestOptions(
        method="POST",
        auth=(Secret("env:T_USER"), Secret("env:T_PASS")),
        cookies=(("sid", Secret(f"literal:{SECRETS[2]}")),),
        headers=(("X-Key", Secret(printer)),),
        body=Secret(f"literal:{SECRETS[5]}"),
        secret_query=("token",),
    )
    net.server.pages["/reflects"] = lambda seen: Reply(
        302, [("Location", f"/echo?token={seen.query['token']}&copy={seen.query['token']}"), ("ETag", '"s3cr3t-query"')]
    )
    told: list[object] = [options]
    try:
        for path in PATHS:
            visit = await net.visit(path, options)
            told += [visit.exchanges, visit.failure, visit.permanent, visit.response and (visit.response.url)]
    finally:
        logging.getLogger().removeHandler(handler)
        logging.getLogger().setLevel(level)
    seen = net.seen("/echo")[0]
    assert seen.query["token"] == SECRETS[4]
    assert seen.body.decode() == SECRETS[5]
    assert seen.get(b"x-key") == SECRETS[3].encode()
    assert seen.get(b"cookie") == f"sid={SECRETS[2]}".encode()
    robots = net.seen("/robots.txt")
    assert not any(value.encode() in b"".join(v for _, v in robots[0].headers) for value in SECRETS)
    written = repr(told[1:]) + str(options.auth) + stream.text + msgspec.json.encode(net.hosts.take_dirty()).decode()
    assert not [secret for secret in SECRETS if secret in written]


class _Everything:
    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None: ...


@pytest.mark.parametrize(
    "source", ["env:T_NONE", "command:/not/there", "command:false", "command:", "file:/etc/passwd", "literal:a\r\nb"]
)
async def test_rule_39_a_secret_that_cannot_be_read_is_one_sentence(source: str) -> None:
    options = RequestOptions(headers=(("X-Key", Secret(source)),))
    async with Net() as net:
        assert await net.kind("/ok", options=options) == "secret"
        assert net.server.log == []


@virtual
async def test_rule_39_userinfo_of_the_url_is_never_sent(net: Net) -> None:
    await net.visit(f"http://me:hunter2@site.test:{net.server.port}/echo")
    assert not net.seen()[0].all(b"authorization")


HOME = """127.0.0.1 ::1 10.1.2.3 192.168.0.1 169.254.169.254 172.16.0.9 fe80::1 fd00::1 0.0.0.0 100.64.0.1
::ffff:10.0.0.1 64:ff9b::a00:1 2002:a00:1:: 224.0.0.1 255.255.255.255"""


@pytest.mark.parametrize("address", HOME.split())
@virtual
async def test_rule_40_names_that_lead_home_are_refused_at_connect(net: Net, address: str) -> None:
    net.addresses["public.example"] = (address,)
    visit = await net.visit("/ok", host="public.example")
    assert visit.failure is not None
    assert visit.failure.kind == "refused:address"
    assert net.server.log == []


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "8.8.8.8"])
def test_rule_40_public_addresses_are_public(address: str) -> None:
    found = literal(address) or literal(f"[{address}]")
    assert found is not None
    assert not is_private(found)


@pytest.mark.parametrize("host", ["127.1", "0x7f000001", "[::1]", "localhost", "nas", "nas.local", "router.home.arpa."])
def test_rule_40_hosts_that_say_they_are_private(host: str) -> None:
    assert names_private(parse_url(f"http://{host}/"))


@pytest.mark.parametrize("host", ["8.8.8.8", "shop.example", "local.example"])
def test_rule_40_hosts_that_do_not(host: str) -> None:
    assert not names_private(parse_url(f"http://{host}/"))


@virtual
async def test_rule_40_the_user_may_say_so(net: Net) -> None:
    settings = HostSettings(min_gap=0.0, private=True)
    assert (await net.page("/ok", host="intranet.example", settings=settings)).status == 200
    visit = await net.visit("/ok", host="intranet.example", settings=settings)
    assert visit.private_peer
    assert visit.exchanges[-1].peer == "127.0.0.1"


@virtual
async def test_rule_40_never_through_a_redirect(net: Net) -> None:
    net.addresses["home.test"] = ("127.0.0.1",)
    target = net.url("/ok", "other.test")
    assert await net.kind(f"/redir/302?to={target}", host="home.test") == "refused:address"
    assert net.seen(host="other.test") == []
    assert net.hosts.get(target[: target.index("/ok")]).robots_failures == 0


@virtual
async def test_rule_40_the_first_good_address_is_used(net: Net) -> None:
    net.addresses["both.test"] = ("::1", "127.0.0.1")
    assert (await net.page("/ok", host="both.test")).status == 200


async def test_rule_41_the_environment_names_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with Net() as net:
        assert (await net.page("/ok")).status == 200


@virtual
async def test_rule_41_a_configured_proxy_is_used_and_audited(net: Net) -> None:
    options = RequestOptions(proxy=Secret(f"literal:http://me:pr0xy-pass@127.0.0.1:{net.server.port}"))
    net.server.pages["http://far.example/ok"] = lambda seen: Reply(200, [], b"by proxy")
    net.server.pages["http://far.example/robots.txt"] = lambda seen: Reply(404)
    visit = await net.visit("http://far.example/ok", options)
    assert visit.response is not None
    assert visit.response.body == b"by proxy"
    seen = net.server.log[-1]
    assert (seen.target, seen.get(b"host")) == ("http://far.example/ok", b"far.example")
    assert (seen.get(b"proxy-authorization") or b"").startswith(b"Basic ")
    assert visit.exchanges[-1].proxy == f"127.0.0.1:{net.server.port}"
    assert "pr0xy-pass" not in repr(visit.exchanges)
    assert net.lookups == []


@pytest.mark.parametrize("url", ["http://a.test\\@b.test/", "http:///x", "http://a.test:99999/", "ftp://a.test/", "x"])
@virtual
async def test_rule_41_a_url_that_cannot_be_used_is_one_sentence(net: Net, url: str) -> None:
    visit = await net.fetcher.visit(RequestPlan(url=url), RequestOptions(), settings=EAGER)
    assert visit.failure is not None
    assert visit.failure.kind == "broken:url"


CA = trustme.CA()


@asynccontextmanager
async def secured(identity: str, ca: trustme.CA = CA, not_after: datetime | None = None) -> AsyncIterator[BadServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(identity, not_after=not_after).configure_cert(context)
    async with BadServer(tls=context) as server:
        yield server


async def visit_tls(server: BadServer, host: str, scheme: str = "https", **options: object) -> Visit:
    trusted = ssl.create_default_context()
    CA.configure_trust(trusted)

    async def resolve(name: str, port: int) -> Sequence[str]:
        return ("127.0.0.1",)

    fetcher = Fetcher(Transport(resolver=resolve, tls=trusted), FakeClock(), HostBook())
    url = f"{scheme}://{host}:{server.port}/ok"
    try:
        return await fetcher.visit(RequestPlan(url=url), RequestOptions(**options), settings=EAGER)  # type: ignore[arg-type]
    finally:
        await fetcher.aclose()


async def test_a_good_certificate() -> None:
    async with secured("good.test") as server:
        visit = await visit_tls(server, "good.test")
        assert visit.response is not None
        assert visit.response.status == 200


@pytest.mark.parametrize(
    ("identity", "ca", "not_after", "says"),
    [
        ("other.test", CA, None, "is for another name"),
        ("good.test", trustme.CA(), None, "issuer"),
        ("good.test", CA, datetime(2020, 1, 1, tzinfo=UTC), "has expired"),
    ],
)
async def test_a_bad_certificate_is_named_by_its_cause(
    identity: str, ca: trustme.CA, not_after: datetime | None, says: str
) -> None:
    async with secured(identity, ca, not_after) as server:
        visit = await visit_tls(server, "good.test")
    assert visit.failure is not None
    assert visit.failure.kind == "tls"
    assert says in visit.failure.message


async def test_tls_through_a_tunnel() -> None:
    async with secured("good.test") as server:

        async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.close()

        asked = []

        async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.append((await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0])
            there, out = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(pump(reader, out), pump(there, writer), return_exceptions=True)
            out.close()
            writer.close()

        async with await asyncio.start_server(proxy, "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            visit = await visit_tls(server, "good.test", proxy=f"http://127.0.0.1:{port}")
        assert visit.response is not None
        assert asked[0] == f"CONNECT good.test:{server.port} HTTP/1.1".encode()


def test_rule_23_https_never_becomes_http() -> None:
    to = (b"Location", b"http://a.test/")
    response = Response(
        url="https://a.test/", status=301, headers=(to,), body=b"", received_at=0, elapsed=0, bytes_wire=0
    )
    with pytest.raises(RedirectRefused, match="plain http"):
        next_hop(parse_url("https://a.test/"), response)


async def test_hung_names_hold_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    real = socket.getaddrinfo

    def getaddrinfo(host: str, *args: object, **kwargs: object) -> object:
        if host.startswith("hung"):
            released.wait(30)
            raise socket.gaierror(socket.EAI_NONAME, "gone")
        return real(host, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    resolver = SystemResolver()
    hung = [asyncio.create_task(resolver(f"hung{n}.test", 80)) for n in range(40)]
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(5):
            assert "127.0.0.1" in await resolver("localhost", 80)
    finally:
        released.set()
        results = await asyncio.gather(*hung, return_exceptions=True)
    assert all(isinstance(result, socket.gaierror) for result in results)
