"""An engine, and the outbox that carries its news out of the program: run, and ended, together."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watcher.engine.engine import Engine
    from watcher.fetch import Transport
    from watcher.notify import Outbox


log = logging.getLogger(__name__)


class Work:
    """What a process that writes the store does: ``engine`` checks, ``outbox`` tells."""

    def __init__(self, engine: Engine, outbox: Outbox, transport: Transport) -> None:
        self.engine = engine
        self.outbox = outbox
        self._transport = transport
        self._telling: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """The engine's loop until :meth:`stop`; ends when what need not wait has been told. It may be run again."""
        self._telling = asyncio.create_task(self.outbox.run(), name="outbox")
        try:
            await self.engine.run()
        finally:
            self.outbox.stop()
            await self._told()

    async def flush(self) -> None:
        """After a pass: tell what need not wait. The rest is told by whoever has the store next."""
        self._telling = asyncio.create_task(self.outbox.flush(), name="outbox")
        await self._told()

    async def stop(self, *, force: bool = False) -> None:
        """Finish the checks in flight; ``force`` cancels them, and the telling too."""
        await self.engine.stop(force=force)
        if force and self._telling is not None:
            self._telling.cancel()

    async def aclose(self) -> None:
        """Let go of the connections to hosts."""
        await self._transport.aclose()

    async def _told(self) -> None:
        """Wait for the telling to end. Whatever became of it, the checks are on disk and the exit code is theirs."""
        if self._telling is not None:
            (ended,) = await asyncio.gather(self._telling, return_exceptions=True)
            if isinstance(ended, Exception):
                log.error("the outbox stopped", exc_info=ended)
