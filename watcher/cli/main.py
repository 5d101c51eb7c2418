"""The command line: finds the command, imports what it needs, and turns every failure into one line and a code."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from watcher import __version__
from watcher.cli.errors import FINE, INTERRUPTED, STORE, USAGE, CommandError

FAMILIES = {
    "demo": ("demo",),
    "checking": ("run", "check"),
    "trial": ("test",),
    "listing": ("list", "show"),
    "changes": ("diff", "history"),
    "plan": ("plan",),
    "simulate": ("simulate",),
    "stats": ("stats",),
    "keeping": ("forget", "gc", "doctor"),
    "setup": ("init", "add", "themes"),
    "rework": ("re-extract", "export"),
}
"""Modules of :mod:`watcher.cli`, and the commands each registers."""

PROSE = """\
Watch web pages from a terminal and be told which field changed.

Without a command the screen opens. A first look costs nothing and leaves nothing behind:

    watcher demo

Then your own pages:

    watcher init                                  write a commented configuration
    watcher add https://example.org/news          watch a page
    watcher check                                 one pass over what is due
    watcher                                       the screen, which keeps checking
"""

ENDING = """\
exit codes: 0 all fine, 1 some watch failed, 2 usage or configuration, 3 store in use or unreadable.
"watcher COMMAND --help" explains each command.
"""


class Parser(argparse.ArgumentParser):
    """Errors on one line, with the way to more."""

    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{message} (see `{self.prog} --help`)")


def _global_options(*, again: bool) -> Parser:
    """``--config``, ``--data-dir`` and ``--json``: before the command, or ``again`` after it."""
    parent = Parser(add_help=False)
    group = parent.add_argument_group("global options, before or after the command") if again else parent
    unset = argparse.SUPPRESS if again else None
    group.add_argument("--config", metavar="FILE", default=unset, help="configuration (or WATCHER_CONFIG)")
    group.add_argument("--data-dir", metavar="DIR", default=unset, help="data directory (or WATCHER_DATA_DIR)")
    group.add_argument(
        "--allow-network-fs",
        action="store_true",
        default=unset or False,
        help="use a data directory on a network file system although neither locks nor syncs are sure there",
    )
    group.add_argument("--json", action="store_true", default=unset or False, help="one JSON object a line")
    return parent


def build_parser(modules: Sequence[str] = tuple(FAMILIES)) -> argparse.ArgumentParser:
    """The parser with the commands of ``modules``; all of them by default."""
    parser = Parser(
        prog="watcher",
        description=PROSE,
        epilog=ENDING,
        parents=[_global_options(again=False)],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"watcher {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", parser_class=Parser)
    shared = _global_options(again=True)
    for name in modules:
        import_module(f"watcher.cli.{name}").register(Commands(commands, shared))
    return parser


class Commands:
    """Where a family registers its commands."""

    def __init__(self, actions: argparse._SubParsersAction[Parser], shared: Parser) -> None:
        self._actions = actions
        self._shared = shared

    def add(self, name: str, *, help: str, prose: str, examples: str) -> argparse.ArgumentParser:
        """A command: one line for the list, prose and examples for its own help."""
        return self._actions.add_parser(
            name,
            help=help,
            description=prose,
            epilog=f"examples:\n{examples}",
            parents=[self._shared],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )


def _modules(argv: Sequence[str]) -> tuple[str, ...]:
    """The families whose commands stand in ``argv``; none for the screen; all for help and for slips."""
    wanted = tuple(module for module, commands in FAMILIES.items() if any(word in commands for word in argv))
    if wanted:
        return wanted
    words = iter(argv)
    for word in words:
        if word in ("--config", "--data-dir"):
            next(words, None)
        elif not word.startswith(("--config=", "--data-dir=")) and word not in ("--version", "--allow-network-fs"):
            return tuple(FAMILIES)
    return ()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    argv = list(sys.argv[1:] if argv is None else argv)
    options = argparse.Namespace()
    # What a command reads stays until it ends; looking for garbage in it costs a third of a start with many watches.
    gc.disable()
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        options = build_parser(_modules(argv)).parse_args(argv)
        code = _run(options)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read has gone; Python must not complain about it once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FINE
    except CommandError as error:
        return _fail(str(error), error.code)
    except Exception as error:
        return _explain(error, options)


def _run(options: argparse.Namespace) -> int:
    if options.command is None:
        from watcher.cli.screen import run_screen

        return run_screen(options)
    return int(options.func(options))


def _explain(error: Exception, options: argparse.Namespace) -> int:
    """Configuration and store say themselves what is wrong; the rest is a bug, and its traceback goes to a file."""
    from watcher.config import ConfigError
    from watcher.store import StoreError

    if isinstance(error, ConfigError):
        return _fail(str(error), USAGE)
    if isinstance(error, StoreError):
        return _fail(str(error), STORE)
    from watcher.cli.log import write_traceback

    return _fail(write_traceback(error, options), 1)


def _fail(message: str, code: int) -> int:
    from watcher.cli.out import clean

    for line in message.splitlines():
        sys.stderr.write(f"watcher: {clean(line)}\n")
    return code
