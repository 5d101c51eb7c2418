"""Examining a store, and repairing what can be repaired without guessing."""

from __future__ import annotations

import os
from collections.abc import Iterator

from watcher.store import lines
from watcher.store.bodies import Bodies
from watcher.store.errors import explain
from watcher.store.fold import HeaderLine
from watcher.store.history import audit_header, audit_lines
from watcher.store.layout import Layout
from watcher.store.lines import Bad
from watcher.store.opening import drop, unfinished
from watcher.store.recovery import WHY, Problem, ends_well, good_lines, keep_aside
from watcher.store.sealed import write_audit, write_history
from watcher.store.sweep import references
from watcher.store.thrift import history_rows


def examine(layout: Layout, bodies: Bodies, base: int) -> list[Problem]:
    """Read everything that opening does not read, and say what is wrong. Raises OSError."""
    return [
        *_set_aside(layout),
        *_leftovers(layout, base),
        *_history(layout),
        *_audit(layout),
        *_bodies(layout, bodies),
    ]


def _set_aside(layout: Layout) -> Iterator[Problem]:
    for name in layout.fs.list(layout.quarantine):
        source, _, reason = name.rpartition(".")
        size = layout.fs.size(os.path.join(layout.quarantine, name))
        why = WHY.get(reason, "a body that does not match its name, moved away" if reason == "body" else "set aside")
        message = f"quarantine/{name}: {size} bytes from {source}: {why}; delete the file once you need it no more"
        yield Problem(kind="quarantine", file=f"quarantine/{name}", message=message)


def _leftovers(layout: Layout, base: int) -> Iterator[Problem]:
    for path in [*unfinished(layout, base), *_temporary_bodies(layout)]:
        name = layout.short(path)
        yield Problem(kind="leftover", file=name, message=f"{name}: left by an interrupted write", repairable=True)


def _temporary_bodies(layout: Layout) -> list[str]:
    folders = [os.path.join(layout.bodies, name) for name in layout.fs.list(layout.bodies)]
    return [os.path.join(f, name) for f in folders for name in layout.fs.list(f) if name.endswith(".tmp")]


def history_paths(layout: Layout) -> list[str]:
    """Every history file."""
    return [os.path.join(f, f"{n:06d}.jsonl") for f in layout.history_folders() for n in layout.numbers(f)]


def _history(layout: Layout) -> Iterator[Problem]:
    for path in history_paths(layout):
        bad: list[Bad] = []
        for _ in good_lines(layout, path, bad):
            pass
        if bad or not ends_well(layout.fs, path):
            name, lost = layout.short(path), sum(len(b.data) for b in bad)
            message = f"{name}: {lost} damaged bytes; the rows around them are good"
            yield Problem(kind="history", file=name, message=message, repairable=True)


def _audit(layout: Layout) -> Iterator[Problem]:
    for number in layout.numbers(layout.audit):
        path = layout.audit_file(number)
        if _audit_is_cut(layout, path):
            name = layout.short(path)
            message = f"{name}: damaged; the checks before the damage are good"
            yield Problem(kind="audit", file=name, message=message, repairable=True)


def _audit_is_cut(layout: Layout, path: str) -> bool:
    damage: list[Bad] = []
    for _ in audit_lines(layout, path, damage):
        pass
    return bool(damage) or audit_header(layout, path) is None


def _bodies(layout: Layout, bodies: Bodies) -> Iterator[Problem]:
    there = set(bodies.all())
    spoken = references(layout, {})
    for digest in sorted(there):
        if bodies.get(digest) is None:
            message = f"body {digest[:12]} does not match its name; the page will be asked for unconditionally"
            yield Problem(kind="body", file=layout.short(bodies.path(digest)), message=message, repairable=True)
    for digest in sorted(spoken - there):
        message = f"body {digest[:12]} is missing; the page will be asked for unconditionally"
        yield Problem(kind="body-missing", file=layout.short(bodies.path(digest)), message=message)
    if unspoken := len(there - spoken):
        message = f"{unspoken} bodies belong to no state or version; `watcher gc` removes them"
        yield Problem(kind="body-unused", file="bodies", message=message)


def repair(layout: Layout, bodies: Bodies, base: int) -> list[str]:
    """Do what needs no guessing; says what was done, a sentence each. Raises StoreFull, StoreFailed, StoreReadOnly."""
    done: list[str] = []
    try:
        left = [*unfinished(layout, base), *_temporary_bodies(layout)]
        drop(layout, left)
        done += [f"{layout.short(path)}: removed, it was never finished" for path in left]
        for problem in _history(layout):
            path = os.path.join(layout.root, problem.file)
            write_history(layout, path, list(history_rows(layout, path)))
            done.append(f"{problem.file}: rewritten from its good rows, the rest is in quarantine")
        for problem in _audit(layout):
            done.append(_repair_audit(layout, os.path.join(layout.root, problem.file)))
        for digest in [d for d in bodies.all() if bodies.get(d) is None]:
            path = bodies.path(digest)
            if keep_aside(layout, path, Bad(0, layout.fs.read(path), "body")):
                drop(layout, [path])
                done.append(f"body {digest[:12]}: moved to quarantine")
    except OSError as error:
        raise explain(error, error.filename or layout.root, "repair") from error
    return done


def _repair_audit(layout: Layout, path: str) -> str:
    name = layout.short(path)
    if not keep_aside(layout, path, Bad(0, layout.fs.read(path), "damaged")):
        return f"{name}: left as it is, there was no room to keep a copy"
    head = audit_header(layout, path)
    good = [raw for raw in audit_lines(layout, path) if not raw.startswith(lines.HEADER)]
    if head is None and not good:
        drop(layout, [path])
        return f"{name}: nothing in it could be read, moved to quarantine"
    write_audit(layout, path, head or HeaderLine(), good)
    return f"{name}: rewritten from its good lines, the original is in quarantine"
