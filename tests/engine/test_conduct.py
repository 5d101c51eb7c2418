"""The conduct contract through the whole engine: real sockets, files and processes, in virtual time."""

from __future__ import annotations

import asyncio
import itertools
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.engine.conftest import HOUR, Play, World, page
from tests.support.clock import FakeClock
from tests.support.wire import Spec
from watcher.cli.main import main
from watcher.core.model import Cadence, Detect, Outcome, Policy, RequestOptions, Secret, Watch
from watcher.core.settings import Settings
from watcher.engine.engine import Engine
from watcher.engine.events import Checked
from watcher.fetch import Transport
from watcher.store import Store

DAY = 24 * HOUR
HOURLY = Cadence(policy=Policy.FIXED, interval=HOUR, minimum=HOUR, maximum=HOUR)
WEEKLY = Cadence(policy=Policy.FIXED, interval=7 * DAY, minimum=7 * DAY, maximum=7 * DAY)


async def once(engine: Engine, **more: Any) -> Checked:
    """The one check of one pass."""
    (told,) = await engine.check_once(all=True, **more)
    return told


async def run_for(world: World, engine: Engine, seconds: float) -> None:
    running = asyncio.create_task(engine.run())
    await world.clock.advance(seconds)
    await engine.stop()
    await running


def origin(world: World, place: int = 0) -> str:
    return f"http://127.0.0.1:{world.server.ports[place]}"


def robots(text: str, status: int = 200) -> Spec:
    return {"status": status, "headers": {"Content-Type": "text/plain"}, "body": text}


# -- hosts


def test_what_a_page_teaches_is_kept_with_its_host(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/bare", page("Bare"))
        engine = world.engine(world.watch("/bare", cadence=HOURLY))
        await run_for(world, engine, 4 * HOUR)
        world.reopen()
        host = world.store.host(origin(world))
        assert host is not None
        assert [finding.kind for finding in host.findings] == ["no_validators"]
        assert host.findings[0].reason

    play(test)


def test_every_request_of_a_pass_is_on_disk_when_it_ends(play: Play) -> None:
    async def test(world: World) -> None:
        for number in range(7):
            world.answers(f"/p{number}", page("P", ETag='"p"'))
        engine = world.engine(*(world.watch(f"/p{number}") for number in range(7)))
        await engine.check_once(all=True)
        world.reopen()
        host = world.store.host(origin(world))
        assert host is not None
        assert host.spent == len(world.server.log) == 8

    play(test)


def test_an_unreachable_robots_txt_is_tried_again_in_minutes_and_the_page_with_it(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/robots.txt", robots("", 500), robots("", 500), robots("User-agent: *\nDisallow:\n"))
        world.answers("/page", page("Page", ETag='"p"'))
        engine = world.engine(world.watch("/page"))
        await run_for(world, engine, HOUR)
        told = [(check.outcome, check.failure and check.failure.kind) for check in world.store.checks("page")]
        unreachable = (Outcome.BLOCKED, "refused:robots-unreachable")
        assert told == [unreachable, unreachable, (Outcome.FIRST, None)]
        asked = [request.at for request in world.server.requests("/robots.txt")]
        waits = [later - earlier for earlier, later in itertools.pairwise(asked)]
        assert waits == [pytest.approx(300, abs=40), pytest.approx(600, abs=70)]
        assert len(world.server.requests("/page")) == 1

    play(test)


def test_robots_and_terms_are_read_again_on_their_own_schedule(play: Play) -> None:
    """Thirty days in which nothing moves: the page is asked ever less, its host's rules are not."""

    async def test(world: World) -> None:
        world.answers("/robots.txt", robots("User-agent: *\nDisallow: /no\n"))
        for path in ("/still", "/terms"):
            world.answers(path, page("Still", ETag='"s"'))
        still = Cadence(minimum=HOUR, interval=DAY, maximum=3 * DAY)
        engine = world.engine(world.watch("/still", cadence=still), world.watch("/terms", cadence=WEEKLY))
        await run_for(world, engine, 30 * DAY)
        terms = [request.at for request in world.server.requests("/terms")]
        assert len(terms) == 5
        assert all(7 * DAY <= b - a <= 7.7 * DAY + 60 for a, b in itertools.pairwise(terms))
        read = [request.at for request in world.server.requests("/robots.txt")]
        for request in world.server.requests("/still") + world.server.requests("/terms"):
            assert any(request.at - 86_460 <= at <= request.at for at in read)

    play(test)


def test_a_robots_txt_is_refreshed_daily_before_an_hourly_page(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/robots.txt", robots("User-agent: *\nDisallow: /no\n"))
        world.answers("/page", page("Page", ETag='"p"'))
        await run_for(world, world.engine(world.watch("/page", cadence=HOURLY)), 10 * DAY)
        assert len(world.server.requests("/robots.txt")) == 10

    play(test)


def test_a_robots_override_is_the_watchs_own_and_audited(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/robots.txt", robots("User-agent: *\nDisallow: /\n"))
        world.answers("/page", page("Page"))
        over = RequestOptions(obey_robots=False)
        engine = world.engine(world.watch("/page", "mine"), world.watch("/page", "over", request=over))
        told = {event.check.name: event.check for event in await engine.check_once(all=True)}
        assert told["mine"].failure is not None
        assert told["mine"].failure.kind == "refused:robots"
        assert [e.purpose for e in told["mine"].exchanges] in (["robots"], [])
        pages = [e for e in told["over"].exchanges if e.purpose == "page"]
        assert [(e.robots, e.flags) for e in pages] == [("overridden by this watch", ("robots-overridden",))]
        assert len(world.server.requests("/page")) == len(told["over"].exchanges)

    play(test)


# -- what is asked


def test_exact_bytes_from_end_to_end(play: Play) -> None:
    """No coding is asked for, weak tags and dates are not trusted, and markup alone is a change."""

    async def test(world: World) -> None:
        date = "Mon, 05 Jan 2026 09:00:00 GMT"
        world.answers("/weak", page("A", ETag='W/"a"', Last_Modified=date))
        world.answers("/strong", page("B", ETag='"b"'), {"status": 304}, page("B", X_Other="1", ETag='"c"'))
        exact = {"fields": (), "detect": Detect.BYTES}
        engine = world.engine(world.watch("/weak", **exact), world.watch("/strong", **exact))
        told = []
        for _ in range(3):
            told += await engine.check_once(all=True)
            await world.clock.advance(HOUR)
        weak, strong = world.server.requests("/weak"), world.server.requests("/strong")
        assert {r.header("Accept-Encoding") for r in weak + strong} == {"identity"}
        assert not any(r.conditional for r in weak)
        assert [r.header("If-None-Match") for r in strong] == [None, '"b"', '"b"']
        outcomes = [event.check.outcome for event in told if event.check.name == "strong"]
        assert outcomes == [Outcome.FIRST, Outcome.NOT_MODIFIED, Outcome.UNCHANGED]
        world.answers("/strong", {"status": 200, "body": "<html><body><h1>B</h1> </body></html>"})
        moved = {event.check.name: event.check.outcome for event in await engine.check_once(all=True)}
        assert moved == {"weak": Outcome.UNCHANGED, "strong": Outcome.CHANGED}

    play(test)


def test_a_post_is_never_conditional(play: Play) -> None:
    async def test(world: World) -> None:
        world.answers("/search", page("Found", ETag='"f"', Last_Modified="Mon, 05 Jan 2026 09:00:00 GMT"))
        engine = world.engine(world.watch("/search", request=RequestOptions(method="POST", body="q=lamp")))
        for _ in range(3):
            assert (await once(engine)).check.outcome in (Outcome.FIRST, Outcome.UNCHANGED)
            await world.clock.advance(HOUR)
        asked = world.server.requests("/search")
        assert [(r.method, r.conditional) for r in asked] == [("POST", False)] * 3

    play(test)


def test_a_304_leaves_the_freshness_it_does_not_mention(play: Play) -> None:
    """Rule 6. Of the stored header fields those are kept that we use: validators, max-age. Content-Type never moves."""

    async def test(world: World) -> None:
        two_hours = {"Cache_Control": "max-age=7200"}
        plain: Spec = {"status": 304, "headers": {"ETag": '"f"', "Content-Type": "image/png"}}
        short: Spec = {"status": 304, "headers": {"ETag": '"f"', "Cache-Control": "max-age=60"}}
        world.answers("/fresh", page("Fresh", ETag='"f"', **two_hours), plain, short, plain)
        engine = world.engine(world.watch("/fresh", cadence=HOURLY))
        waits = []
        for _ in range(4):
            told = await once(engine)
            assert told.check.next_check_at is not None
            waits.append(told.check.next_check_at - told.check.at)
            await world.clock.advance(2 * HOUR)
        assert [wait >= 2 * HOUR - 1 for wait in waits] == [True, True, False, False]
        state = world.store.state("fresh")
        assert state is not None
        assert state.content_type == "text/html; charset=utf-8"

    play(test)


# -- other sources


@pytest.mark.parametrize("kind", ["command", "file"])
async def test_commands_and_files_are_sources_like_pages(kind: str, tmp_path: Path) -> None:
    """On the machine's own time: a process lives in no virtual one."""
    source, clock = tmp_path / "page.html", FakeClock()
    script = "import pathlib, sys; print(pathlib.Path(sys.argv[1]).read_text())"
    if kind == "file":
        watch = Watch(name="own", url=source.as_uri(), cadence=HOURLY)
    else:
        argv = (sys.executable, "-c", script, str(source))
        watch = Watch(name="own", url="command:own", command=argv, cadence=HOURLY)
    told = []
    with Store.open(tmp_path / "data", now=clock.now) as store:
        engine = Engine(Settings(watches=(watch,)), store, clock, Transport())
        for text in ("<h1>one</h1>", "<h1>one</h1>", "<h1>two</h1>", None, "<h1>two</h1>"):
            source.unlink(missing_ok=True)
            if text is not None:
                source.write_text(text)
            told.append(await once(engine))
            clock.move(HOUR)
    outcomes = [event.check.outcome for event in told]
    assert outcomes == [Outcome.FIRST, Outcome.UNCHANGED, Outcome.CHANGED, Outcome.ERROR, Outcome.UNCHANGED]
    assert told[3].message.endswith(".")
    assert all(len(event.check.exchanges) == 1 for event in told)


# -- what is written down


SECRETS = ("hunter2-password", "cookie-monster-7", "query-token-99", "header-value-42", "userinfo-pass-1")


def test_secrets_stand_in_no_file_and_no_sentence(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for number, secret in enumerate(SECRETS):
        monkeypatch.setenv(f"SECRET_{number}", secret)
    options = RequestOptions(
        auth=("me", Secret("env:SECRET_0")),
        cookies=(("sid", Secret("env:SECRET_1")),),
        headers=(("X-Api-Key", Secret("env:SECRET_3")),),
        secret_query=("token",),
    )

    async def test(world: World) -> None:
        echo = {"Location": f"/there?token={SECRETS[2]}", "Set-Cookie": f"sid={SECRETS[1]}"}
        world.answers(f"/page?token={SECRETS[2]}", {"status": 302, "headers": echo})
        world.answers(f"/there?token={SECRETS[2]}", page("Here", ETag='"h"'), {"status": 500}, {"reset": True})
        watch = world.watch("/page", "page", request=options)
        watch = msgspec.structs.replace(watch, url=f"{watch.url}?token=env:SECRET_2")
        engine = world.engine(watch)
        told = []
        for _ in range(3):
            told.append(await once(engine))
            await world.clock.advance(2 * DAY)
        first = world.server.log[1]
        assert SECRETS[2] in first.target
        assert SECRETS[1] in (first.header("Cookie") or "")
        assert SECRETS[3] == first.header("X-Api-Key")
        assert told[0].check.outcome is Outcome.FIRST
        said = repr(told) + caplog.text
        written = b"".join(path.read_bytes() for path in world.root.rglob("*") if path.is_file())
        for secret in SECRETS:
            assert secret not in said
            assert secret.encode() not in written
        assert b"***" in written

    play(test)


AUDITED = (
    "name outcome at purpose method url status received peer http_version first_byte total bytes_wire bytes_body "
    "body_sha256 charset charset_from robots reason interval_s next_check_at"
)
"""What the line of a full answer says (a member that is absent has nothing to say)."""


def test_history_audit_prints_what_the_contract_lists(
    play: Play, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urls: list[str] = []

    async def test(world: World) -> None:
        world.answers("/page", page("Page", ETag='"p"', Cache_Control="max-age=5"), {"status": 304})
        watch = world.watch("/page")
        urls.append(watch.url)
        engine = world.engine(watch)
        for _ in range(2):
            await once(engine)
            await world.clock.advance(HOUR)

    play(test)
    config = tmp_path / "config.toml"
    config.write_text(f'[[watch]]\nname = "page"\nurl = "{urls[0]}"\n')
    given = ["--config", str(config), "--data-dir", str(tmp_path / "data"), "--json"]
    assert main([*given, "history", "--audit", "page"]) == 0
    lines = [msgspec.json.decode(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["purpose"], line["status"]) for line in lines] == [("robots", 404), ("page", 200), ("page", 304)]
    full, again = lines[1:]
    assert full.keys() >= set(AUDITED.split())
    assert (full["charset"], full["charset_from"]) == ("utf-8", "header")
    assert again["trust"] == "untested > working"
    assert again["conditional"] == "etag"
    assert ["if-none-match", '"p"'] in again["sent"]
    assert ["etag", '"p"'] in full["received"]
    assert ["cache-control", "max-age=5"] in full["received"]
    assert full["robots"] == "allowed: no rules (404)"
