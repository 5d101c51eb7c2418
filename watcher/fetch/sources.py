"""Pages that no host serves: what a command prints, and files on this machine. Both are a 200 without validators."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from watcher.core.clock import Clock
from watcher.core.exchange import Exchange, Response, Visit
from watcher.core.model import Failure

PIECE = 64 * 1024


async def run_command(argv: Sequence[str], url: str, clock: Clock, *, patience: float, most: int) -> Visit:
    """The standard output of ``argv``, run without a shell. Its last words on standard error explain a failure."""
    at, loop = clock.now(), asyncio.get_running_loop()
    began = loop.time()
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is not a command"
        return _failed(at, url, "command", f"The command {argv[0]!r} cannot be run: {why}.")
    assert process.stdout is not None
    assert process.stderr is not None
    words = asyncio.create_task(_last_words(process.stderr))
    body = bytearray()
    try:
        async with asyncio.timeout(patience):
            while piece := await process.stdout.read(PIECE):
                body += piece
                if len(body) > most:
                    return _failed(at, url, "too-large", f"The command {argv[0]!r} prints more than {most:,} bytes.")
            status = await process.wait()
            said = await words
    except TimeoutError:
        return _failed(at, url, "transient:timeout", f"The command {argv[0]!r} did not end within {patience:g} s.")
    finally:
        words.cancel()
        await _ended(process)
    if status:
        return _failed(at, url, "command", f"The command {argv[0]!r} failed with status {status}{said}.")
    return _page(at, url, bytes(body), loop.time() - began, clock.now())


async def _last_words(stream: asyncio.StreamReader) -> str:
    tail = b""
    while piece := await stream.read(PIECE):
        tail = (tail + piece)[-500:]
    lines = [line.strip() for line in tail.decode("utf-8", "replace").splitlines() if line.strip()]
    return f": {lines[-1][:200]}" if lines else ""


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Kill the command and what it started, if it still runs."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def read_file(url: str, clock: Clock, *, most: int) -> Visit:
    """The content of a ``file:`` URL."""
    at, loop = clock.now(), asyncio.get_running_loop()
    began = loop.time()
    path = Path(unquote(urlsplit(url).path))
    try:
        body = await asyncio.to_thread(_read, path, most + 1)
    except OSError as error:
        kind = "missing" if isinstance(error, FileNotFoundError) else "file"
        return _failed(at, url, kind, f"The file {path} cannot be read: {error.strerror}.")
    if len(body) > most:
        return _failed(at, url, "too-large", f"The file {path} has more than {most:,} bytes.")
    return _page(at, url, body, loop.time() - began, clock.now())


def _read(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        return file.read(most)


def _page(at: float, url: str, body: bytes, elapsed: float, now: float) -> Visit:
    exchange = Exchange(at=at, purpose="page", method="READ", url=url, total=round(elapsed, 4), bytes_body=len(body))
    response = Response(url=url, status=200, headers=(), body=body, received_at=now, elapsed=elapsed, bytes_wire=0)
    return Visit(exchanges=(exchange,), response=response, sent=True)


def _failed(at: float, url: str, kind: str, message: str) -> Visit:
    exchange = Exchange(at=at, purpose="page", method="READ", url=url, error=f"{kind}: {message}")
    return Visit(exchanges=(exchange,), failure=Failure(kind=kind, message=message), sent=True)
