"""A process that tells two pieces of news by a command and kills itself at one step: ``victim ROOT OUT STEP WHEN``.

``STEP`` counts what is written to the deliveries' file; it dies right before or right after that write.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from tests.notify.making import AT, heard, plain, settings, summary, watch, writing
from tests.support.clock import FakeClock
from watcher.notify import Outbox, deliveries
from watcher.notify.log import Log


class Doomed(Log):
    """Kills its process, as nothing can catch, at one of its writes."""

    step = 0
    when = "never"

    def append(self, line: bytes, *, sync: bool = False) -> None:
        Doomed.step -= 1
        self._die("before")
        super().append(line, sync=sync)
        self._die("after")

    def _die(self, when: str) -> None:
        if Doomed.step == 0 and Doomed.when == when:
            os.kill(os.getpid(), signal.SIGKILL)


def offer_all(box: Outbox) -> None:
    """The two pieces of news, as the engine tells them."""
    for number, name in enumerate(("Lamp", "Ferry")):
        box.offer(heard(name, at=AT + number), watch(name), summary())


def main(root: Path, command: tuple[str, ...]) -> None:
    box = Outbox(settings(command), root, FakeClock(AT), reveal=plain)
    offer_all(box)
    asyncio.run(box.flush())


if __name__ == "__main__":
    folder, out, step, Doomed.when = sys.argv[1:]
    Doomed.step = int(step)
    vars(deliveries)["Log"] = Doomed
    main(Path(folder), writing(Path(out)))
