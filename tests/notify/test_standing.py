"""What a look from outside finds of news that cannot be told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from tests.notify.making import AT, heard, plain, settings, summary, watch, writing
from tests.support.clock import FakeClock
from watcher.notify import Outbox, troubles


def refuse(root: Path, *names: str) -> None:
    asyncio.run(_refuse(root, names))


async def _refuse(root: Path, names: Sequence[str]) -> None:
    box = Outbox(settings(("false",)), root, FakeClock(AT), reveal=plain)
    for name in names:
        box.offer(heard(name), watch(name), summary())
    await box.flush()
    box.close()


def test_nothing_is_wrong_where_nothing_was_told(tmp_path: Path) -> None:
    assert troubles(settings(("false",)), tmp_path, AT) == ()
    assert list(tmp_path.iterdir()) == []


def test_refused_notices_are_counted_by_destination_and_left_alone(tmp_path: Path) -> None:
    refuse(tmp_path, "Lamp", "Shade")
    before = [path.read_bytes() for path in tmp_path.rglob("*.jsonl")]
    (sentence,) = troubles(settings(("false",)), tmp_path, AT)
    assert sentence.startswith("2 notices wait for the command 'false': The command 'false' ")
    assert sentence.endswith(" Tried again in 30 s.")
    assert troubles(settings(writing(tmp_path / "out")), tmp_path, AT) == ()
    assert [path.read_bytes() for path in tmp_path.rglob("*.jsonl")] == before


def test_damage_and_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    refuse(tmp_path, "Lamp")
    (file,) = tmp_path.rglob("*.jsonl")
    file.write_bytes(b"no line of ours\n" + file.read_bytes())
    damaged, _ = troubles(settings(("false",)), tmp_path, AT)
    assert damaged == f"{file} has damaged lines, which are left out: 1."
    file.unlink()
    file.mkdir()
    (sentence,) = troubles(settings(("false",)), tmp_path, AT)
    assert sentence == f"No news can be told, as {file} cannot be read: Is a directory."
