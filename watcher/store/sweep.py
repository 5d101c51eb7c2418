"""Which bodies are still spoken of, and the removal of those that are not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from watcher.store import lines
from watcher.store.bodies import Bodies
from watcher.store.fold import decode_header
from watcher.store.layout import Layout
from watcher.store.recovery import good_lines

_NAMED: Final = re.compile(rb'"(?:robots_)?body":"([0-9a-f]{64})"')


def kept_files(layout: Layout) -> Iterator[str]:
    """Every file whose lines keep bodies alive: segments, snapshots, history. The audit trail only mentions them."""
    yield from (layout.segment(n) for n in layout.numbers(layout.journal))
    yield from (layout.snapshot(n) for n in layout.numbers(layout.state))
    for folder in layout.history_folders():
        yield from (f"{folder}/{n:06d}.jsonl" for n in layout.numbers(folder))


def is_erased(raw: bytes, erased: Mapping[bytes, int]) -> bool:
    """Whether a keyed line belongs to a watch or host (``b's"key'``, ``b'o"key'``) erased after it was written."""
    if not erased or raw.startswith((lines.HEADER, lines.END)):
        return False
    kind = b"o" if raw[6:7] in b"oy" else b"s"
    number = erased.get(kind + lines.raw_key(raw))
    return number is not None and decode_header(raw).n < number


def references(layout: Layout, erased: Mapping[bytes, int]) -> set[str]:
    """The bodies that states, hosts and versions name. Raises OSError."""
    found: set[str] = set()
    for path in kept_files(layout):
        for _, raw in good_lines(layout, path, []):
            if b'body":"' in raw and not is_erased(raw, erased):
                found.update(digest.decode() for digest in _NAMED.findall(raw))
    return found


def sweep(layout: Layout, bodies: Bodies, fresh: Iterable[str], erased: Mapping[bytes, int]) -> int:
    """Remove the bodies nobody names. ``fresh`` are bodies whose line is still to come. Raises OSError."""
    with bodies.sparing_new():
        there = set(bodies.all())
        return bodies.remove(there - references(layout, erased) - set(fresh))
