"""Following a store that another process writes: appended lines, new segments, compactions."""

from __future__ import annotations

import io

import msgspec

from watcher.core.history import Check
from watcher.store import lines
from watcher.store.fold import Fold, Unfit
from watcher.store.history import checks_in
from watcher.store.layout import JOURNAL, Layout, file_id


class Followed(msgspec.Struct, frozen=True, kw_only=True):
    """What is new: the watches that moved, the checks in order. ``reloaded``: everything was read again."""

    names: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    reloaded: bool = False


def compacted(layout: Layout, base: int) -> bool:
    """Whether a newer snapshot has taken the place of the one we began with."""
    return max(layout.numbers(layout.state), default=0) > base


def follow(layout: Layout, fold: Fold, sizes: dict[int, int], base: int) -> Followed:
    """Fold in what was appended since the last time; ``sizes`` moves along. Raises OSError.

    Only whole lines are taken: a batch half written is seen when it is whole.
    """
    moved: dict[str, None] = {}
    checks: list[Check] = []
    for number in layout.numbers(layout.journal):
        if number <= base:
            continue
        path, done = layout.segment(number), sizes.get(number, 0)
        size = layout.fs.size(path)
        if size <= done:
            continue
        fd = layout.fs.open_read(path)
        try:
            data = layout.fs.pread(fd, size - done, done)
        finally:
            layout.fs.close(fd)
        data = data[: data.rfind(b"\n") + 1]
        good = list(lines.scan(io.BytesIO(data), [], done))
        for offset, raw in good:
            try:
                name = fold.apply(file_id(JOURNAL, number), offset, raw)
            except Unfit:
                continue
            if name is not None:
                moved[name] = None
        checks += [check for _, check in checks_in(iter([raw for _, raw in good]))]
        sizes[number] = done + len(data)
    return Followed(names=tuple(moved), checks=tuple(checks))
