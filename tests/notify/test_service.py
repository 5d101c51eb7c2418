"""Notification services: the real library against a server on this machine."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.notify.making import notice
from watcher.notify.errors import NotDelivered
from watcher.notify.message import single
from watcher.notify.service import MISSING, send_to_service

MESSAGE = single(notice())

# The library imports a module that Python 3.13 drops.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")


@asynccontextmanager
async def service(status: str) -> AsyncIterator[tuple[str, list[bytes]]]:
    """An HTTP server that answers every POST with ``status``: its Apprise URL, and the bodies it got."""
    bodies: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length"))
        bodies.append(await reader.readexactly(length))
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"json://user:s3cret@127.0.0.1:{port}/t0ken", bodies


def needs_apprise() -> None:
    pytest.importorskip("apprise", reason="the extra `notify` is not installed")


async def test_a_service_is_handed_title_and_body() -> None:
    needs_apprise()
    async with service("200 OK") as (url, bodies):
        await send_to_service(url, MESSAGE)
    (body,) = map(json.loads, bodies)
    assert body["title"] == "Desk lamp changed"
    assert body["message"].startswith("price: 19.99 EUR → 17.99 EUR")


async def test_a_refusal_is_a_failure_that_tells_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    needs_apprise()
    caplog.set_level(logging.DEBUG)
    async with service("500 Sorry") as (url, bodies):
        with pytest.raises(NotDelivered) as told:
            await send_to_service(url, MESSAGE)
    assert len(bodies) == 1
    assert str(told.value) == "The service at json://… did not take the notice."
    assert "s3cret" not in caplog.text
    assert "t0ken" not in caplog.text


@pytest.mark.parametrize("url", ["s3cret", "nonsense://s3cret", "tgram://s3cret", ""])
async def test_what_is_no_apprise_url_is_not_repeated(url: str, caplog: pytest.LogCaptureFixture) -> None:
    needs_apprise()
    caplog.set_level(logging.DEBUG)
    with pytest.raises(NotDelivered, match="This is no Apprise URL that can be used") as told:
        await send_to_service(url, MESSAGE)
    assert "s3cret" not in str(told.value) + caplog.text


async def test_without_the_extra_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(NotDelivered) as told:
        await send_to_service("json://127.0.0.1", MESSAGE)
    assert str(told.value) == MISSING
