"""Erasure: nothing of a watch is left in the data directory but a salted hash that says so.

The ``x`` line comes first and is durable; it stands until everything else is done, so an erasure that was
interrupted is finished at the next start. Out of reach: remnants on flash, snapshots of the file system, backups.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Mapping
from urllib.parse import urlsplit

import msgspec

from watcher.store import lines
from watcher.store.fold import Fold
from watcher.store.history import audit_header, audit_lines, rows_of
from watcher.store.index import summarise
from watcher.store.layout import Layout
from watcher.store.sealed import write_audit, write_history
from watcher.store.sweep import is_erased, kept_files
from watcher.store.thrift import history_rows

Erased = Mapping[bytes, int]


class Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    """What an erasure did. ``remains`` names files in which a trace was still found afterwards: none, normally."""

    names: tuple[str, ...]
    hosts: tuple[str, ...] = ()
    files: int = 0
    bodies: int = 0
    remains: tuple[str, ...] = ()


class _Class(msgspec.Struct, gc=False):
    cls: str = "default"


def class_of(full: bytes) -> str:
    """The retention class an ``s`` line was written under."""
    return msgspec.json.decode(full, type=_Class).cls


def lonely_hosts(fold: Fold, names: Collection[str]) -> list[str]:
    """The hosts that only the watches in ``names`` are on."""
    urls = {name: summarise(name, packed).url for name, packed in fold.rows.items()}
    theirs = {_host(urls[name]) for name in names if name in urls}
    others = {_host(url) for name, url in urls.items() if name not in names}
    return [key for key in fold.hosts if _host(key) in theirs - others]


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def order(
    names: Collection[str], hosts: Collection[str], number: Callable[[], int], at: float
) -> tuple[bytes, dict[str, int], dict[str, int]]:
    """The lines that order an erasure, and the numbers under which watches and hosts go."""
    raws, gone, gone_hosts = [], {}, {}
    for name in names:
        gone[name] = number()
        raws.append(lines.line(b"x", name, {"n": gone[name]}))
        salt = os.urandom(16)
        digest = hashlib.sha256(salt + name.encode("utf-8", "surrogatepass")).hexdigest()
        raws.append(lines.line(b"f", "", {"n": number(), "at": at, "salt": salt.hex(), "sha256": digest}))
    for host in hosts:
        gone_hosts[host] = number()
        raws.append(lines.line(b"y", host, {"n": gone_hosts[host]}))
    return b"".join(raws), gone, gone_hosts


def keys(gone: Mapping[str, int], hosts: Mapping[str, int]) -> dict[bytes, int]:
    """Erased watches and hosts by kind and escaped key."""
    return {
        **{b"s" + lines.escape(name): n for name, n in gone.items()},
        **{b"o" + lines.escape(key): n for key, n in hosts.items()},
    }


def rewrite_past(layout: Layout, erased: Erased) -> int:
    """Take every erased line out of history and audit files. Returns how many files were touched. Raises OSError."""
    names = [key[1:] for key in erased if key.startswith(b"s")]
    touched = 0
    for folder in layout.history_folders():
        for number in layout.numbers(folder):
            path = os.path.join(folder, f"{number:06d}.jsonl")
            if any(rows_of(layout, path, name) for name in names):
                write_history(layout, path, (r for r in history_rows(layout, path) if not is_erased(r, erased)))
                touched += 1
    for number in layout.numbers(layout.audit):
        path = layout.audit_file(number)
        if any(is_erased(raw, erased) for raw in audit_lines(layout, path)):
            head = audit_header(layout, path)
            kept = (r for r in audit_lines(layout, path) if not r.startswith(lines.HEADER) and not is_erased(r, erased))
            if head is not None:
                write_audit(layout, path, head, kept)
                touched += 1
    return touched


def clear_quarantine(layout: Layout) -> int:
    """Delete what was set aside: damaged bytes cannot be searched for a name. Returns how many. Raises OSError."""
    doomed = [os.path.join(layout.quarantine, name) for name in layout.fs.list(layout.quarantine)]
    for path in doomed:
        layout.fs.unlink(path)
    layout.fs.sync_dir(layout.quarantine)
    return len(doomed)


def traces(layout: Layout, erased: Erased) -> tuple[str, ...]:
    """The files that still hold an erased line, decided by reading every one of them. Raises OSError."""
    needles = [b',"w":"%b"' % key[1:] for key in erased]
    found = [
        p for p in kept_files(layout) if any(n in layout.fs.read(p) for n in needles) and _holds(layout, p, erased)
    ]
    for number in layout.numbers(layout.audit):
        path = layout.audit_file(number)
        if any(is_erased(raw, erased) for raw in audit_lines(layout, path)):
            found.append(path)
    return tuple(layout.short(path) for path in found)


def _holds(layout: Layout, path: str, erased: Erased) -> bool:
    with layout.fs.reader(path) as stream:
        return any(is_erased(raw, erased) for raw in stream if lines.intact(raw))
