"""What is still to be told to whom, on disk: kept apart from the record of changes, and never told twice.

A delivery is one piece of news for one destination, keyed by (watch, instant of the check, destination). Before it
is handed over it is marked, durably, as being sent; afterwards it is settled, or waits for another try. One whose
end nobody saw, as the program was killed meanwhile, is settled too: it may have arrived, and never twice matters
more than surely once. A failure that was seen is tried again.

``notify/deliveries.jsonl`` holds a line for each step (see :data:`Line`), sealed by a checksum, and is rewritten
without what is settled once it has grown large.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

import msgspec

from watcher.notify.bursts import recent
from watcher.notify.log import Log, seal
from watcher.notify.message import Notice

FILE = Path("notify", "deliveries.jsonl")
LARGE = 1_000_000
"""Bytes from which the file is rewritten, once it has doubled since the last time."""
REMEMBERED = 10_000
"""Pieces of news remembered after they are settled, so that hearing of one again tells nothing."""

News: TypeAlias = tuple[str, float]
"""What a piece of news is known by: the watch's name and the instant of its check."""


class Offered(msgspec.Struct, frozen=True, kw_only=True, tag="offer", tag_field="k"):
    """News came up that goes to these destinations."""

    notice: Notice
    to: tuple[str, ...]


class Begun(msgspec.Struct, frozen=True, kw_only=True, tag="begin", tag_field="k"):
    """A message with this news is about to be handed to ``to``."""

    to: str
    news: tuple[News, ...]


class Ended(msgspec.Struct, frozen=True, kw_only=True, tag="end", tag_field="k", omit_defaults=True):
    """The message was taken at ``at``. Or not, for the reason ``why``: ``retry_at`` says when it is tried again."""

    to: str
    news: tuple[News, ...]
    at: float
    why: str = ""
    retry_at: float | None = None


class Waiting(msgspec.Struct, frozen=True, kw_only=True, tag="wait", tag_field="k", omit_defaults=True):
    """A delivery not settled yet, as a rewritten file holds it. ``why`` says what its last try came to."""

    notice: Notice
    to: str
    tries: int = 0
    due_at: float = 0.0
    why: str = ""
    sending: bool = False


class Settled(msgspec.Struct, frozen=True, kw_only=True, tag="past", tag_field="k"):
    """What a rewritten file still knows of settled deliveries: their news, and when messages went where."""

    news: tuple[News, ...]
    sent: dict[str, tuple[float, ...]]


Line: TypeAlias = Offered | Begun | Ended | Waiting | Settled

_encode = msgspec.json.Encoder(decimal_format="number").encode
_decode = msgspec.json.Decoder(Line, float_hook=Decimal).decode


class Deliveries:
    """The deliveries in the data directory ``root``; :meth:`load` comes first.

    ``damaged`` counts stretches of the file that could not be read. OSError is raised where the disk refuses;
    what is in memory is right all the same.
    """

    def __init__(self, root: Path) -> None:
        self.damaged = 0
        self._log = Log(root / FILE)
        self._waiting: dict[tuple[str, float, str], Waiting] = {}
        self._known: dict[News, None] = {}
        self._sent: dict[str, list[float]] = {}
        self._kept = 0

    @property
    def path(self) -> Path:
        """The file."""
        return self._log.path

    def load(self, at: float) -> Sequence[Waiting]:
        """:meth:`read`. What was being sent when the last process was killed is settled ``at``, and returned."""
        self.read()
        lost = [delivery for delivery in self._waiting.values() if delivery.sending]
        for delivery in lost:
            with suppress(OSError):  # the next start will settle it
                self.drop([delivery], at, "interrupted")
        return lost

    def read(self) -> None:
        """Take in the file, and write nothing: for a look beside the process that has it."""
        lines, self.damaged = self._log.read()
        for line in lines:
            try:
                self._apply(_decode(line))
            except msgspec.MsgspecError:
                self.damaged += 1

    def waiting(self) -> Sequence[Waiting]:
        """What is not settled yet, oldest first."""
        return tuple(self._waiting.values())

    def sent(self, to: str, now: float) -> Sequence[float]:
        """When messages went to ``to`` lately, oldest first."""
        self._sent[to] = recent(self._sent.get(to, ()), now)
        return self._sent[to]

    def offer(self, notice: Notice, to: tuple[str, ...]) -> bool:
        """Take in ``notice`` for these destinations, unless this news was offered before."""
        new = (notice.name, notice.at) not in self._known
        if new:
            self._append(Offered(notice=notice, to=to))
        return new

    async def begin(self, batch: Sequence[Waiting]) -> None:
        """Mark ``batch``, which goes to one destination, as being sent; on disk when this returns.

        Where this raises, nothing may be sent, and nothing is marked.
        """
        line = Begun(to=batch[0].to, news=tuple(map(_news, batch)))
        try:
            await self._append_durably(line)
        except OSError:
            self._waiting |= {_key(delivery): delivery for delivery in batch if _key(delivery) in self._waiting}
            raise

    async def end(self, batch: Sequence[Waiting], at: float, *, why: str = "", retry_at: float | None = None) -> None:
        """Settle ``batch``, or with ``retry_at`` let it wait; ``why`` is empty where it was taken."""
        news = tuple(_news(delivery) for delivery in batch if _key(delivery) in self._waiting)
        await self._append_durably(Ended(to=batch[0].to, news=news, at=at, why=why, retry_at=retry_at))
        if self._log.size > max(LARGE, 2 * self._kept):
            self.compact()

    def drop(self, batch: Sequence[Waiting], at: float, why: str) -> None:
        """Settle ``batch``, which was for one destination, without another try."""
        self._append(Ended(to=batch[0].to, news=tuple(map(_news, batch)), at=at, why=why))

    def forget(self, names: Iterable[str]) -> None:
        """Erase everything about these watches, from the disk too."""
        gone = frozenset(names)
        self._waiting = {key: value for key, value in self._waiting.items() if key[0] not in gone}
        self._known = {news: None for news in self._known if news[0] not in gone}
        if self._log.path.exists():
            self.compact()

    def compact(self) -> None:
        """Rewrite the file with what is not settled, and with what keeps settled news from being told again."""
        self._log.replace(seal(_encode(line)) for line in self._snapshot())
        self._kept = self._log.size

    def close(self) -> None:
        """Let go of the file."""
        self._log.close()

    def _snapshot(self) -> Iterator[Line]:
        yield Settled(news=tuple(self._known), sent={to: tuple(times) for to, times in self._sent.items()})
        yield from self._waiting.values()

    def _append(self, line: Line) -> None:
        self._apply(line)
        self._log.append(seal(_encode(line)))

    async def _append_durably(self, line: Line) -> None:
        # Memory first: a file rewritten meanwhile then holds this step as well.
        self._apply(line)
        await asyncio.to_thread(self._log.append, seal(_encode(line)), sync=True)

    def _apply(self, line: Line) -> None:
        """The one place where a step, read or just taken, changes what is known. Taking it twice changes nothing."""
        match line:
            case Offered():
                self._remember((line.notice.name, line.notice.at))
                for to in line.to:
                    delivery = Waiting(notice=line.notice, to=to)
                    self._waiting[_key(delivery)] = delivery
            case Waiting():
                self._remember(_news(line))
                self._waiting[_key(line)] = line
            case Begun():
                for news in line.news:
                    self._remember(news)
                for delivery in self._those(line.to, line.news):
                    self._waiting[_key(delivery)] = msgspec.structs.replace(delivery, sending=True)
            case Ended():
                self._end(line)
            case Settled():
                for news in line.news:
                    self._remember(news)
                for to, times in line.sent.items():
                    self._sent.setdefault(to, []).extend(times)

    def _end(self, line: Ended) -> None:
        if not line.why:
            self._sent.setdefault(line.to, []).append(line.at)
        for delivery in self._those(line.to, line.news):
            if line.retry_at is None:
                del self._waiting[_key(delivery)]
            else:
                self._waiting[_key(delivery)] = msgspec.structs.replace(
                    delivery, tries=delivery.tries + 1, due_at=line.retry_at, why=line.why, sending=False
                )

    def _those(self, to: str, news: Iterable[News]) -> list[Waiting]:
        found = (self._waiting.get((name, at, to)) for name, at in news)
        return [delivery for delivery in found if delivery is not None]

    def _remember(self, news: News) -> None:
        self._known[news] = None
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]


def _news(delivery: Waiting) -> News:
    return delivery.notice.name, delivery.notice.at


def _key(delivery: Waiting) -> tuple[str, float, str]:
    return delivery.notice.name, delivery.notice.at, delivery.to
