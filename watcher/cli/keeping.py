"""``watcher forget``, ``watcher gc`` and ``watcher doctor``: erasure, retention, and a look at everything."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from typing import Any

from watcher import __version__, paths
from watcher.cli import compose, select
from watcher.cli.errors import FAILED, FINE, USAGE, CommandError
from watcher.cli.out import Out, clean, one_line, when

FORGET_PROSE = """\
Erase what is stored of the watches that PATTERN means: records, history, requests, saved pages. Asks first.
It cannot be undone. What lies in backups, file system snapshots and the spare cells of an SSD is out of reach.
A watch that is still configured starts anew at its next check."""

FORGET_EXAMPLES = """\
  watcher forget 'Desk lamp'
  watcher forget 'https://old.example/*' --yes"""

GC_PROSE = """\
Delete what its retention class no longer keeps, and saved pages nobody refers to. The newest version of a watch that
is configured never expires; of one that is not, everything goes when its class says so (never, by default)."""

GC_EXAMPLES = "  watcher gc"

DOCTOR_PROSE = """\
Look at the configuration and the store and say what is wrong, and what was found out about hosts. --repair mends what
needs no guessing: damaged bytes go to the store's quarantine, nothing that can be read is lost.
The exit code is 2 when the configuration has a problem, 1 when the store has one, 0 when all is well."""

DOCTOR_EXAMPLES = """\
  watcher doctor
  watcher doctor --repair"""


def register(commands: Any) -> None:
    """Add the commands of this family."""
    parser = commands.add(
        "forget", help="erase what is stored of a watch", prose=FORGET_PROSE, examples=FORGET_EXAMPLES
    )
    parser.add_argument("patterns", metavar="PATTERN", nargs="+", help=select.HELP)
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.set_defaults(func=run_forget)
    parser = commands.add("gc", help="delete what retention no longer keeps", prose=GC_PROSE, examples=GC_EXAMPLES)
    parser.set_defaults(func=run_gc)
    parser = commands.add("doctor", help="check configuration and store", prose=DOCTOR_PROSE, examples=DOCTOR_EXAMPLES)
    parser.add_argument("--repair", action="store_true", help="mend what needs no guessing")
    parser.set_defaults(func=run_doctor)


def run_forget(options: argparse.Namespace) -> int:
    """Erase watches from the store."""
    settings = compose.read_settings(options)
    out = Out(json=options.json)
    with compose.reading(options, settings) as known:
        stored = {name: known.store.summaries[name].url for name in known.store.names()}
    names = select.select_names(stored, options.patterns)
    if not options.yes and not _agreed(names):
        raise CommandError("nothing was forgotten", FAILED)
    with compose.writing(options, settings) as store:
        with compose.sending(options, settings, compose.complain) as outbox:
            outbox.forget(names)
            kept = outbox.problems()
        done = store.forget(names)
    if out.json:
        out.record({"forgotten": names, "files": done.files, "bodies": done.bodies, "remains": done.remains})
    else:
        for name in names:
            out.line(f"forgot {one_line(name)}")
        out.line(f"{done.files} files rewritten, {done.bodies} saved pages deleted")
        for watch in settings.watches:
            if watch.name in names:
                place = f"{watch.declared_in}:{watch.declared_line}"
                out.line(f"{one_line(watch.name)} still stands in {place} and starts anew at its next check")
        for path in done.remains:
            out.line(f"a trace is left in {path}")
    return FAILED if done.remains or kept else FINE


def _agreed(names: list[str]) -> bool:
    """Whether the person at the terminal means it. Raises :class:`CommandError` where nobody can be asked."""
    if not sys.stdin.isatty():
        raise CommandError("forget asks before it erases, and there is no terminal to ask: add --yes")
    sys.stderr.write("Erase everything stored of\n" + "".join(f"  {clean(name)}\n" for name in names))
    sys.stderr.write("This cannot be undone. Type yes to go on: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() == "yes"


def run_gc(options: argparse.Namespace) -> int:
    """Expire history and remove saved pages nobody refers to."""
    settings = compose.read_settings(options)
    out = Out(json=options.json)
    classes = {watch.name: watch.retention for watch in settings.watches}
    with compose.writing(options, settings) as store:
        done = store.gc(compose.now(), settings.retention, lambda name: classes.get(name, "default"), classes)
    if out.json:
        out.record(done)
    else:
        out.line(f"{done.rows} versions and {done.watches} watches expired; {done.bodies} saved pages deleted")
    return FINE


def run_doctor(options: argparse.Namespace) -> int:
    """Examine everything; mend what can be mended when asked to."""
    from watcher.config import ConfigError
    from watcher.core.settings import Settings
    from watcher.notify import troubles

    out = Out(json=options.json)
    doctor = _Doctor(out)
    path, _ = compose.config_file(options)
    try:
        settings = compose.read_settings(options)
    except ConfigError as error:
        settings = Settings()
        for problem in error.problems:
            doctor.problem("configuration", str(problem))
    else:
        exists = "" if path.exists() else " (not there; `watcher init` writes one)"
        doctor.fact("configuration", f"{path}{exists}: {len(settings.watches)} watches")
        for sentence in settings.warnings:
            doctor.note("configuration", sentence)
    broken = doctor.problems
    doctor.fact("program", f"watcher {__version__}, Python {platform.python_version()}, {platform.system()}")
    if options.repair:
        with compose.writing(options, settings) as store:
            for sentence in store.repair():
                doctor.fact("repaired", sentence)
    root = paths.data_dir(options.data_dir)
    there = next(folder for folder in (root, *root.parents) if folder.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        doctor.problem("store", f"nothing can be saved to {root}: {there} cannot be written by user {os.getuid()}")
    with compose.reading(options, settings) as known:
        writer = known.store.writer()
        used = f", in use by process {writer}" if writer else ""
        doctor.fact("store", f"{root}: {len(known.store.names())} watches{used}")
        for found in known.store.problems():
            doctor.problem("store", found.message + (" (--repair mends it)" if found.repairable else ""))
        for host in known.store.hosts().values():
            for finding in host.findings:
                doctor.note(host.key, f"{finding.kind} since {when(finding.since_at)}: {finding.reason}")
    for sentence in troubles(settings.notify, root, compose.now()):
        doctor.problem("notify", sentence)
    if not out.json:
        out.line("all is well" if not doctor.problems else f"problems: {doctor.problems}")
    return USAGE if broken else FAILED if doctor.problems else FINE


class _Doctor:
    """Prints what was found, and counts what is wrong."""

    def __init__(self, out: Out) -> None:
        self._out = out
        self.problems = 0

    def fact(self, about: str, text: str) -> None:
        self._print("fact", about, text)

    def note(self, about: str, text: str) -> None:
        self._print("note", about, text)

    def problem(self, about: str, text: str) -> None:
        self.problems += 1
        self._print("problem", about, text)

    def _print(self, kind: str, about: str, text: str) -> None:
        if self._out.json:
            self._out.record({"kind": kind, "about": about, "message": text})
            return
        mark = {"fact": " ", "note": "·", "problem": "✗"}[kind] if not self._out.ascii else kind[0]
        colour = ("red",) if kind == "problem" else ()
        self._out.line(self._out.paint(f"{mark} {one_line(about):<14} {one_line(text)}", *colour))
