"""The durable state of deliveries: what is settled stays settled, through restarts, cuts and rewriting."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.notify.making import AT, notice
from watcher.notify import deliveries as module
from watcher.notify.deliveries import FILE, Deliveries
from watcher.notify.log import seal


def opened(root: Path) -> Deliveries:
    found = Deliveries(root)
    found.load(AT)
    return found


def names(found: Deliveries) -> list[tuple[str, str]]:
    return [(delivery.notice.name, delivery.to) for delivery in found.waiting()]


async def test_a_delivery_waits_until_it_is_taken(tmp_path: Path) -> None:
    first = opened(tmp_path)
    assert first.offer(notice("Lamp"), ("a", "b"))
    first.close()
    second = opened(tmp_path)
    assert names(second) == [("Lamp", "a"), ("Lamp", "b")]
    batch = second.waiting()[:1]
    await second.begin(batch)
    await second.end(batch, AT + 1)
    second.close()
    third = opened(tmp_path)
    assert names(third) == [("Lamp", "b")]
    assert third.waiting()[0].notice == notice("Lamp")
    assert third.sent("a", AT + 2) == [AT + 1]
    assert third.sent("a", AT + 700) == []


async def test_a_failed_one_comes_again(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.offer(notice("Lamp"), ("a",))
    for tries in (1, 2):
        await first.begin(first.waiting())
        await first.end(first.waiting(), AT, why="It failed.", retry_at=AT + tries)
    first.close()
    (delivery,) = opened(tmp_path).waiting()
    assert (delivery.tries, delivery.due_at, delivery.sending) == (2, AT + 2, False)
    assert opened(tmp_path).sent("a", AT) == []


async def test_one_whose_end_nobody_saw_is_not_sent_again(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.offer(notice("Lamp"), ("a", "b"))
    await first.begin(first.waiting()[:1])
    first.close()
    second = Deliveries(tmp_path)
    assert [(lost.notice.name, lost.to) for lost in second.load(AT)] == [("Lamp", "a")]
    assert names(second) == [("Lamp", "b")]
    second.close()
    assert Deliveries(tmp_path).load(AT) == []


async def test_hearing_of_news_again_tells_nothing(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.offer(notice("Lamp"), ("a",))
    assert not first.offer(notice("Lamp"), ("a",))
    await first.begin(first.waiting())
    await first.end(first.waiting(), AT)
    assert not first.offer(notice("Lamp"), ("a", "b"))
    first.compact()
    first.close()
    second = opened(tmp_path)
    assert not second.offer(notice("Lamp"), ("a",))
    assert second.offer(notice("Lamp", at=AT + 1), ("a",))


async def test_a_large_file_is_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 20_000)
    found = opened(tmp_path)
    found.offer(notice("Waits"), ("b",))
    for n in range(200):
        found.offer(notice("Lamp", at=AT + n), ("a",))
        batch = [delivery for delivery in found.waiting() if delivery.to == "a"]
        await found.begin(batch)
        await found.end(batch, AT + n)
    found.close()
    assert (tmp_path / FILE).stat().st_size < 40_000
    again = opened(tmp_path)
    assert names(again) == [("Waits", "b")]
    assert len(again.sent("a", AT + 199)) == 200
    assert not any(again.offer(notice("Lamp", at=AT + n), ("a",)) for n in range(200))


async def test_what_is_forgotten_is_gone_from_the_disk(tmp_path: Path) -> None:
    found = opened(tmp_path)
    found.offer(notice("Private matter"), ("a",))
    found.offer(notice("Lamp"), ("a",))
    await found.begin(found.waiting()[:1])
    found.forget(["Private matter"])
    await found.end(found.waiting(), AT)
    found.close()
    assert b"Private" not in (tmp_path / FILE).read_bytes()
    assert names(opened(tmp_path)) == []


def test_nothing_is_written_before_there_is_something_to_say(tmp_path: Path) -> None:
    found = opened(tmp_path)
    found.forget(["Lamp"])
    found.close()
    assert list(tmp_path.iterdir()) == []


def test_a_line_of_another_kind_is_left_out(tmp_path: Path) -> None:
    found = opened(tmp_path)
    found.offer(notice("Lamp"), ("a",))
    found.close()
    with open(tmp_path / FILE, "ab") as file:
        file.write(seal(b'{"k":"strange"}') + b'{"k":"torn')
    again = opened(tmp_path)
    assert names(again) == [("Lamp", "a")]
    assert again.damaged == 2


async def test_cut_anywhere_nothing_taken_is_sent_again(tmp_path: Path) -> None:
    """A machine that loses power keeps at least what was synced: a cut there costs no more than what came later."""
    found = opened(tmp_path)
    sizes = []
    for n in range(3):
        found.offer(notice("Lamp", at=AT + n), ("a",))
        batch = found.waiting()
        await found.begin(batch)
        sizes.append(((tmp_path / FILE).stat().st_size, n))
        await found.end(batch, AT + n)
    found.close()
    whole = (tmp_path / FILE).read_bytes()
    ends = [size + step for size, _ in sizes for step in (-2, -1, 0, 1, 2)]
    for cut in sorted({*ends, *range(0, len(whole) + 1, 13)}):
        (tmp_path / FILE).write_bytes(whole[:cut])
        again = opened(tmp_path)
        handed_over = {n for size, n in sizes if size - 1 <= cut}
        assert not handed_over & {round(delivery.notice.at - AT) for delivery in again.waiting()}
        again.close()


STEPS = st.lists(
    st.tuples(st.sampled_from(["offer", "take", "fail", "begin", "restart", "compact"]), st.integers(0, 5)), max_size=40
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(STEPS)
async def test_whatever_happens_each_delivery_is_taken_once_at_most(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    root = tmp_path_factory.mktemp("data")
    found = opened(root)
    taken: list[tuple[str, float, str]] = []
    offered: set[tuple[str, float, str]] = set()
    for step, number in steps:
        ready = [delivery for delivery in found.waiting() if not delivery.sending]
        batch = [delivery for delivery in ready if delivery.to == ready[0].to][: number + 1]
        if step == "offer":
            found.offer(notice("Lamp", at=AT + number), ("a", "b"))
            offered |= {("Lamp", AT + number, "a"), ("Lamp", AT + number, "b")}
        elif step == "compact":
            found.compact()
        elif step == "restart":
            found.close()
            found = opened(root)
        elif batch:
            await found.begin(batch)
            taken += [(d.notice.name, d.notice.at, d.to) for d in batch] if step != "fail" else []
            if step != "begin":
                why, retry = ("It failed.", AT) if step == "fail" else ("", None)
                await found.end(batch, AT, why=why, retry_at=retry)
    waiting = {(d.notice.name, d.notice.at, d.to) for d in found.waiting() if not d.sending}
    found.close()
    assert len(taken) == len(set(taken))
    assert waiting | set(taken) == offered
    assert not waiting & set(taken)
