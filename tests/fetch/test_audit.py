"""The audit trail: one line per exchange, robots.txt and redirects included, with what CONDUCT lists."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

from tests.fetch.net import Net, virtual
from tests.support.badserver import Reply
from watcher.core.exchange import Exchange
from watcher.core.settings import HostSettings


@virtual
async def test_every_exchange_leaves_a_line(net: Net) -> None:
    visit = await net.visit("/hops/301/2", settings=HostSettings(min_gap=5.0))
    told = [(e.purpose, e.hop, e.status, e.waited) for e in visit.exchanges]
    assert told == [("robots", 0, 404, 0), ("page", 0, 301, 5), ("redirect", 1, 301, 5), ("redirect", 2, 200, 5)]
    assert [e.url for e in visit.exchanges] == [net.url(seen.target) for seen in net.server.log]


@virtual
async def test_the_fields_of_a_line(net: Net) -> None:
    net.server.pages["/page"] = lambda seen: Reply(
        200,
        [
            ("ETag", b'"caf\xe9"'),
            ("Content-Type", "text/html"),
            ("Set-Cookie", "sid=1"),
            ("Cache-Control", "max-age=9"),
        ],
        b"hello",
        before=0.5,
    )
    visit = await net.visit("/page", conditions=((b"If-None-Match", b'"caf\xe8"'),), conditional="etag")
    line = visit.exchanges[-1]
    assert (line.method, line.status, line.http_version, line.peer) == ("GET", 200, "1.1", "127.0.0.1")
    assert line.at == net.clock.now() - 0.5
    assert (line.conditional, line.sent) == ("etag", (("if-none-match", '"caf\xe8"'),))
    received = dict(line.received)
    assert received["etag"] == '"caf\xe9"'
    assert received["cache-control"] == "max-age=9"
    assert "set-cookie" not in received
    assert (line.first_byte, line.total) == (pytest.approx(0.5, abs=0.1), pytest.approx(0.5, abs=0.1))
    assert line.bytes_body == 5
    assert 100 < line.bytes_wire < 250
    assert line.body_sha256 == hashlib.sha256(b"hello").hexdigest()
    assert line.robots == "allowed: no rules (404)"
    assert msgspec.json.decode(msgspec.json.encode(line), type=Exchange) == line


@virtual
async def test_a_failure_leaves_a_line_too(net: Net) -> None:
    visit = await net.visit("/enc/as/cut?label=gzip")
    line = visit.exchanges[-1]
    assert (line.status, line.coding) == (200, "gzip")
    assert line.error is not None
    assert line.error.startswith("transient:cut: ")
    assert line.body_sha256 is None


@virtual
async def test_robots_decisions_name_group_and_age(net: Net) -> None:
    net.server.robots["*"] = Reply(200, body=b"User-agent: watcher\nDisallow: /ok\n")
    await net.visit("/cond/none")
    await net.clock.advance(100)
    visit = await net.visit("/cond/none")
    assert visit.exchanges[-1].robots == "allowed: group watcher, 100 s old"
    refused = await net.visit("/ok")
    assert refused.exchanges == ()
    assert refused.failure is not None
    assert "(group watcher)" in refused.failure.message
