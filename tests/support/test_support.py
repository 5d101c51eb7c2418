"""The clock and the server that other tests stand on."""

from __future__ import annotations

import asyncio
import gzip
import time
from typing import Any, cast

import pytest

from tests.support import wire
from tests.support.clock import EPOCH, FakeClock
from tests.support.server import Server


async def ask(port: int, target: str, *headers: str) -> bytes:
    """One request on a connection of its own; everything that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write("\r\n".join([f"GET {target} HTTP/1.1", "Host: here", *headers, "", ""]).encode("latin-1"))
        return await reader.read()
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


def test_a_month_passes_without_waiting() -> None:
    clock = FakeClock()
    woken: list[str] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(f"{name}@{clock.now() - EPOCH:.0f}")

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(sleeper("late", 7_200))
            group.create_task(sleeper("early", 3_600))
            await clock.advance(30 * 86_400)

    started = time.monotonic()
    clock.run(main())
    assert woken == ["early@3600", "late@7200"]
    assert clock.now() == EPOCH + 30 * 86_400
    assert time.monotonic() - started < 10


def test_time_waits_for_the_wire_and_for_threads() -> None:
    clock = FakeClock()

    async def main() -> float:
        async with Server(clock.now, clock.sleep) as server:
            server.script({"/slow": {"body": "x" * 10, "behaviour": "drip", "drip": {"bytes": 1, "every": "1s"}}})
            async with asyncio.timeout(3_600):
                answer, _ = await asyncio.gather(ask(server.ports[0], "/slow"), asyncio.to_thread(time.sleep, 0.05))
        assert answer.endswith(b"\r\n\r\n" + b"x" * 10)
        return clock.now() - EPOCH

    assert clock.run(main()) == 10.0


def test_a_deadline_ends_a_body_that_never_does() -> None:
    clock = FakeClock()

    async def main() -> None:
        async with Server(clock.now, clock.sleep) as server:
            server.script({"/": {"body": "", "behaviour": "drip", "drip": {"every": "1s", "forever": True}}})
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(30):
                    await ask(server.ports[0], "/")
        assert clock.now() - EPOCH == 30

    clock.run(main())


def test_the_wall_may_jump_alone() -> None:
    clock = FakeClock()
    before = clock.monotonic()
    clock.jump_wall(8 * 3_600)
    assert (clock.now() - EPOCH, clock.monotonic() - before) == (28_800, 0)


@pytest.mark.parametrize(
    ("headers", "status"),
    [((), b"200"), (('If-None-Match: "a"',), b"304"), (("Cookie: ok=1",), b"403")],
)
def test_the_answer_depends_on_what_was_asked(headers: tuple[str, ...], status: bytes) -> None:
    clock = FakeClock()
    spec = {"body": "x", "if_conditional": {"status": 304}, "if_cookie": {"status": 403}}

    async def main() -> bytes:
        async with Server(clock.now, clock.sleep) as server:
            server.script({"/": spec})
            answer = await ask(server.ports[0], "/", *headers)
            assert [request.target for request in server.log] == ["/"]
            assert (await ask(server.ports[0], "/robots.txt")).startswith(b"HTTP/1.1 404 ")
            return answer

    assert clock.run(main()).split(b" ")[1] == status


def test_sequences_second_origin_and_templates() -> None:
    clock = FakeClock()

    async def main() -> list[bytes]:
        async with Server(clock.now, clock.sleep) as server:
            first: Any = {"status": 302, "headers": {"Location": "{base2}/there", "Retry-After": "{httpdate:+2h}"}}
            server.script({"/": [first, {"body": "here"}], "{base2}/there": {"body": "there"}})
            answers = [await ask(server.ports[0], "/") for _ in range(3)]
            answers.append(await ask(server.ports[1], "/there"))
            assert f"Location: {server.names['base2']}/there".encode() in answers[0]
            return answers

    answers = clock.run(main())
    assert b"Retry-After: Mon, 05 Jan 2026 12:00:00 GMT\r\n" in answers[0]
    assert b"Date: Mon, 05 Jan 2026 10:00:00 GMT\r\n" in answers[0]
    assert [answer.rpartition(b"\r\n\r\n")[2] for answer in answers] == [b"", b"here", b"here", b"there"]


def test_bodies_cut_short_and_connections_reset() -> None:
    clock = FakeClock()

    async def main() -> bytes:
        async with Server(clock.now, clock.sleep) as server:
            server.script({"/cut": {"body": "0123456789", "behaviour": "truncate"}, "/reset": {"behaviour": "reset"}})
            with pytest.raises(ConnectionResetError):
                await ask(server.ports[0], "/reset")
            return await ask(server.ports[0], "/cut")

    answer = clock.run(main())
    assert b"Content-Length: 10\r\n" in answer
    assert answer.endswith(b"\r\n\r\n01234")


def test_a_bomb_is_one_valid_gzip_member() -> None:
    packed = b"".join(wire.stream({"kind": "gzip-zeros", "decoded_size": "3MiB"}))
    assert len(packed) < 10_000
    assert gzip.decompress(packed) == bytes(3 << 20)


def test_generated_robots_end_with_the_rule_that_counts() -> None:
    told = "User-agent: *\\n then 12,000 lines 'Disallow: /pad%05d/' (about 264 KB) then 'Disallow: /item'"
    lines = b"".join(wire.stream({"kind": "robots", "lines": told})).decode().splitlines()
    assert (len(lines), lines[0], lines[-2], lines[-1]) == (
        12_002,
        "User-agent: *",
        "Disallow: /pad11999/",
        "Disallow: /item",
    )


@pytest.mark.parametrize("told", ["a while", "5", "-", "2h and 3"])
def test_unknown_durations_are_refused(told: str) -> None:
    with pytest.raises(wire.Unsupported, match="not a duration"):
        wire.seconds(told)


def test_unknown_behaviour_is_a_visible_problem() -> None:
    clock = FakeClock()

    async def main() -> list[str]:
        async with Server(clock.now, clock.sleep) as server:
            server.script({"/": cast(Any, {"behaviour": "sing"})})
            await ask(server.ports[0], "/")
            return server.problems

    assert clock.run(main()) == ["behaviour 'sing'"]
