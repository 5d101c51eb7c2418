"""A site on a loopback port, a configuration that watches it, and the command as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


@dataclass
class Site:
    """Pages by path (a body, or a status), with strong validators; ``asked`` holds every request line.

    A page in ``held`` is answered once its event is set.
    """

    pages: dict[str, str | int] = field(default_factory=dict)
    held: dict[str, threading.Event] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    port: int = 0

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"


@pytest.fixture
def site() -> Iterator[Site]:
    """The site, served from a thread until the test ends."""
    found = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            if (event := found.held.get(self.path)) is not None:
                event.wait(60)
            page = found.pages.get(self.path, 404)
            body = page.encode() if isinstance(page, str) else b""
            tag = f'"{sha256(body).hexdigest()[:12]}"'
            status = page if isinstance(page, int) else 200
            if status == 200 and self.headers.get("If-None-Match") == tag:
                status, body = 304, b""
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("ETag", tag)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        server.shutdown()
        thread.join()


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Standard output as the JSON objects it is made of."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class Watcher:
    """The command, with a configuration and a data directory of its own."""

    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "config.toml"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def configure(self, text: str) -> None:
        self.config.write_text('[hosts.default]\nmin_gap = "0s"\n' + text, "utf-8")

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "watcher", "--config", str(self.config), "--data-dir", str(self.data), *words]

    def __call__(self, *words: str, stdin: str | None = None, env: dict[str, str] | None = None) -> Ran:
        run = subprocess.run(
            self.command(*words),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            env={**os.environ, **(env or {})},
        )
        assert "Traceback" not in run.stderr
        return Ran(run.returncode, run.stdout, run.stderr)


@pytest.fixture
def watcher(tmp_path: Path) -> Watcher:
    """The command over an empty directory."""
    return Watcher(tmp_path)


LAMP = '<html><body><h1>Desk lamp</h1><p class="price">19.99 EUR</p></body></html>'


@pytest.fixture
def lamp(site: Site, watcher: Watcher) -> Site:
    """One watch of a lamp and its price."""
    site.pages["/lamp"] = LAMP
    watcher.configure(
        f'[[watch]]\nname = "Desk lamp"\nurl = "{site.url("/lamp")}"\n'
        '[watch.fields]\ntitle = "h1"\nprice = { css = ".price", type = "price" }\n'
    )
    return site
