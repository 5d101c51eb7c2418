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
    if base and not ends_well(layout.fs, layout.snapshot(base)):
        return
    # Snapshots first: while one stands, so do all segments above it.
    drop(layout, [layout.snapshot(n) for n in layout.numbers(layout.state) if n < base])
    drop(layout, unfinished(layout, base))
    drop(layout, [layout.segment(n) for n in layout.numbers(layout.journal) if n <= base])


def unfinished(layout: Layout, base: int) -> list[str]:
    """Temporary files, and history and audit files above ``base`` whose segments still stand: they do not count."""
    found = []
    for folder in (layout.state, layout.journal, layout.audit, layout.quarantine, *layout.history_folders()):
        found += [os.path.join(folder, name) for name in layout.fs.list(folder) if name.endswith(".tmp")]
    standing = [n for n in layout.numbers(layout.journal) if n > base]
    outputs = [path for n in standing for path in (layout.audit_file(n), *layout.history_files(n))]
    return found + [path for path in outputs if layout.fs.exists(path)]


def drop(layout: Layout, paths: list[str]) -> None:
    """Unlink files, durably. Raises OSError."""
    for path in paths:
        layout.fs.unlink(path)
    for folder in sorted({os.path.dirname(path) for path in paths}):
        layout.fs.sync_dir(folder)
