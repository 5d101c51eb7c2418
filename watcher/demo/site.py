"""How the town's hosts answer: each shows one habit of real servers. Stdlib only, one loopback port, many names."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate

from watcher.core.phrase import HOUR
from watcher.demo import town

HTML = "text/html; charset=utf-8"

LET_UNTIL, LET_AGAIN = 8.0, 100.0
"""Hours between which the loft is let and its page answers 410."""

HOSTS = (
    "shop.demo",
    "news.demo",
    "harbour.demo",
    "archive.demo",
    "plain.demo",
    "churn.demo",
    "busy.demo",
    "cafe.demo",
    "rent.demo",
    "mast.demo",
    "members.demo",
)


@dataclass(frozen=True)
class Answer:
    """One response. ``etag`` and ``modified`` (hours) make it answer conditional requests."""

    body: str = ""
    status: int = 200
    content_type: str = HTML
    etag: str | None = None
    modified: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def tagged(body: str, basis: str | None = None) -> Answer:
    """A body under a strong ETag; ``basis`` is what the tag is of, where the body carries noise."""
    return Answer(body, etag=f'"{hashlib.sha256((basis or body).encode()).hexdigest()[:16]}"')


def answer(host: str, path: str, hours: float, nth: int) -> Answer:
    """What ``host`` says to its ``nth`` request for ``path``, ``hours`` into the demo."""
    if path == "/robots.txt":
        rules = "User-agent: *\nDisallow: /members/\n" if host == "members.demo" else "User-agent: *\nAllow: /\n"
        return Answer(rules, content_type="text/plain")
    place = PLACES.get((host, path))
    return place(hours, nth) if place else Answer("<h1>No such quay</h1>", 404)


def _product(name: str) -> Callable[[float, int], Answer]:
    def show(hours: float, nth: int) -> Answer:
        told = f"{town.at_hour(hours, town.PRICES[name])} {town.at_hour(hours, town.STOCK[name])} {int(hours / 150)}"
        return tagged(town.product(name, hours), told)

    return show


def _ferry(hours: float, nth: int) -> Answer:
    if nth % 3 == 2:
        return Answer("Too many requests", 429, "text/plain", headers={"Retry-After": "43200"})
    return Answer(town.timetable(hours), content_type="application/json")


def _loft(hours: float, nth: int) -> Answer:
    if LET_UNTIL <= hours < LET_AGAIN:
        return Answer("<h1>This loft has been let</h1>", 410)
    return Answer(town.loft(), etag='"loft"')


def _mast(hours: float, nth: int) -> Answer:
    if 20 <= hours < 140:
        return Answer("<h1>502 Bad Gateway</h1>", 502)
    return Answer(town.mast(hours))


PLACES: dict[tuple[str, str], Callable[[float, int], Answer]] = {
    ("shop.demo", "/storm-lantern"): _product("storm-lantern"),
    ("shop.demo", "/barometer"): _product("barometer"),
    ("shop.demo", "/wool-blanket"): _product("wool-blanket"),
    ("news.demo", "/"): lambda hours, nth: Answer(town.gazette(hours), modified=int(hours / 18) * 18.0),
    ("harbour.demo", "/work"): lambda hours, nth: tagged(town.jobs(hours)),
    ("harbour.demo", "/notice"): lambda hours, nth: tagged(town.notice(hours)),
    ("archive.demo", "/logbook/1911-03"): lambda hours, nth: Answer(town.logbook(), modified=-1_008_000.0),
    ("plain.demo", "/tides"): lambda hours, nth: Answer(town.tides(hours)),
    ("churn.demo", "/new-books"): lambda hours, nth: Answer(town.library(hours), etag=f'"{nth:08x}"'),
    ("busy.demo", "/timetable.json"): _ferry,
    ("cafe.demo", "/"): lambda hours, nth: Answer(town.cafe(hours)),
    ("rent.demo", "/loft"): _loft,
    ("mast.demo", "/now"): _mast,
    ("members.demo", "/members/board"): lambda hours, nth: Answer("<h1>For members</h1>"),
}


class Site:
    """The town on one loopback port. ``now`` is the demo's clock; ``port`` is known once the site is entered."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._opened_at = now()
        self._counts: dict[tuple[str, str], int] = {}
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.port = 0

    async def __aenter__(self) -> Site:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._open):
            writer.transport.abort()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            asked = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            writer.write(self.respond(asked))
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    def respond(self, asked: list[str]) -> bytes:
        """The whole response to a request given as its lines."""
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in asked[1:])}
        path = asked[0].split(" ")[1]
        host = headers.get("host", "").rpartition(":")[0]
        count = self._counts[host, path] = self._counts.get((host, path), 0) + 1
        return self._bytes(answer(host, path, (self._now() - self._opened_at) / HOUR, count), headers)

    def _bytes(self, made: Answer, asked: Mapping[str, str]) -> bytes:
        lines = {"Date": formatdate(self._now(), usegmt=True), "Connection": "close", **made.headers}
        if made.etag is not None:
            lines["ETag"] = made.etag
        if made.modified is not None:
            lines["Last-Modified"] = formatdate(self._opened_at + made.modified * HOUR, usegmt=True)
        known = {tag.strip() for tag in asked.get("if-none-match", "").split(",")}
        same = made.etag in known if "if-none-match" in asked else _same_date(lines, asked)
        status, body = (304, b"") if made.status == 200 and same else (made.status, made.body.encode())
        if status != 304:
            lines |= {"Content-Type": made.content_type, "Content-Length": str(len(body))}
        start = f"HTTP/1.1 {status} {status}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return start.encode("latin-1") + b"\r\n" + body


def _same_date(lines: Mapping[str, str], asked: Mapping[str, str]) -> bool:
    return "if-modified-since" in asked and asked["if-modified-since"] == lines.get("Last-Modified")
