"""CONDUCT rules 36-38: bodies that are too much, too slow, cut short or wrongly labelled."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tests.fetch.net import PLAIN, Net, virtual
from tests.support.badserver import Reply
from watcher.core.charset import decode_text
from watcher.core.model import RequestOptions
from watcher.core.settings import HostSettings

PACED = HostSettings(min_gap=5.0)


@pytest.mark.parametrize("path", ["/bomb/gzip/64", "/bomb/deflate/64", "/bomb/gzip-gzip/64", "/body/endless"])
@virtual
async def test_rule_36_too_large(net: Net, path: str) -> None:
    visit = await net.visit(path)
    assert visit.failure is not None
    assert visit.failure.kind == "too-large"
    assert visit.exchanges[-1].bytes_body == 0
    assert visit.exchanges[-1].bytes_wire < 6 << 20


@virtual
async def test_rule_36_an_announced_body_is_not_even_begun(net: Net) -> None:
    visit = await net.visit("/body/big/64")
    assert visit.failure is not None
    assert "announced" in visit.failure.message
    assert visit.exchanges[-1].bytes_wire < 1000


@virtual
async def test_rule_36_the_limit_is_the_watchs_own(net: Net) -> None:
    assert len((await net.page("/body/big/4")).body) == 4 << 20
    assert await net.kind("/body/big/6") == "too-large"
    assert len((await net.page("/body/big/6", options=RequestOptions(max_body=20 << 20))).body) == 6 << 20
    assert await net.kind("/body/big/2", options=RequestOptions(max_body=1 << 20)) == "too-large"


@pytest.mark.parametrize("path", ["/hdr/big/101", "/hdr/many/5000", "/hdr/flood", "/hdr/interim-flood"])
@virtual
async def test_rule_36_header_floods(net: Net, path: str) -> None:
    assert await net.kind(path, settings=PACED) == "transient:protocol"


@virtual
async def test_rule_36_forty_kilobytes_of_headers_are_fine(net: Net) -> None:
    assert (await net.page("/hdr/big/90")).body == b"ok"
    assert (await net.page("/hdr/many/1000")).body == b"ok"


@pytest.mark.parametrize(
    ("path", "seconds"),
    [("/slow/hang", 20), ("/slow/first/30", 20), ("/slow/body/0.9/1000", 60), ("/slow/head/1", 60), ("/hops/302/1", 0)],
)
@virtual
async def test_rule_36_one_deadline_for_the_check_and_one_for_silence(net: Net, path: str, seconds: float) -> None:
    await net.visit("/ok")
    began = net.clock.monotonic()
    visit = await net.visit(path)
    assert net.clock.monotonic() - began == pytest.approx(seconds, abs=0.5)
    assert (visit.failure.kind if visit.failure else None) == ("transient:timeout" if seconds else None)


@virtual
async def test_rule_36_the_deadline_spans_redirects_and_robots_but_not_the_pauses(net: Net) -> None:
    for hop in range(5):
        to = f"/redirect/{hop + 1}" if hop < 4 else "/ok"
        net.server.pages[f"/redirect/{hop}"] = lambda seen, to=to: Reply(302, [("Location", to)], before=15.0)  # type: ignore[misc]
    visit = await net.visit("/redirect/0", settings=PACED)
    assert visit.failure is not None
    assert visit.failure.kind == "transient:timeout"
    assert sum(exchange.total for exchange in visit.exchanges) == pytest.approx(60, abs=0.5)
    net.server.robots["*"] = Reply(200, body=b"User-agent: *\nCrawl-delay: 600\n")
    assert (await net.page("/hops/302/2", host="patient.test", settings=PACED)).status == 200


@virtual
async def test_rule_36_a_name_that_is_never_answered(net: Net) -> None:
    async def hang(host: str, port: int) -> Sequence[str]:
        if host == "hung.test":
            await asyncio.get_running_loop().create_future()
        return ("127.0.0.1",)

    async with Net(net.clock, resolver=hang) as hung:
        began = net.clock.monotonic()
        visits = [hung.visit("/ok", host="hung.test"), hung.visit("/ok", host="well.test")]
        stuck, well = await asyncio.gather(*visits)
        assert stuck.failure is not None
        assert stuck.failure.kind == "transient:timeout"
        assert well.response is not None
        assert net.clock.monotonic() - began == pytest.approx(10, abs=0.5)


@pytest.mark.parametrize(
    ("body", "label", "text"),
    [
        ("gzip", "gzip", b"unpacked"),
        ("gzip", "x-gzip", b"unpacked"),
        ("gzip", "GZIP", b"unpacked"),
        ("members", "gzip", b"first-second"),
        ("padded", "gzip", b"unpacked"),
        ("trailing", "gzip", b"unpacked"),
        ("zlib", "deflate", b"unpacked"),
        ("raw-deflate", "deflate", b"unpacked"),
        ("empty", "gzip", b""),
        ("plain", "utf-8", b"<p>plain</p>"),
        ("plain", "none", b"<p>plain</p>"),
        ("plain", "identity", b"<p>plain</p>"),
        ("plain", "", b"<p>plain</p>"),
    ],
)
@virtual
async def test_rule_37_what_can_be_decoded_is_decoded_whole(net: Net, body: str, label: str, text: bytes) -> None:
    assert (await net.page(f"/enc/as/{body}?label={label}")).body == text


@pytest.mark.parametrize(
    ("body", "label", "kind"),
    [
        ("cut", "gzip", "transient:cut"),
        ("headless", "gzip", "transient:cut"),
        ("no-trailer", "gzip", "transient:cut"),
        ("members-cut", "gzip", "transient:cut"),
        ("bad-crc", "gzip", "broken:encoding"),
        ("plain", "gzip", "broken:encoding"),
        ("plain", "br", "broken:encoding"),
        ("plain", "zstd", "broken:encoding"),
        ("gzip", "x-rot13", "broken:encoding"),
        ("gzip", "gzip, utf-8", "broken:encoding"),
    ],
)
@virtual
async def test_rule_37_what_cannot_is_a_failure_and_never_text(net: Net, body: str, label: str, kind: str) -> None:
    assert await net.kind(f"/enc/as/{body}?label={label}") == kind


@virtual
async def test_rule_37_two_layers_and_no_more(net: Net) -> None:
    assert (await net.page("/enc/layers/2")).body == b"layered"
    assert await net.kind("/enc/layers/3") == "broken:encoding"


@pytest.mark.parametrize("path", ["/body/short", "/body/chunk-cut"])
@virtual
async def test_rule_37_a_short_body_is_a_failure_never_a_page(net: Net, path: str) -> None:
    assert await net.kind(path) == "transient:cut"


@pytest.mark.parametrize("path", ["/body/bad-chunk", "/hdr/badname", "/hdr/two-lengths", "/conn/garbage"])
@virtual
async def test_what_is_not_http_is_a_failure(net: Net, path: str) -> None:
    assert await net.kind(path, settings=PACED) == "transient:protocol"


@virtual
async def test_a_reset_midway_is_a_failure(net: Net) -> None:
    assert await net.kind("/conn/reset-mid", settings=PACED) == "transient:reset"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/body/close", b"<!doctype html><title>close</title><p>version 1</p>\n"),
        ("/body/over", b"yyyyy"),
        ("/hdr/fold", b"ok"),
        ("/hdr/lf", b"ok"),
        ("/hdr/http10", b"ok"),
        ("/hdr/noreason", b"ok"),
        ("/hdr/early", b"ok"),
    ],
)
@virtual
async def test_odd_but_whole_answers_are_taken(net: Net, path: str, body: bytes) -> None:
    response = await net.page(path, settings=PACED)
    assert (response.status, response.body) == (200, body)


@virtual
async def test_headers_are_kept_as_received(net: Net) -> None:
    case = await net.page("/hdr/case")
    assert (b"eTaG", b'"k"') in case.headers
    assert case.lines(b"x-dup") == [b"1", b"2"]
    assert (await net.page("/hdr/bytes")).lines(b"x-l1") == [b"caf\xe9"]
    assert (await net.page("/hdr/early")).lines(b"etag") == [b'"final"']
    assert (await net.page("/hdr/999")).status == 999


@virtual
async def test_rule_38_the_text_is_the_browsers(net: Net) -> None:
    net.server.pages["/"] = lambda seen: Reply(200, [("Content-Type", "text/html; charset=iso-8859-1")], b"\x93q\x94")
    response = await net.page("/")
    assert decode_text(response.body, (response.header(b"content-type") or b"").decode()).text == "“q”"


@pytest.mark.parametrize("status", [204, 304])
@virtual
async def test_a_status_without_a_body_is_not_decoded(net: Net, status: int) -> None:
    net.server.pages["/"] = lambda seen: Reply(status, [("Content-Encoding", "gzip")], length=False)
    response = await net.page("/", conditions=((b"If-None-Match", b'"x"'),))
    assert (response.status, response.body) == (status, b"")
    assert (await net.page("/ok", options=PLAIN)).status == 200
