"""``watcher demo``: the screen, or its events as text, over a small town that lives on this machine."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from watcher.cli.errors import FINE, CommandError
from watcher.cli.out import Out
from watcher.config.units import parse_duration

if TYPE_CHECKING:
    from watcher.cli.main import Commands
    from watcher.engine.engine import Engine
    from watcher.engine.events import Checked


PROSE = """\
Watch Saltmarsh, a harbour town served on a port of this machine. A second of yours is six hours there; the schedule
is the one that ships. Nobody else is asked, and nothing is left behind."""

EXAMPLES = """\
  watcher demo                          the screen
  watcher demo --headless --for 20s     what happens, as text
  watcher demo --headless --json        the same, one JSON object a check"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add("demo", help="watch a small town on this machine", prose=PROSE, examples=EXAMPLES)
    parser.add_argument("--headless", action="store_true", help="print what happens instead of showing the screen")
    parser.add_argument("--for", dest="duration", type=_seconds, metavar="20s", help="end after this long")
    parser.set_defaults(func=run)


def _seconds(text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(options: argparse.Namespace) -> int:
    """Show the demo until it is left, or print it until its time is up. Raises :class:`CommandError`."""
    if options.headless:
        asyncio.run(_print(options))
        return FINE
    if options.json or options.duration is not None:
        raise CommandError("--json and --for go with --headless; the screen is left with q")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("the screen needs a terminal; `watcher demo --headless` does without one")
    return asyncio.run(_show())


async def _show() -> int:
    """The screen over the town; its engine is drained before this returns."""
    from watcher import paths
    from watcher.cli.screen import try_fields
    from watcher.demo.play import demo
    from watcher.tui.app import run_screen
    from watcher.tui.options import ScreenOptions

    async with demo() as engine:
        runs: set[asyncio.Task[None]] = set()

        def start() -> None:
            runs.add(asyncio.create_task(engine.run(), name="engine"))

        start()
        screen = ScreenOptions(
            themes=(paths.shipped_themes(),), try_fields=try_fields, restart=start, banner="demo", tick=0.25
        )
        try:
            return await run_screen(engine, options=screen)
        finally:
            await engine.stop()
            await asyncio.gather(*runs)


async def _print(options: argparse.Namespace) -> None:
    """Run the engine and print each check once it is durable."""
    from watcher.demo.play import demo
    from watcher.engine.events import Checked

    async with demo() as engine:
        tell = _teller(options, engine)
        with engine.subscribe() as heard:
            running = asyncio.create_task(engine.run())
            try:
                async with asyncio.timeout(options.duration):
                    while True:
                        for event in await heard.wait():
                            if isinstance(event, Checked):
                                tell(event)
            except TimeoutError:
                pass
            finally:
                await engine.stop()
                await running


def _teller(options: argparse.Namespace, engine: Engine) -> Callable[[Checked], None]:
    """How a check is printed: a line of the demo's own time, or the JSON object of ``watcher check``."""
    out = Out(json=options.json)
    if options.json:
        from watcher.cli.telling import Teller

        return Teller(out, engine, verbose=True).tell
    from watcher.demo.narrate import narrate

    began_at = engine.now()

    def tell(event: Checked) -> None:
        for line in narrate(event, began_at):
            out.line(line)
        out.stream.flush()

    return tell
