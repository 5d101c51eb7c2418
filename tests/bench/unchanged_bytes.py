"""Bytes of a pass in which nothing changed: watcher against ``wget -N``, both ways, as the server counts them.

    python -m tests.bench.unchanged_bytes [--pages 1000]

Every request of ours is on a connection of its own, as with the shipped gap between requests; wget keeps its one open.
One loopback server holds the pages with Last-Modified, and once more with an ETag beside it. wget fetches them into
a directory and asks again with -N; watcher checks them once and again. Bar: at most 1.15 of wget's bytes on the dates,
and a 304 for every page in both. wget knows no ETag: there it has no column.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import subprocess
import tempfile
from email.utils import formatdate, parsedate_to_datetime
from pathlib import Path

from watcher.cli.clock import SystemClock
from watcher.core.model import Watch
from watcher.core.settings import HostSettings, Settings
from watcher.engine.engine import Engine
from watcher.fetch import Transport, sending
from watcher.store import Store

DATE = formatdate(1_760_000_000, usegmt=True).encode()
BODY = b"<html><body><h1>Page</h1><p>" + b"word " * 1_500 + b"</p></body></html>"
BAR = 1.15


class Site:
    """Counts what it reads and writes; /date/N has a Last-Modified, /tag/N an ETag too. robots.txt is not there."""

    def __init__(self) -> None:
        self.bytes = self.requests = self.unmodified = 0

    def reset(self) -> None:
        self.bytes = self.requests = self.unmodified = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                answer = self._answer(head)
                self.bytes += len(head) + len(answer)
                self.requests += 1
                writer.write(answer)
                await writer.drain()
                if b"connection: close" in head.lower():
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answer(self, head: bytes) -> bytes:
        target, fields = head.split(b" ", 2)[1], dict(_fields(head))
        now = formatdate(usegmt=True).encode()
        if target == b"/robots.txt":
            return b"HTTP/1.1 404 Not Found\r\nDate: %b\r\nContent-Length: 0\r\n\r\n" % now
        tag = b'"%b"' % target.rpartition(b"/")[2] if target.startswith(b"/tag/") else b""
        lines = b"Date: %b\r\nLast-Modified: %b\r\n" % (now, DATE) + (b"ETag: %b\r\n" % tag if tag else b"")
        same = fields.get(b"if-none-match") == tag if b"if-none-match" in fields else _known(fields)
        if same:
            self.unmodified += 1
            return b"HTTP/1.1 304 Not Modified\r\n%b\r\n" % lines
        kind = b"Content-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n" % len(BODY)
        body = b"" if head.startswith(b"HEAD ") else BODY
        return b"HTTP/1.1 200 OK\r\n%b%b\r\n%b" % (lines, kind, body)


def _fields(head: bytes) -> list[tuple[bytes, bytes]]:
    pairs = (line.partition(b":") for line in head.split(b"\r\n")[1:] if line)
    return [(name.lower(), value.strip()) for name, _, value in pairs]


def _known(fields: dict[bytes, bytes]) -> bool:
    """Exact match only for us who send the server's own string; wget derives its date from the file's time."""
    since = fields.get(b"if-modified-since", b"")
    return since == DATE or bool(since and _seconds(since) >= _seconds(DATE))


def _seconds(date: bytes) -> float:
    return parsedate_to_datetime(date.decode("ascii")).timestamp()


async def ours(site: Site, urls: list[str], folder: Path) -> tuple[int, int, int]:
    """Bytes, requests and 304s of a second pass over ``urls``."""
    watches = tuple(Watch(name=url, url=url) for url in urls)
    clock, transport = SystemClock(), Transport()
    sending.KEEP_BELOW = -1.0
    settings = Settings(watches=watches, host_default=HostSettings(min_gap=0.0, checks_per_day=10**9))
    with Store.open(folder, now=clock.now) as store:
        engine = Engine(settings, store, clock, transport)
        await engine.check_once(all=True)
        site.reset()
        await engine.check_once(all=True)
    await transport.aclose()
    return site.bytes, site.requests, site.unmodified


async def wget(site: Site, urls: list[str], folder: Path) -> tuple[int, int, int]:
    """The same with ``wget -N``."""
    command = ["wget", "-q", "-N", "--no-config", "-x", "-i", "-"]
    for _ in range(2):
        site.reset()
        process = await asyncio.create_subprocess_exec(*command, cwd=folder, stdin=subprocess.PIPE)
        await process.communicate("\n".join(urls).encode())
        if process.returncode:
            raise SystemExit("wget failed")
    return site.bytes, site.requests, site.unmodified


async def measure(pages: int) -> None:
    site = Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0, limit=1 << 20)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    have_wget = shutil.which("wget") is not None
    if not have_wget:
        print("wget is not installed: no ratio, and the bar is not judged")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("date", "tag"):
            urls = [f"{base}/{kind}/{number}" for number in range(pages)]
            mine = await ours(site, urls, Path(folder) / f"data-{kind}")
            print(row(f"watcher, {kind}", pages, mine))
            if kind == "date" and have_wget:
                theirs = await wget(site, urls, Path(folder))
                print(row("wget -N, date", pages, theirs))
                ratio = mine[0] / theirs[0]
                print(f"bytes against wget -N: {ratio:.2f}x (bar {BAR}x)")
    server.close()
    await server.wait_closed()


def row(label: str, pages: int, told: tuple[int, int, int]) -> str:
    total, requests, unmodified = told
    each = f"{total / pages:8.0f} bytes/page  {requests / pages:.3f} requests/page"
    return f"{label:15} {each}  304 for {unmodified}/{pages}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000)
    asyncio.run(measure(parser.parse_args().pages))


if __name__ == "__main__":
    main()
