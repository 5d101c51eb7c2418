"""``watcher`` without a command: the screen over the engine, or beside another process's engine."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from watcher import paths
from watcher.cli import compose
from watcher.cli.errors import CommandError
from watcher.core.model import Field, Watch
from watcher.core.settings import Settings

if TYPE_CHECKING:
    from watcher.cli.work import Work
    from watcher.engine.engine import Engine
    from watcher.engine.handle import Preview
    from watcher.engine.viewer import Viewer
    from watcher.tui.options import ScreenOptions


def run_screen(options: argparse.Namespace) -> int:
    """Show the screen until it is left; its engine is drained before this returns."""
    if options.json:
        raise CommandError("--json goes with a command; the screen has no use for it")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("the screen needs a terminal; `watcher run` and `watcher check` do without one")
    from watcher.store import StoreFull, StoreLocked, StoreReadOnly

    settings = compose.read_settings(options)
    with ExitStack() as stack:
        try:
            work = stack.enter_context(compose.working(options, settings, reload=compose.reloading(options)))
        except (StoreLocked, StoreReadOnly, StoreFull):
            # Somebody else writes, or nobody can: what is stored may still be looked at.
            viewer = stack.enter_context(compose.viewing(options, settings))
            return asyncio.run(_beside(viewer, _options(options, banner="read-only")))
        return asyncio.run(_over(work, options))


async def _over(work: Work, options: argparse.Namespace) -> int:
    """The screen over a live engine, which may be started again after it failed."""
    runs: set[asyncio.Task[None]] = set()

    def start() -> None:
        runs.add(asyncio.create_task(work.run(), name="engine"))

    start()
    try:
        return await _until_left(work.engine, _options(options, restart=start), work.stop, runs)
    finally:
        await work.aclose()


async def _beside(viewer: Viewer, options: ScreenOptions) -> int:
    """The screen over a journal that somebody else writes."""
    runs = {asyncio.create_task(viewer.run(), name="viewer")}
    return await _until_left(viewer, options, viewer.stop, runs)


async def _until_left(
    handle: Engine | Viewer,
    options: ScreenOptions,
    stop: Callable[[], Awaitable[None]],
    runs: set[asyncio.Task[None]],
) -> int:
    from watcher.tui.app import run_screen as show

    try:
        return await show(handle, options=options)
    finally:
        await stop()
        await asyncio.gather(*runs)


def _options(
    options: argparse.Namespace, *, restart: Callable[[], None] | None = None, banner: str = ""
) -> ScreenOptions:
    """What the screen cannot know through its handle. A reader's screen changes nothing."""
    from watcher.config import ADDED, add_watches, remove_watch, write_config
    from watcher.tui.options import ScreenOptions

    config, _ = compose.config_file(options)
    writes = restart is not None

    def save(watches: Sequence[Mapping[str, Any]]) -> Settings:
        return add_watches(config, watches)

    def remove(name: str) -> None:
        remove_watch(config, name)

    def init() -> None:
        from watcher.cli.setup import first_config

        write_config(config, first_config())

    return ScreenOptions(
        config_file=config,
        watches_file=config.with_name(ADDED),
        themes=(paths.shipped_themes(), paths.own_themes(config)),
        save_watches=save if writes else None,
        remove_watch=remove if writes else None,
        init_config=init if writes else None,
        try_fields=try_fields,
        restart=restart,
        banner=banner,
    )


def try_fields(preview: Preview, fields: Sequence[Field]) -> Preview:
    """The page of ``preview`` read with other fields, without asking its host again."""
    from watcher.engine.preview import read_as

    watch = Watch(name=preview.url, url=preview.url, fields=tuple(fields))
    return read_as(watch, preview.body, content_type=preview.content_type, url=preview.url)
