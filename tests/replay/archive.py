"""The page archive as a living site: every snapshot is served from its instant until the next, with validators.

``../shared/data/terms`` holds 19 pages over three years. A page's ETag is the hash of its bytes, its Last-Modified the
snapshot's instant, and a conditional request for what has not changed is answered 304.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import lzma
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Any

Declaration = tuple[tuple[str, ...], tuple[str, ...]]
"""The region of a page as the archive declared it: selectors to take, selectors to remove."""


@dataclass(frozen=True)
class Snapshot:
    """One page at one instant. ``changed`` is the archive's label against the snapshot before (None: unknown)."""

    at: float
    body: bytes
    etag: str
    changed: bool | None
    declared: Declaration


@dataclass(frozen=True)
class ArchivedPage:
    """One page's life. ``path`` is where the replay serves it."""

    name: str
    path: str
    snapshots: tuple[Snapshot, ...]

    def index_at(self, at: float) -> int:
        """The number of the snapshot in force at ``at``; the first one before it begins."""
        return max(0, bisect_right(self.snapshots, at, key=lambda snapshot: snapshot.at) - 1)

    def between(self, after: float, until: float) -> Iterator[Snapshot]:
        """The snapshots that came later than ``after`` and not later than ``until``."""
        return (snapshot for snapshot in self.snapshots if after < snapshot.at <= until)


def load(data: Path, pages: int | None = None, since: float = 0.0, until: float = 1e12) -> list[ArchivedPage]:
    """The archive under ``data``: its first ``pages`` pages, snapshots between ``since`` and ``until`` only."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in (data / "snapshots.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        rows.setdefault(row["file"], []).append(row)
    found = []
    for number, (file, group) in enumerate(list(rows.items())[:pages], 1):
        blob = lzma.decompress((data / file).read_bytes())
        snapshots = tuple(_snapshot(row, blob) for row in group if since <= row["at"] <= until)
        if snapshots:
            found.append(ArchivedPage(group[0]["page"], f"/{number:03d}", snapshots))
    return found


def _snapshot(row: dict[str, Any], blob: bytes) -> Snapshot:
    body = blob[row["start"] : row["start"] + row["size"]]
    declared = (tuple(row["select"]), tuple(row["remove"]))
    return Snapshot(float(row["at"]), body, f'"{hashlib.sha256(body).hexdigest()[:32]}"', row["changed"], declared)


class ArchiveServer:
    """Serves the pages as they were at ``now()``. ``asked`` counts requests, ``saved`` those answered 304."""

    def __init__(self, pages: Iterable[ArchivedPage], now: Callable[[], float], port: int = 0) -> None:
        self._pages = {page.path: page for page in pages}
        self._now = now
        self._server: asyncio.Server | None = None
        self.port = port
        self.asked = 0
        self.saved = 0

    async def __aenter__(self) -> ArchiveServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            writer.write(self.respond(lines[0].split(" ")[1], _fields(lines[1:])))
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    def respond(self, path: str, asked: dict[str, str]) -> bytes:
        """The whole answer to one request."""
        date = formatdate(self._now(), usegmt=True)
        page = self._pages.get(path)
        if page is None:
            return f"HTTP/1.1 404 Not Found\r\nDate: {date}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
        self.asked += 1
        snapshot = page.snapshots[page.index_at(self._now())]
        modified = formatdate(snapshot.at, usegmt=True)
        head = f"Date: {date}\r\nETag: {snapshot.etag}\r\nLast-Modified: {modified}\r\nConnection: close\r\n"
        tags = asked.get("if-none-match")
        if (snapshot.etag in tags) if tags is not None else asked.get("if-modified-since") == modified:
            self.saved += 1
            return f"HTTP/1.1 304 Not Modified\r\n{head}\r\n".encode()
        length = f"Content-Type: text/html\r\nContent-Length: {len(snapshot.body)}\r\n"
        return f"HTTP/1.1 200 OK\r\n{head}{length}\r\n".encode() + snapshot.body


def _fields(lines: Iterable[str]) -> dict[str, str]:
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
