"""Pages no host serves: commands and files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.fetch.net import EAGER, Net
from tests.support.clock import FakeClock
from watcher.core.exchange import RequestPlan, Visit
from watcher.core.model import RequestOptions
from watcher.fetch import Fetcher, HostBook, Transport


async def run(*argv: str, url: str = "command:x", **options: object) -> Visit:
    fetcher = Fetcher(Transport(), FakeClock(), HostBook())
    plan = RequestPlan(url=url, command=argv)
    return await fetcher.visit(plan, RequestOptions(**options), settings=EAGER)  # type: ignore[arg-type]


async def test_what_a_command_prints_is_a_page() -> None:
    visit = await run(sys.executable, "-c", "print('42 items')")
    assert visit.response is not None
    assert (visit.response.status, visit.response.body, visit.response.headers) == (200, b"42 items\n", ())
    assert (visit.sent, visit.exchanges[0].bytes_body) == (True, 9)


@pytest.mark.parametrize(
    ("code", "options", "kind", "says"),
    [
        ("import sys; print('half'); sys.exit('no such thing')", {}, "command", "failed with status 1: no such thing"),
        ("import time; time.sleep(60)", {"timeout": 0.2}, "transient:timeout", "within 0.2 s"),
        ("print('x' * 5000)", {"max_body": 1000}, "too-large", "more than 1,000 bytes"),
        ("while True: print('x' * 5000)", {"max_body": 100_000}, "too-large", "100,000"),
    ],
)
async def test_a_command_that_fails_is_one_sentence(
    code: str, options: dict[str, object], kind: str, says: str
) -> None:
    visit = await run(sys.executable, "-c", code, **options)
    assert visit.failure is not None
    assert visit.failure.kind == kind
    assert says in visit.failure.message


async def test_a_command_that_is_none() -> None:
    visit = await run("/not/there")
    assert visit.failure is not None
    assert visit.failure.message == "The command '/not/there' cannot be run: No such file or directory."


async def test_the_children_of_a_command_end_with_it(tmp_path: Path) -> None:
    sign = tmp_path / "sign"
    child = f"import time; time.sleep(1); open({str(sign)!r}, 'w')"
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    visit = await run(sys.executable, "-c", code, timeout=0.5)
    assert visit.failure is not None
    left = await run(sys.executable, "-c", f"import os, time; time.sleep(1.5); print(os.path.exists({str(sign)!r}))")
    assert left.response is not None
    assert left.response.body == b"False\n"


async def test_a_file_is_a_page(tmp_path: Path) -> None:
    page = tmp_path / "a page.html"
    page.write_bytes(b"<h1>caf\xc3\xa9")
    visit = await run(url=page.as_uri())
    assert visit.response is not None
    assert visit.response.body == b"<h1>caf\xc3\xa9"


async def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    missing = await run(url=(tmp_path / "gone").as_uri())
    assert missing.failure is not None
    assert missing.failure.kind == "missing"
    assert missing.failure.message.endswith("gone cannot be read: No such file or directory.")
    folder = await run(url=tmp_path.as_uri())
    assert folder.failure is not None
    assert folder.failure.kind == "file"
    (tmp_path / "big").write_bytes(bytes(2000))
    big = await run(url=(tmp_path / "big").as_uri(), max_body=1000)
    assert big.failure is not None
    assert big.failure.kind == "too-large"


async def test_no_host_is_troubled() -> None:
    async with Net() as net:
        await net.fetcher.visit(RequestPlan(url="command:x", command=("true",)), RequestOptions(), settings=EAGER)
        assert net.server.log == []
        assert net.hosts.take_dirty(final=True) == []
