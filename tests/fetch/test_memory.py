"""CONDUCT rule 36: whatever a server sends, memory stays within 60 MiB of idle. Measured in a process of its own."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.support.badserver import BadServer

MIB = 1 << 20
ALLOWED = 60 * MIB

CLIENT = """
import asyncio, json, re, sys
from watcher.core.exchange import RequestPlan
from watcher.core.model import RequestOptions
from watcher.core.settings import HostSettings
from watcher.fetch import Fetcher, HostBook, Transport
from tests.support.clock import FakeClock

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024

async def main(port, path):
    fetcher = Fetcher(Transport(), FakeClock(), HostBook())
    async def visit(path):
        plan = RequestPlan(url=f"http://127.0.0.1:{port}{path}")
        return await fetcher.visit(plan, RequestOptions(timeout=100.0), settings=HostSettings(min_gap=0.0))
    assert (await visit("/ok")).response is not None
    idle = peak()
    visit = await visit(path)
    await fetcher.aclose()
    print(json.dumps([peak() - idle, visit.failure.kind if visit.failure else visit.response.status]))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/bomb/gzip/1024", "too-large"),
        ("/bomb/deflate/1024", "too-large"),
        ("/bomb/gzip-gzip/1024", "too-large"),
        ("/body/endless", "too-large"),
        ("/body/big/512", "too-large"),
        ("/hdr/flood", "transient:protocol"),
        ("/hdr/many/100000", "transient:protocol"),
        ("/hdr/interim-flood", "transient:protocol"),
    ],
)
async def test_rule_36_memory_is_bounded(path: str, kind: str) -> None:
    async with BadServer() as server:
        client = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            CLIENT,
            str(server.port),
            path,
            stdout=asyncio.subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        output, _ = await client.communicate()
    grown, told = json.loads(output)
    assert told == kind
    assert grown <= ALLOWED, f"{grown / MIB:.0f} MiB above idle"
