"""From the engine's news to real commands: when, how often, and what is said when it fails."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tests.notify.making import AT, Heard, eventually, heard, plain, settings, summary, told, watch, writing
from tests.notify.test_log import no_more_than
from tests.support.clock import FakeClock
from watcher.core.model import Secret
from watcher.core.news import News
from watcher.core.settings import NotifyRule, NotifySettings
from watcher.notify import Outbox
from watcher.notify.outbox import FIRST_RETRY, GATHER, LONGEST_RETRY, TRIES, retry_after

HOUR = 3600.0


class Bench:
    """An outbox over ``root`` with a clock to move and the sentences it reported."""

    def __init__(self, root: Path, found: NotifySettings, clock: FakeClock | None = None, **more: Any) -> None:
        self.clock = clock or FakeClock(AT)
        self.said: list[str] = []
        self.box = Outbox(found, root, self.clock, reveal=plain, report=self.said.append, **more)

    def offer(self, *names: str, news: News | None = News.CHANGED) -> None:
        for name in names:
            self.box.offer(heard(name, news, at=self.clock.now()), watch(name), summary())

    def names(self) -> list[str]:
        return [delivery.notice.name for delivery in self.box.pending()]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


def events(out: Path) -> list[str]:
    return [news["event"] for news in told(out)]


async def test_news_reaches_the_command_once(tmp_path: Path, out: Path) -> None:
    bench = Bench(tmp_path, settings(writing(out)))
    bench.offer("Lamp")
    assert bench.names() == ["Lamp"]
    for _ in range(3):
        await bench.box.flush()
    assert [news["name"] for news in told(out)] == ["Lamp"]
    assert bench.names() == []
    assert bench.said == []
    bench.box.close()


async def test_a_check_without_news_is_none(tmp_path: Path, out: Path) -> None:
    bench = Bench(tmp_path, settings(writing(out)))
    bench.offer("Lamp", news=None)
    bench.offer("Lamp", news=News.FIRST)
    await bench.box.flush()
    assert told(out) == []
    assert not (tmp_path / "notify").exists()


async def test_a_burst_becomes_one_digest(tmp_path: Path, out: Path) -> None:
    bench = Bench(tmp_path, settings(writing(out), digest_after=3))
    bench.offer("a", "b", "c", "d")
    await bench.box.flush()
    assert events(out) == ["digest"]
    assert [news["name"] for news in told(out)[0]["news"]] == ["a", "b", "c", "d"]
    bench.clock.move(1)
    bench.offer("e", "f")
    await bench.box.flush()
    bench.offer("g")
    await bench.box.flush()
    assert events(out) == ["digest", "changed", "changed"]
    bench.clock.move(300)
    bench.offer("h", "i", "j")
    await bench.box.flush()
    assert bench.names() == ["g", "h", "i", "j"]
    bench.clock.move(300)
    await bench.box.flush()
    assert events(out) == ["digest", "changed", "changed", "digest"]


async def test_how_much_was_sent_is_remembered_over_a_restart(tmp_path: Path, out: Path) -> None:
    first = Bench(tmp_path, settings(writing(out), digest_after=1))
    first.offer("a")
    await first.box.flush()
    first.box.close()
    second = Bench(tmp_path, settings(writing(out), digest_after=1), first.clock)
    second.clock.move(1)
    second.offer("b")
    await second.box.flush()
    assert second.names() == ["b"]
    second.clock.move(600)
    await second.box.flush()
    assert [news["name"] for news in told(out)] == ["a", "b"]


async def test_quiet_hours_hold_everything_back(tmp_path: Path, out: Path) -> None:
    found = settings(writing(out), quiet="11:00-12:30", timezone="Europe/Berlin")
    bench = Bench(tmp_path, found)  # it is 11:00 in Berlin
    bench.offer("Lamp")
    await bench.box.flush()
    bench.clock.move(1.5 * HOUR - 1)
    await bench.box.flush()
    assert told(out) == []
    bench.clock.move(1)
    await bench.box.flush()
    assert len(told(out)) == 1


async def test_a_failure_is_tried_again_later_and_later(tmp_path: Path, out: Path) -> None:
    failing = ("sh", "-c", 'cat >> "$0"; echo "no route" >&2; exit 7', str(out))
    bench = Bench(tmp_path, settings(failing))
    bench.offer("Lamp")
    for tries in range(1, TRIES + 1):
        await bench.box.flush()
        assert len(told(out)) == tries
        bench.clock.move(retry_after(tries) - 1)
        await bench.box.flush()
        assert len(told(out)) == tries
        bench.clock.move(1)
    assert bench.names() == []
    assert bench.said[0] == "The command 'sh' failed with status 7: no route Tried again in 30 s."
    assert bench.said[-1] == "The command 'sh' failed with status 7: no route Given up after 16 tries."
    assert bench.box.problems() == (bench.said[-1],)


def test_retries_double_up_to_six_hours() -> None:
    waits = [retry_after(tries) for tries in range(1, 100)]
    assert waits[:4] == [30.0, 60.0, 120.0, 240.0]
    assert waits[-1] == LONGEST_RETRY == 6 * HOUR
    assert 1.5 <= sum(waits[: TRIES - 1]) / 86_400 <= 2.5


async def test_a_failure_that_passes_leaves_no_problem(tmp_path: Path, out: Path) -> None:
    command = ("sh", "-c", 'test -e "$0" && cat >> "$1"', str(tmp_path / "ready"), str(out))
    bench = Bench(tmp_path, settings(command))
    bench.offer("Lamp")
    await bench.box.flush()
    assert len(bench.box.problems()) == 1
    (tmp_path / "ready").touch()
    bench.clock.move(FIRST_RETRY)
    await bench.box.flush()
    assert len(told(out)) == 1
    assert bench.box.problems() == ()


async def test_one_failing_destination_keeps_no_other_waiting(tmp_path: Path, out: Path) -> None:
    bench = Bench(tmp_path, settings(("false",), writing(out)))
    bench.offer("a", "b")
    await bench.box.flush()
    assert [news["name"] for news in told(out)] == ["a", "b"]
    assert bench.names() == ["a", "b"]
    assert len(bench.said) == 1


async def test_a_wrong_clock_holds_nothing_for_years(tmp_path: Path, out: Path) -> None:
    ahead = FakeClock(AT + 10 * 365 * 86_400)
    first = Bench(tmp_path, settings(("false",), writing(out), digest_after=1), ahead)
    first.offer("a")
    await first.box.flush()
    first.box.close()
    second = Bench(tmp_path, settings(writing(tmp_path / "again"), writing(out), digest_after=1))
    second.offer("b")
    await second.box.flush()
    assert [news["name"] for news in told(out)] == ["a", "b"]
    third = Bench(tmp_path, settings(("false",)))
    assert third.names() == []


async def test_a_retry_that_a_wrong_clock_put_off_is_made(tmp_path: Path, out: Path) -> None:
    command = ("sh", "-c", 'test -e "$0" && cat >> "$1"', str(tmp_path / "ready"), str(out))
    first = Bench(tmp_path, settings(command), FakeClock(AT + 10 * 365 * 86_400))
    first.offer("a")
    await first.box.flush()
    first.box.close()
    (tmp_path / "ready").touch()
    second = Bench(tmp_path, settings(command))
    await second.box.flush()
    assert len(told(out)) == 1


async def test_news_for_a_rule_that_is_gone_is_dropped(tmp_path: Path, out: Path) -> None:
    bench = Bench(tmp_path, settings(("false",)))
    bench.offer("Lamp")
    await bench.box.flush()
    assert len(bench.box.problems()) == 1
    bench.box.adopt(settings(writing(out)))
    assert bench.box.problems() == ()
    await bench.box.flush()
    assert bench.names() == []
    assert told(out) == []


async def test_secrets_are_read_at_the_moment_of_use(tmp_path: Path) -> None:
    asked: list[object] = []

    async def reveal(value: str | Secret) -> str:
        asked.append(value)
        raise LookupError("The environment has no variable PUSH.")

    box = Outbox(NotifySettings(rules=(NotifyRule(url=Secret("env:PUSH")),)), tmp_path, FakeClock(AT), reveal=reveal)
    box.offer(heard(), watch(), summary())
    assert asked == []
    await box.flush()
    assert asked == [Secret("env:PUSH")]
    assert box.problems() == ("The environment has no variable PUSH. Tried again in 30 s.",)
    assert b"PUSH" in (tmp_path / "notify" / "deliveries.jsonl").read_bytes()


async def test_forgotten_watches_are_erased(tmp_path: Path, out: Path) -> None:
    bench = Bench(tmp_path, settings(writing(out)))
    bench.offer("Lamp", "Ferry")
    bench.box.forget(["Lamp"])
    await bench.box.flush()
    assert [news["name"] for news in told(out)] == ["Ferry"]
    bench.box.close()
    assert b"Lamp" not in (tmp_path / "notify" / "deliveries.jsonl").read_bytes()


# -- the loop


async def looped(bench: Bench) -> asyncio.Task[None]:
    task = asyncio.create_task(bench.box.run())
    await asyncio.sleep(0)
    return task


async def test_the_loop_gathers_a_burst_before_it_tells(tmp_path: Path, out: Path) -> None:
    bench = Bench(tmp_path, settings(writing(out), digest_after=2))
    task = await looped(bench)
    bench.offer("a")
    await asyncio.sleep(0)
    bench.clock.move(GATHER - 1)
    bench.offer("b", "c")
    await asyncio.sleep(0.05)
    assert told(out) == []
    bench.clock.move(1)
    await eventually(lambda: bench.names() == [])
    assert events(out) == ["digest"]
    bench.box.stop()
    await task


async def test_the_loop_wakes_for_each_thing_it_waits_for(tmp_path: Path, out: Path) -> None:
    """Quiet hours, then a failing command, in virtual steps of at most half a minute."""
    command = ("sh", "-c", 'cat >> "$0"; test -e "$1"', str(out), str(tmp_path / "ready"))
    bench = Bench(tmp_path, settings(command, quiet="10:00-11:00", timezone="UTC"))
    task = await looped(bench)
    bench.offer("Lamp")
    for _ in range(119):
        bench.clock.move(30)
        await asyncio.sleep(0)
    assert told(out) == []
    bench.clock.move(30)
    await eventually(lambda: len(bench.said) == 1)
    (tmp_path / "ready").touch()
    bench.clock.move(FIRST_RETRY)
    await eventually(lambda: bench.names() == [])
    assert len(told(out)) == 2
    bench.box.stop()
    await task


async def test_stopping_tells_what_may_go_at_once(tmp_path: Path, out: Path) -> None:
    bench = Bench(tmp_path, settings(writing(out)))
    task = await looped(bench)
    bench.offer("Lamp")
    bench.box.stop()
    await task
    assert len(told(out)) == 1


async def test_a_slow_command_keeps_no_other_destination_waiting(tmp_path: Path, out: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    bench = Bench(tmp_path, settings(("sh", "-c", 'exec cat "$0"', str(fifo)), writing(out)))
    task = await looped(bench)
    for name in ("a", "b"):
        bench.offer(name)
        await asyncio.sleep(0)
        bench.clock.move(GATHER)
        await eventually(lambda: len(told(out)) == len(bench.names()))
    assert [news["name"] for news in told(out)] == bench.names() == ["a", "b"]
    bench.box.stop()
    await eventually(lambda: not let_go(fifo) and task.done())
    assert bench.names() == []


def let_go(fifo: Path) -> bool:
    """End whoever reads ``fifo``; whether somebody did."""
    try:
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


async def test_cancelling_the_loop_ends_the_command_and_does_not_repeat_it(tmp_path: Path, out: Path) -> None:
    hanging = ("sh", "-c", 'cat >> "$0"; exec sleep 1000', str(out))
    bench = Bench(tmp_path, settings(hanging))
    task = await looped(bench)
    bench.offer("Lamp")
    await asyncio.sleep(0)
    bench.clock.move(GATHER)
    await eventually(lambda: len(told(out)) == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await bench.box.flush()
    bench.box.close()
    again = Bench(tmp_path, settings(hanging))
    await again.box.flush()
    assert len(told(out)) == 1
    assert again.said == ["The notice 'Lamp changed' may not have been told: watcher was ended while it was sent."]


# -- nothing raises into the engine


async def test_a_disk_that_takes_nothing_holds_the_news(tmp_path: Path, out: Path) -> None:
    bench = Bench(tmp_path, settings(writing(out)))
    with no_more_than(0):
        bench.offer("Lamp")
        await bench.box.flush()
    path = tmp_path / "notify" / "deliveries.jsonl"
    assert bench.box.problems() == (f"News waits, as {path} cannot be written: File too large.",)
    assert told(out) == []
    bench.clock.move(FIRST_RETRY)
    await bench.box.flush()
    assert len(told(out)) == 1
    assert bench.box.problems() == ()
    bench.box.close()
    again = Bench(tmp_path, settings(writing(out)), bench.clock)
    again.box.offer(heard("Lamp"), watch("Lamp"), summary())
    await again.box.flush()
    assert len(told(out)) == 1


async def test_a_state_that_cannot_be_read_tells_nothing(tmp_path: Path, out: Path) -> None:
    (tmp_path / "notify").write_text("a file where a folder should be")
    bench = Bench(tmp_path, settings(writing(out)))
    bench.offer("Lamp")
    await bench.box.flush()
    bench.box.forget(["Lamp"])
    bench.box.close()
    assert told(out) == []
    path = tmp_path / "notify" / "deliveries.jsonl"
    assert bench.said[0] == f"No news can be told, as {path} cannot be read: Not a directory."


async def test_news_that_cannot_be_written_down_is_one_sentence(tmp_path: Path, out: Path) -> None:
    bench = Bench(tmp_path, settings(writing(out)))
    broken = Heard(check=heard().check, news=News.CHANGED, changes=(object(),))  # type: ignore[arg-type]
    bench.box.offer(broken, watch("Lamp"), summary())
    assert bench.said == ["News of Lamp cannot be told: an unforeseen AttributeError."]
    bench.offer("Ferry")
    await bench.box.flush()
    assert [news["name"] for news in told(out)] == ["Ferry"]
