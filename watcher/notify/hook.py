"""A command as the destination: the message on its standard input and in its environment, its exit code the answer."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from watcher.notify.errors import NotDelivered
from watcher.notify.message import Message, clean

PATIENCE = 30.0
"""Seconds a command may take."""

KEPT = 4_096
"""Bytes of what it says on standard error that are kept; the rest is read and thrown away."""


async def run_hook(command: Sequence[str], message: Message, *, patience: float = PATIENCE) -> None:
    """Run ``command`` (argv, no shell) for ``message``. Raises NotDelivered unless it exits with 0 in time.

    Its standard input is the message's JSON object and a line end; WATCHER_NAME, WATCHER_URL, WATCHER_EVENT and
    WATCHER_MESSAGE are set. It runs in a session of its own, so that its end is the end of all it started,
    where it is ended by us. What it leaves running by its own will is left alone.
    """
    with tempfile.TemporaryFile() as given, _errors() as (errors, last_words):
        given.write(message.payload + b"\n")
        given.seek(0)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=given,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=errors,
                env=_environment(message),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise NotDelivered(f"The command {command[0]!r} cannot be run: {why}.") from None
        await _finish(process, command[0], last_words, patience)


async def _finish(
    process: asyncio.subprocess.Process, name: str, last_words: Callable[[], bytes], patience: float
) -> None:
    try:
        async with asyncio.timeout(patience):
            code = await process.wait()
    except TimeoutError:
        raise NotDelivered(f"The command {name!r} did not end within {patience:g} s.") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if code:
        words = clean(last_words().decode("utf-8", "replace"))
        what = f"failed with status {code}" if code > 0 else f"was ended by signal {-code}"
        raise NotDelivered(f"The command {name!r} {what}{': ' if words else '.'}{words}")


@contextmanager
def _errors() -> Iterator[tuple[int, Callable[[], bytes]]]:
    """A pipe's writing end, and what tells what was written into it so far.

    Not asyncio's own pipe: a process with one counts as running until everything that inherited it has ended.
    """
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    said = bytearray()

    def read() -> bytes:
        with suppress(BlockingIOError):
            data = os.read(reading, 65_536)
            said.extend(data[: KEPT - len(said)])
        return bytes(said)

    loop = asyncio.get_running_loop()
    loop.add_reader(reading, read)
    try:
        yield writing, read
    finally:
        loop.remove_reader(reading)
        os.close(reading)
        os.close(writing)


def _environment(message: Message) -> dict[str, str]:
    news = {
        "WATCHER_NAME": message.name,
        "WATCHER_URL": message.url,
        "WATCHER_EVENT": message.event,
        "WATCHER_MESSAGE": f"{message.title}\n{message.body}",
    }
    return {**os.environ, **{name: value.replace("\0", "") for name, value in news.items()}}
