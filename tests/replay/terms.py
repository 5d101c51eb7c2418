"""The main job on real pages: the engine watches the archive from its first day to its last, in virtual time.

    python -m tests.replay.terms --root DIR [--pages N] [--since DATE] [--until DATE] [--start UNIX]

prints every check as one JSON line once it is durable. Started again over the same ``--root`` it goes on where the
store stands, so it can be killed anywhere; :func:`watch` is the same as a function.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.replay.archive import ArchivedPage, ArchiveServer, load
from tests.replay.cases import shared
from tests.replay.world import load_settings
from tests.support.clock import FakeClock, running_clock
from watcher.core.settings import Settings
from watcher.engine.engine import Engine
from watcher.engine.events import Checked
from watcher.fetch import Transport
from watcher.store import Store


def settings_at(root: Path, pages: Iterable[ArchivedPage], at: float, port: int) -> Settings:
    """The configuration in force at ``at``: every page with the region then declared as one ``content`` field."""
    tables = []
    for page in pages:
        select, remove = page.snapshots[page.index_at(at)].declared
        field: dict[str, Any] = {"css": ", ".join(select), "type": "content"}
        if remove:
            field["remove"] = list(remove)
        url = f"http://127.0.0.1:{port}{page.path}"
        tables.append({"name": page.name, "url": url, "type": "detail", "fields": {"content": field}})
    return load_settings(root, tables)


def declared_anew(pages: Iterable[ArchivedPage]) -> list[float]:
    """The instants at which some page's declaration differs from the one before."""
    moments = set()
    for page in pages:
        for before, after in zip(page.snapshots, page.snapshots[1:], strict=False):
            if before.declared != after.declared:
                moments.add(after.at)
    return sorted(moments)


@asynccontextmanager
async def engine_over(root: Path, settings: Settings, edits: list[Settings]) -> AsyncIterator[Engine]:
    """The engine over the store below ``root``; it takes in what is put on ``edits``."""
    clock = running_clock()
    transport = Transport()
    store = Store.open(root / "data", durability="os", now=clock.now)
    engine = Engine(settings, store, clock, transport, reload=lambda: edits.pop() if edits else None)
    try:
        yield engine
    finally:
        await engine.stop()
        await transport.aclose()
        store.close()


async def watch(
    root: Path, pages: list[ArchivedPage], until: float, told: Callable[[Checked], None], port: int = 0
) -> ArchiveServer:
    """Check each of ``pages`` whenever it is due, until the clock shows ``until``.

    Every check is handed to ``told`` once it is durable. One pass a due time, as ``watcher check`` from a timer would
    make it: the loop of ``watcher run`` looks up every half minute, three million times in the archive's three years.
    """
    clock = running_clock()
    edits: list[Settings] = []
    moments = [moment for moment in declared_anew(pages) if moment > clock.now()]
    async with ArchiveServer(pages, clock.now, port) as server:
        async with engine_over(root, settings_at(root, pages, clock.now(), server.port), edits) as engine:
            while (due := _next_due(engine)) is not None and due <= until:
                if moments and moments[0] <= due:
                    await clock.run_until(moment := moments.pop(0))
                    edits.append(settings_at(root, pages, moment, server.port))
                else:
                    await clock.run_until(due)
                await engine.check_once(report=told)
        return server


def _next_due(engine: Engine) -> float | None:
    """When the first watch is due; None when none ever is again."""
    summaries = filter(None, map(engine.summary, engine.names()))
    return min((s.next_check_at for s in summaries if s.next_check_at is not None), default=None)


def line_of(event: Checked) -> str:
    """A check as the line this program prints."""
    check = event.check
    news = event.news.value if event.news else None
    return json.dumps({"name": check.name, "at": check.at, "outcome": check.outcome.value, "news": news})


def main() -> None:
    """Watch the archive and print each check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--pages", type=int)
    parser.add_argument("--since", default="2023-01-01")
    parser.add_argument("--until", default="2027-01-01")
    parser.add_argument(
        "--start", type=float, help="what the clock shows first; the first snapshot's instant if absent"
    )
    parser.add_argument("--port", type=int, default=0, help="a watch's URL names it, so going on needs the same one")
    given = parser.parse_args()
    since, until = (datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() for day in (given.since, given.until))
    pages = load(shared() / "data/terms", given.pages, since, until)
    start = given.start if given.start is not None else min(page.snapshots[0].at for page in pages)
    last = max(page.snapshots[-1].at for page in pages) + 7 * 86_400
    given.root.mkdir(parents=True, exist_ok=True)
    FakeClock(start).run(watch(given.root, pages, last, lambda event: print(line_of(event), flush=True), given.port))


if __name__ == "__main__":
    main()
