"""Statuses, redirects, header oddities and cookies."""

from __future__ import annotations

import json

from tests.support.badserver.conditions import honest
from tests.support.badserver.server import BadServer, Reply, Seen, Writer, scenario, tail


@scenario("/ok")
def fine(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "ok", b'"ok"')


@scenario("/status")
def status(server: BadServer, seen: Seen, _: Writer) -> Reply:
    """``/status/CODE?ra=VALUE``; ``ra=+N`` is a date N seconds ahead."""
    code = int(tail(seen, "/status")[0])
    headers: list[tuple[str, bytes | str]] = [("Content-Type", "text/html")]
    if (after := seen.query.get("ra")) is not None:
        headers.append(("Retry-After", server.date(float(after[1:])) if after[:1] == " " else after))
    return Reply(code, headers, b"" if code in (204, 304) else b"<p>status</p>")


@scenario("/seq")
def sequence(server: BadServer, seen: Seen, _: Writer) -> Reply:
    """``/seq/200,503,200``: the Nth request gets the Nth code, the last one stays."""
    codes = tail(seen, "/seq")[0].split(",")
    code = int(codes[min(seen.nth, len(codes)) - 1])
    return honest(server, seen, "seq", b'"seq"') if code == 200 else Reply(code, body=b"x")


@scenario("/ra2")
def two_retry_afters(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(503, [("Retry-After", "120"), ("Retry-After", "3600")])


@scenario("/redir")
def redirect(server: BadServer, seen: Seen, _: Writer) -> Reply:
    """``/redir/CODE?to=LOCATION``."""
    return Reply(int(tail(seen, "/redir")[0]), [("Location", seen.query["to"].encode())], b"moved")


@scenario("/hops")
def hops(server: BadServer, seen: Seen, _: Writer) -> Reply:
    """``/hops/CODE/N``: N redirects, then a page."""
    code, left = tail(seen, "/hops")
    if left == "0":
        return honest(server, seen, "hops", b'"end"')
    return Reply(int(code), [("Location", f"/hops/{code}/{int(left) - 1}")])


@scenario("/redir-tagged")
def tagged_redirect(server: BadServer, seen: Seen, _: Writer) -> Reply:
    """The redirect carries a tag of its own, which must never come back."""
    return Reply(302, [("Location", "/cond/strong"), ("ETag", '"redirect"')])


@scenario("/loop")
def loop(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(302, [("Location", "/loop/" + ("b" if seen.path.endswith("a") else "a"))])


@scenario("/no-location")
def no_location(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(302)


@scenario("/cookie/set")
def sets_cookies(server: BadServer, seen: Seen, _: Writer) -> Reply:
    body = b"|".join(seen.all(b"cookie")) or b"none"
    return Reply(200, [("Set-Cookie", "sid=1; Path=/"), ("Set-Cookie", "keep=2; Path=/; Max-Age=86400")], body)


@scenario("/echo")
def echo(server: BadServer, seen: Seen, _: Writer) -> Reply:
    told = {"method": seen.method, "target": seen.target, "body": seen.body.decode("latin-1")}
    lines = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in seen.headers]
    return Reply(200, [("Content-Type", "application/json")], json.dumps({**told, "headers": lines}).encode())


@scenario("/hdr/case")
def header_case(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [("eTaG", '"k"'), ("X-Dup", "1"), ("x-dup", "2")], b"ok")


@scenario("/hdr/bytes")
def header_bytes(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [("X-L1", b"caf\xe9"), ("X-U8", "日本".encode())], b"ok")


@scenario("/hdr/big")
def big_header(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [("X-Big", "b" * (1024 * int(tail(seen, "/hdr/big")[0])))], b"ok")


@scenario("/hdr/many")
def many_headers(server: BadServer, seen: Seen, _: Writer) -> Reply:
    count = int(tail(seen, "/hdr/many")[0])
    return Reply(200, [(f"X-{place}", "v" * 20) for place in range(count)], b"ok")


@scenario("/hdr/http10")
def old_version(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [("ETag", '"ten"')], b"ok", version=b"HTTP/1.0", close=True)


@scenario("/hdr/999")
def made_up(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(999, [], b"denied", reason=b"Request denied")


@scenario("/hdr/early")
def early_hints(server: BadServer, seen: Seen, writer: Writer) -> Reply:
    writer.write(b'HTTP/1.1 103 Early Hints\r\nETag: "hint"\r\n\r\n')
    return Reply(200, [("ETag", '"final"')], b"ok")


RAW = {
    "/hdr/fold": b"HTTP/1.1 200 OK\r\nX-Fold: a\r\n  b\r\nContent-Length: 2\r\n\r\nok",
    "/hdr/lf": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    "/hdr/badname": b"HTTP/1.1 200 OK\r\nX Bad : 1\r\nContent-Length: 2\r\n\r\nok",
    "/hdr/two-lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 50\r\n\r\nok" + b"." * 48,
    "/hdr/noreason": b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok",
    "/conn/garbage": b"\x16\x03\x01 hello, this is not HTTP\r\n\r\n",
    "/body/bad-chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\nhello\r\n0\r\n\r\n",
    "/body/chunk-cut": b'HTTP/1.1 200 OK\r\nETag: "cut"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
}


def _play_raw(server: BadServer, seen: Seen, writer: Writer) -> None:
    writer.write(RAW[seen.path])


for _path in RAW:
    scenario(_path)(_play_raw)


@scenario("/hdr/interim-flood")
async def interim_flood(server: BadServer, seen: Seen, writer: Writer) -> Reply:
    while True:
        writer.write(b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n")
        await writer.drain()
        await server.sleep(0.01)


@scenario("/hdr/flood")
async def header_flood(server: BadServer, seen: Seen, writer: Writer) -> Reply:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-More: " + b"y" * 4000 + b"\r\n")
        await writer.drain()
