"""CONDUCT rules 21-26 as far as they are the fetcher's: redirects, retries, cool-down."""

from __future__ import annotations

import pytest

from tests.fetch.net import DAY, PLAIN, Net, virtual, virtual_anywhere
from tests.support.badserver import Reply
from watcher.core.model import RequestOptions, Secret
from watcher.core.settings import HostSettings


@virtual
async def test_rule_21_five_hops_and_no_more(net: Net) -> None:
    visit = await net.visit("/hops/302/5")
    assert visit.response is not None
    assert visit.response.url == net.url("/hops/302/0")
    assert [exchange.hop for exchange in visit.exchanges if exchange.purpose != "robots"] == list(range(6))
    assert await net.kind("/hops/302/6") == "broken:redirect"
    assert len(net.seen("/hops/302/6")) == 1


@virtual_anywhere
async def test_rule_21_every_hop_passes_robots_and_pacing(net: Net) -> None:
    net.server.robots["b.test"] = Reply(200, body=b"User-agent: *\nDisallow: /ok\n")
    target = net.url("/ok", "b.test")
    assert await net.kind(f"/redir/302?to={target}", host="a.test") == "refused:robots"
    assert net.seen(host="b.test") == []
    visit = await net.visit("/hops/302/1", host="c.test", settings=HostSettings(min_gap=7.0))
    ended, began = net.seen("/hops/302/1")[0].ended_at, net.seen("/hops/302/0")[0].at
    assert visit.response is not None
    assert began - ended >= 7.0


@virtual_anywhere
async def test_rule_21_validators_go_to_their_own_address_only(net: Net) -> None:
    target = net.url("/cond/strong", "b.test")
    conditions = ((b"If-None-Match", b'"v1"'),)
    visit = await net.visit(
        f"/redir/302?to={target}", host="a.test", conditions=conditions, conditional="etag", conditions_for=target
    )
    assert visit.response is not None
    assert (visit.response.status, visit.conditional) == (304, "etag")
    assert [seen.conditional for seen in net.seen()] == [False, True]
    elsewhere = await net.visit(
        "/cond/strong", conditions=conditions, conditional="etag", conditions_for="http://elsewhere.test/"
    )
    assert elsewhere.response is not None
    assert (elsewhere.response.status, elsewhere.conditional) == (200, None)


@virtual_anywhere
async def test_rule_21_nothing_configured_crosses_to_another_origin(net: Net) -> None:
    options = RequestOptions(
        headers=(("X-Api-Key", Secret("literal:hunter2")), ("X-Plain", "tracing"), ("Accept-Language", "de")),
        cookies=(("sid", Secret("literal:cookie-value")),),
        auth=("me", Secret("literal:pass-word")),
    )
    target = net.url("/echo", "b.test")
    response = await net.page(f"/redir/302?to={target}", host="a.test", options=options)
    assert response.status == 200
    home, away = net.seen(host="a.test")[-1], net.seen(host="b.test")[-1]
    private = {b"x-api-key", b"x-plain", b"cookie", b"authorization"}
    assert private <= {name.lower() for name, _ in home.headers}
    assert not private & {name.lower() for name, _ in away.headers}
    assert away.get(b"accept-language") == b"de"
    assert not away.all(b"referer")


@virtual
async def test_rule_21_another_port_is_another_origin(net: Net) -> None:
    async with Net(net.clock) as other:
        options = RequestOptions(headers=(("X-Api-Key", Secret("literal:k")),))
        await net.visit(f"/redir/302?to={other.url('/echo')}", options)
        assert other.seen()[-1].all(b"x-api-key") == []


@virtual
async def test_rule_22_the_source_is_asked_every_time_and_permanence_is_told(net: Net) -> None:
    for code, permanent in ((301, True), (308, True), (302, False), (307, False), (303, False)):
        visit = await net.visit(f"/hops/{code}/2")
        assert bool(visit.permanent) is permanent
        if permanent:
            assert visit.permanent[-1] == net.url(f"/hops/{code}/0")
    assert (await net.visit("/ok")).permanent == ()


@pytest.mark.parametrize(
    "location",
    ["ftp://x.test/", "data:text/html,x", "file:///etc/passwd", "http://u:p@x.test/a", "http://x.test:99999/", "http://",
     "http://x.test\\@evil.test/", "javascript:alert(1)"],
)  # fmt: skip
@virtual
async def test_rule_23_refused_locations(net: Net, location: str) -> None:
    net.server.pages["/"] = lambda seen: Reply(302, [("Location", location)])
    assert await net.kind("/") == "broken:redirect"
    assert len(net.seen()) == 1


@pytest.mark.parametrize("path", ["/loop/a", "/no-location"])
@virtual
async def test_rule_23_circles_and_missing_locations(net: Net, path: str) -> None:
    assert await net.kind(path) == "broken:redirect"
    assert len(net.seen()) <= 2


@virtual
async def test_rule_23_an_empty_location_is_the_same_page(net: Net) -> None:
    net.server.pages["/"] = lambda seen: Reply(302, [("Location", "")])
    assert await net.kind("/") == "broken:redirect"


@pytest.mark.parametrize("end", ["/", "/index.html", "/login", "/users/sign_in", "/sso/start", "/sorry/index"])
@virtual
async def test_rule_23_a_deep_page_hardly_moved_there(net: Net, end: str) -> None:
    net.server.pages[end] = lambda seen: Reply(200, body=b"<h1>Welcome</h1>")
    net.server.pages["/deep/page"] = lambda seen: Reply(302, [("Location", end)])
    net.server.pages["/index.php"] = lambda seen: Reply(302, [("Location", end)])
    assert await net.kind("/deep/page") == "moved-suspect"
    wall = end not in ("/", "/index.html")
    visit = await net.visit("/index.php")
    assert (visit.failure is not None) is wall


@virtual
async def test_rule_23_places_this_watch_forbids(net: Net) -> None:
    net.server.pages["/x"] = lambda seen: Reply(302, [("Location", "/ok")])
    assert await net.kind("/x", options=RequestOptions(forbid_redirect_to=("/ok",))) == "moved-suspect"
    assert (await net.page("/x")).status == 200


@pytest.mark.parametrize(("code", "method", "body"), [(303, "GET", ""), (302, "GET", ""), (307, "POST", "q=1")])
@virtual_anywhere
async def test_rule_21_methods_change_as_browsers_change_them(net: Net, code: int, method: str, body: str) -> None:
    options = RequestOptions(method="POST", body="q=1", headers=(("Content-Type", "text/plain"),))
    await net.visit(f"/redir/{code}?to=/echo", options)
    seen = net.seen("/echo")[-1]
    assert (seen.method, seen.body.decode()) == (method, body)
    assert bool(seen.all(b"content-type")) is bool(body)
    away = net.url("/echo", "b.test")
    if code == 307:
        assert await net.kind(f"/redir/307?to={away}", options=options) == "broken:redirect"
        assert net.seen(host="b.test") == []


@virtual
async def test_rule_25_a_kept_connection_that_fails_is_tried_once_more(net: Net) -> None:
    await net.visit("/conn/close-after")
    assert (await net.page("/ok")).status == 200
    assert len(net.seen("/ok")) == 1


@virtual
async def test_rule_25_a_fresh_connection_that_fails_is_not(net: Net) -> None:
    paced = HostSettings(min_gap=5.0)
    assert await net.kind("/conn/reset", settings=paced) == "transient:reset"
    assert await net.kind("/conn/empty", settings=paced) == "transient:protocol"
    assert [len(net.seen(path)) for path in ("/conn/reset", "/conn/empty")] == [1, 1]


@virtual
async def test_rule_25_a_kept_connection_with_unasked_bytes_is_dropped(net: Net) -> None:
    await net.visit("/cond/304-body", conditions=((b"If-None-Match", b'"nb"'),))
    assert (await net.page("/ok")).status == 200
    assert net.seen("/ok")[0].connection != net.seen("/cond/304-body")[0].connection


@virtual
async def test_rule_25_where_requests_follow_at_once_the_connection_is_kept(net: Net) -> None:
    for _ in range(3):
        await net.visit("/ok")
    assert len({seen.connection for seen in net.server.log}) == 1


@virtual
async def test_rule_26_three_failing_pages_cool_their_host_down(net: Net) -> None:
    await net.visit("/ok")
    for path in ("/conn/reset/a", "/conn/reset/b", "/conn/reset/a", "/status/502", "/ok"):
        await net.visit(path)
    held = await net.visit("/ok")
    assert held.failure is not None
    assert held.failure.kind == "held"
    assert held.not_before_at is not None
    assert held.not_before_at > net.clock.now()
    assert not held.sent
    asked = len(net.seen())
    await net.clock.run_until(held.not_before_at)
    assert await net.kind("/conn/reset/c") == "transient:reset"
    assert await net.kind("/ok") == "held"
    assert len(net.seen()) == asked + 1
    await net.clock.advance(DAY)
    assert (await net.page("/ok")).status == 200
    assert net.hosts.get(net.url("").rstrip("/")).failing == 0


@virtual
async def test_rule_26_one_failing_page_cools_nobody_down(net: Net) -> None:
    for _ in range(6):
        await net.visit("/status/502", PLAIN)
    assert (await net.page("/ok")).status == 200
