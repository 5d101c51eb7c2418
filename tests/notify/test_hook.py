"""Commands as destinations: real processes, what they are handed, and how they may fail."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.notify.making import eventually, notice
from watcher.notify.errors import NotDelivered
from watcher.notify.hook import run_hook
from watcher.notify.message import Message, single

MESSAGE = single(notice())


async def test_a_command_is_handed_the_news(tmp_path: Path) -> None:
    command = ["sh", "-c", 'cat > "$0"; env > "$1"', str(tmp_path / "given"), str(tmp_path / "env")]
    await run_hook(command, MESSAGE)
    given = (tmp_path / "given").read_bytes()
    assert given == MESSAGE.payload + b"\n"
    assert json.loads(given)["changes"][0]["field"] == "price"
    env = (tmp_path / "env").read_text()
    for line in (
        "WATCHER_NAME=Desk lamp",
        "WATCHER_URL=https://shop.example/desk-lamp",
        "WATCHER_EVENT=changed",
        "WATCHER_MESSAGE=Desk lamp changed\nprice: 19.99 EUR → 17.99 EUR (-10.0 %)\n",
    ):
        assert line in env
    assert f"PATH={os.environ['PATH']}" in env


async def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    await run_hook(["touch", str(tmp_path / "$(id) a;b")], MESSAGE)
    assert os.listdir(tmp_path) == ["$(id) a;b"]


async def test_a_failure_says_its_last_words() -> None:
    with pytest.raises(NotDelivered) as told:
        await run_hook(["sh", "-c", "printf 'no \\033[31mserver\\n' >&2; exit 3"], MESSAGE)
    assert str(told.value) == "The command 'sh' failed with status 3: no [31mserver"


async def test_a_command_that_is_not_there() -> None:
    with pytest.raises(NotDelivered) as told:
        await run_hook(["/no/such/program"], MESSAGE)
    assert str(told.value) == "The command '/no/such/program' cannot be run: No such file or directory."


async def test_a_command_that_is_killed() -> None:
    with pytest.raises(NotDelivered, match="was ended by signal 9"):
        await run_hook(["sh", "-c", "kill -9 $$"], MESSAGE)


async def test_endless_words_are_bounded() -> None:
    with pytest.raises(NotDelivered) as told:
        await run_hook(["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 1"], MESSAGE)
    assert len(str(told.value)) < 300


async def test_a_command_may_ignore_what_it_is_handed() -> None:
    big = Message(event="digest", title="", body="", payload=b"x" * 3_000_000)
    await run_hook(["true"], big)


async def test_what_a_command_leaves_running_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    await run_hook(["sh", "-c", '(cat "$0" > "$1") & exit 0', str(tmp_path / "fifo"), str(tmp_path / "out")], MESSAGE)
    (tmp_path / "fifo").write_text("still here")
    await eventually(lambda: (tmp_path / "out").exists() and (tmp_path / "out").read_text() == "still here")


async def test_a_command_that_does_not_end_is_ended_with_all_it_started(tmp_path: Path) -> None:
    """Both processes hold the FIFO open for reading; once no reader is left, opening it for writing fails."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(NotDelivered, match=r"^The command 'sh' did not end within 0\.3 s\.$"):
        await run_hook(["sh", "-c", 'exec 3<>"$0"; sleep 1000 & wait', str(fifo)], MESSAGE, patience=0.3)
    await eventually(lambda: not has_reader(fifo))


async def test_cancelling_ends_the_command(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    task = asyncio.create_task(run_hook(["sh", "-c", 'exec 3<>"$0"; sleep 1000', str(fifo)], MESSAGE))
    await eventually(lambda: has_reader(fifo))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: not has_reader(fifo))


async def test_nul_bytes_do_not_keep_a_command_from_running(tmp_path: Path) -> None:
    odd = Message(event="changed", name="a\0b", title="t", body="b", payload=b"{}")
    await run_hook(["sh", "-c", 'printf %s "$WATCHER_NAME" > "$0"', str(tmp_path / "out")], odd)
    assert (tmp_path / "out").read_text() == "ab"


def has_reader(fifo: Path) -> bool:
    try:
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True
