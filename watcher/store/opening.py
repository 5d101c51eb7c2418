"""Opening a data directory, alone or beside its writer, and clearing what an interrupted compaction left."""

from __future__ import annotations

import contextlib
import os

from watcher.store import lines
from watcher.store.errors import StoreReadOnly, unreadable
from watcher.store.layout import Layout
from watcher.store.recovery import Loaded, ends_well, load

RELISTS = 20


def load_locked(layout: Layout) -> Loaded:
    """Load as the writer, under the lock. Raises StoreUnreadable, or StoreReadOnly for a newer format."""
    try:
        loaded = load(layout, write=True)
    except OSError as error:
        raise unreadable(error, error.filename or layout.root) from error
    if loaded.fold.format > lines.FORMAT:
        raise StoreReadOnly(
            f"{layout.root} was written by a newer watcher (format {loaded.fold.format}, this one writes "
            f"{lines.FORMAT}): upgrade watcher, or open the store for reading only"
        )
    with contextlib.suppress(OSError):
        tidy(layout, loaded.base)
    return loaded


def load_beside(layout: Layout, *, hot: bool) -> Loaded:
    """Load without a lock: where a compaction removed a file between listing and reading, look again.

    Raises StoreUnreadable.
    """
    attempt = 0
    while True:
        try:
            return load(layout, write=False, hot=hot)
        except OSError as error:
            attempt += 1
            if not isinstance(error, FileNotFoundError) or attempt == RELISTS:
                raise unreadable(error, error.filename or layout.root) from error


def tidy(layout: Layout, base: int) -> None:
    """Remove what snapshot ``base`` made superfluous, and what a compaction wrote that never came to its end.

    Raises OSError.
    """
    fs = layout.fs
    if base and not ends_well(fs, layout.snapshot(base)):
        return
    doomed = [layout.snapshot(n) for n in layout.numbers(layout.state) if n < base]
    doomed += [layout.segment(n) for n in layout.numbers(layout.journal) if n <= base]
    doomed += unfinished(layout, base)
    for path in doomed:
        fs.unlink(path)
    for folder in {os.path.dirname(path) for path in doomed}:
        fs.sync_dir(folder)


def unfinished(layout: Layout, base: int) -> list[str]:
    """History and audit files above ``base`` and temporary files: their segments still stand, so they count for nothing."""
    found = [layout.audit_file(n) for n in layout.numbers(layout.audit) if n > base]
    folders = [layout.state, layout.journal, layout.audit, layout.quarantine]
    for name in layout.fs.list(layout.history):
        folder = os.path.join(layout.history, name)
        folders.append(folder)
        found += [os.path.join(folder, f"{n:06d}.jsonl") for n in layout.numbers(folder) if n > base]
    for folder in folders:
        found += [os.path.join(folder, name) for name in layout.fs.list(folder) if name.endswith(".tmp")]
    return found
