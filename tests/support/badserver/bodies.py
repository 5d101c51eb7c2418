"""Bodies and connections that go wrong: bombs, drips, cuts, resets (CONDUCT rules 36 and 37)."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

from tests.support.badserver.server import Abort, BadServer, Reply, Seen, Writer, scenario, tail

MIB = 1 << 20


def bomb(coding: str, mebibytes: int) -> Iterator[bytes]:
    """That many MiB of zeros in one valid stream, made piece by piece."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31 if coding == "gzip" else 15)
    for _ in range(mebibytes):
        yield packer.compress(bytes(MIB))
    yield packer.flush()


@scenario("/bomb")
async def bombs(server: BadServer, seen: Seen, writer: Writer) -> None:
    """``/bomb/CODING/MIB``; ``gzip-gzip`` packs the packed zeros again."""
    coding, mebibytes = tail(seen, "/bomb")
    pieces = bomb("gzip" if "gzip" in coding else coding, int(mebibytes))
    name = coding.replace("-", ", ")
    if coding == "gzip-gzip":
        pieces = iter([gzip.compress(b"".join(pieces), mtime=0)])
    writer.write(f"HTTP/1.1 200 OK\r\nContent-Encoding: {name}\r\nContent-Type: text/html\r\n\r\n".encode())
    for piece in pieces:
        writer.write(piece)
        await writer.drain()


@scenario("/enc/gzip")
def packed(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [("Content-Encoding", "gzip")], gzip.compress(server.page("gz"), mtime=0))


@scenario("/enc/layers")
def layers(server: BadServer, seen: Seen, _: Writer) -> Reply:
    count, body = int(tail(seen, "/enc/layers")[0]), b"layered"
    for _layer in range(count):
        body = gzip.compress(body, mtime=0)
    return Reply(200, [("Content-Encoding", ", ".join(["gzip"] * count))], body)


@scenario("/enc/as")
def labelled(server: BadServer, seen: Seen, _: Writer) -> Reply:
    """``/enc/as/LABEL?body=KIND``: a label over a body of that kind, true or not."""
    return Reply(200, [("Content-Encoding", seen.query["label"])], BODIES[tail(seen, "/enc/as")[0]])


_ZLIB = zlib.compressobj(9, zlib.DEFLATED, -15)
BODIES = {
    "plain": b"<p>plain</p>",
    "binary": bytes(range(256)),
    "gzip": gzip.compress(b"unpacked", mtime=0),
    "cut": gzip.compress(bytes(range(256)) * 400, mtime=0)[:400],
    "headless": gzip.compress(b"unpacked", mtime=0)[:6],
    "no-trailer": gzip.compress(b"unpacked", mtime=0)[:-4],
    "bad-crc": gzip.compress(b"unpacked", mtime=0)[:-8] + bytes(8),
    "members": gzip.compress(b"first-", mtime=0) + gzip.compress(b"second", mtime=0),
    "members-cut": gzip.compress(b"first-", mtime=0) + gzip.compress(b"second", mtime=0)[:-3],
    "padded": gzip.compress(b"unpacked", mtime=0) + bytes(512),
    "trailing": gzip.compress(b"unpacked", mtime=0) + b"\r\njunk",
    "zlib": zlib.compress(b"unpacked"),
    "raw-deflate": _ZLIB.compress(b"unpacked") + _ZLIB.flush(),
    "empty": b"",
}


@scenario("/body/endless")
async def endless(server: BadServer, seen: Seen, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html\r\n\r\n")
    while True:
        writer.write(b"10000\r\n" + b"a" * 65536 + b"\r\n")
        await writer.drain()


@scenario("/body/big")
async def big(server: BadServer, seen: Seen, writer: Writer) -> None:
    """``/body/big/MIB`` with an honest Content-Length."""
    mebibytes = int(tail(seen, "/body/big")[0])
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (mebibytes << 20))
    for _ in range(mebibytes):
        writer.write(bytes(MIB))
        await writer.drain()


@scenario("/body/short")
def short(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [("Content-Length", "1000"), ("ETag", '"short"')], b"x" * 100, close=True)


@scenario("/body/over")
def over(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [("Content-Length", "5")], b"y" * 50, close=True)


@scenario("/body/close")
def until_close(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [], server.page("close"), length=False, close=True)


@scenario("/body/empty")
def empty(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [("ETag", '"void"')])


@scenario("/body/206")
def part(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(206, [("Content-Range", "bytes 0-9/100"), ("ETag", '"part"')], b"0123456789")


@scenario("/slow/first")
def slow_start(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [], b"late", before=float(tail(seen, "/slow/first")[0]))


@scenario("/slow/head")
async def slow_head(server: BadServer, seen: Seen, writer: Writer) -> None:
    """``/slow/head/S``: one header line every S seconds, for ever."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    place = 0
    while True:
        writer.write(b"X-%d: a\r\n" % place)
        await writer.drain()
        await server.sleep(float(tail(seen, "/slow/head")[0]))
        place += 1


@scenario("/slow/body")
def drip(server: BadServer, seen: Seen, _: Writer) -> Reply:
    """``/slow/body/S/N``: N bytes, one every S seconds."""
    gap, count = tail(seen, "/slow/body")
    return Reply(200, [("ETag", '"slow"')], b"z" * int(count), drip=float(gap))


@scenario("/slow/hang")
async def hang(server: BadServer, seen: Seen, _: Writer) -> None:
    await server.sleep(3600.0)


@scenario("/conn/reset")
def reset(server: BadServer, seen: Seen, _: Writer) -> None:
    raise Abort(True)


@scenario("/conn/empty")
def hang_up(server: BadServer, seen: Seen, _: Writer) -> None:
    raise Abort(False)


@scenario("/conn/reset-mid")
async def reset_midway(server: BadServer, seen: Seen, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"a" * 1000)
    await writer.drain()
    await server.sleep(0.05)
    raise Abort(True)


@scenario("/conn/close-after")
async def close_after(server: BadServer, seen: Seen, writer: Writer) -> None:
    """Promises to keep the connection, answers, and closes it."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    await writer.drain()
