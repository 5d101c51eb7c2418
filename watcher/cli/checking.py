"""``watcher check`` and ``watcher run``: one pass, or the loop, without a screen."""

from __future__ import annotations

import argparse
import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from watcher.cli import compose, select
from watcher.cli.errors import FAILED, FINE, INTERRUPTED, STORE, CommandError
from watcher.cli.out import Out

if TYPE_CHECKING:
    from watcher.cli.work import Work
    from watcher.engine.engine import Engine

CHECK_PROSE = """\
Make one pass over the watches that are due, print what was found, and end. Made for cron and systemd timers.
Pacing, robots.txt and Retry-After hold whatever the options say: a host that asked us to wait is not asked."""

CHECK_EXAMPLES = """\
  watcher check                          what is due now
  watcher check --all                    everything, due or not
  watcher check --filter status:failing  what is due of those
  watcher check lamp --force             this one now, and ask for the whole page
  watcher check --json | jq .changes     one object a check
  watcher check --exit-changed 10        exit code 10 when something changed"""

RUN_PROSE = """\
Keep checking what becomes due, without a screen, until told to stop. SIGTERM and Ctrl-C let the checks in flight
finish; a second Ctrl-C cancels them. The configuration is read again whenever it changes."""

RUN_EXAMPLES = """\
  watcher run
  watcher run --json >> events.jsonl"""


def register(commands: Any) -> None:
    """Add the commands of this family."""
    parser = commands.add("check", help="one pass over what is due", prose=CHECK_PROSE, examples=CHECK_EXAMPLES)
    parser.add_argument("patterns", metavar="PATTERN", nargs="*", help=f"only these: {select.HELP}")
    select.add_filter(parser)
    parser.add_argument("--all", action="store_true", help="due or not")
    parser.add_argument("--force", action="store_true", help="due or not, and unconditionally: the whole page")
    parser.add_argument(
        "--re-extract", action="store_true", help="read the pages anew; announce nothing, learn nothing"
    )
    parser.add_argument("--exit-changed", metavar="N", type=_code, help="exit with N when something changed")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for every check, not only for news")
    parser.set_defaults(func=run_check)
    parser = commands.add("run", help="the loop without a screen", prose=RUN_PROSE, examples=RUN_EXAMPLES)
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for every check, not only for news")
    parser.set_defaults(func=run_loop)


def _code(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) <= 255:
        raise argparse.ArgumentTypeError(f"{text!r} is no exit code: 0 to 255")
    return int(text)


def run_check(options: argparse.Namespace) -> int:
    """Make one pass; the exit code says whether something failed or changed."""
    from watcher.cli.telling import Teller

    settings = compose.read_settings(options, warn=True)
    out = Out(json=options.json)
    watches = select.select(settings, options.patterns)
    if not watches:
        compose.note_nothing(options)
        return FINE
    with compose.working(options, settings, report=compose.complain) as working:
        engine = working.engine
        teller = Teller(out, engine, verbose=options.verbose)
        names = [w.name for w in select.filtered(watches, options.filter, engine.summary, engine.now())]
        chosen = names if options.all or options.force or options.re_extract else _due(engine, names)

        async def work() -> None:
            if chosen:
                await engine.check_once(chosen, force=options.force, re_extract=options.re_extract, report=teller.tell)
            await working.flush()

        stopped = asyncio.run(_until_signal(working, work))
        _raise_failure(engine)
        teller.sum_up(waiting=len(names) - len(chosen))
    if stopped:
        return INTERRUPTED
    if teller.changed and options.exit_changed is not None:
        return int(options.exit_changed)
    return FAILED if teller.failed else FINE


def _due(engine: Engine, names: Sequence[str]) -> list[str]:
    now = engine.now()
    found = []
    for name in names:
        summary = engine.summary(name)
        if summary and not summary.paused and summary.next_check_at is not None and summary.next_check_at <= now:
            found.append(name)
    return found


def run_loop(options: argparse.Namespace) -> int:
    """Check what becomes due until told to stop."""
    from watcher.cli.telling import Teller
    from watcher.engine.events import Checked, Reloaded

    settings = compose.read_settings(options, warn=True)
    out = Out(json=options.json)
    if not settings.watches:
        compose.note_nothing(options)
    reload = compose.reloading(options)
    with compose.working(options, settings, reload=reload, report=compose.complain) as working:
        engine = working.engine
        teller = Teller(out, engine, verbose=options.verbose)

        async def listen() -> None:
            with engine.subscribe() as heard:
                while True:
                    for event in await heard.wait():
                        if isinstance(event, Checked):
                            teller.tell(event)
                        elif isinstance(event, Reloaded):
                            teller.tell_reloaded(event)

        async def work() -> None:
            listener = asyncio.create_task(listen())
            try:
                await working.run()
                # One turn for what was told last.
                await asyncio.sleep(0)
            finally:
                listener.cancel()
                await asyncio.gather(listener, return_exceptions=True)

        stopped = asyncio.run(_until_signal(working, work))
        _raise_failure(engine)
    return INTERRUPTED if stopped == signal.SIGINT else FINE


async def _until_signal(working: Work, work: Callable[[], Awaitable[None]]) -> int:
    """Do ``work``; the first SIGINT or SIGTERM drains the engine, the next cancels. The signal's number, or 0."""
    loop = asyncio.get_running_loop()
    received: list[int] = []
    stops: set[asyncio.Task[None]] = set()

    def stop(number: int) -> None:
        received.append(number)
        stops.add(loop.create_task(working.stop(force=len(received) > 1)))

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    try:
        await work()
    finally:
        await asyncio.gather(*stops, return_exceptions=True)
        await working.aclose()
    return received[0] if received else 0


def _raise_failure(engine: Engine) -> None:
    failure = engine.failure
    if failure is not None:
        raise CommandError(failure.message, STORE if failure.kind == "store" else FAILED)
