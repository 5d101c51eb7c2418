"""Noise that no rule foresaw: what differs between two fetches made one right after the other.

A volatile place is named by a key, a short text that a state can keep:

- ``m<16 hex>``: a block whose words stay and whose numbers and codes vary; the hash is that of its words;
- ``<16 hex>-<16 hex>``: whatever stands between two blocks that stay, named by their hashes (empty at an end).

Only ``content`` has volatile places. A title, a price or an availability is never one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from watcher.core.align import Gap, gaps
from watcher.core.fingerprint import block_hash
from watcher.core.model import Record

MOST = 0.25
"""Share of blocks that may be volatile; where more differs, it is another page."""
LONGEST = 12
"""Blocks that a volatile stretch may hold; more of them between the same two neighbours is content again."""
_VARYING = re.compile(r"\S*\d\S*|\b[0-9a-fA-F]{8,}\b")
_FEWEST_WORDS = 2


class Volatile(NamedTuple):
    """One volatile place: the key to leave it out by, and its text at the first fetch, to show to the user."""

    key: str
    text: str


def _masked(block: str) -> str | None:
    """The hash of a block's constant words; None when too few words are left to know it by."""
    words = _VARYING.sub("#", block).split()
    if sum(word != "#" for word in words) < _FEWEST_WORDS:
        return None
    return "m" + block_hash(" ".join(words))


def _blocks(record: Record) -> list[str]:
    content = record.values.get("content")
    return [block for block in content if isinstance(block, str)] if isinstance(content, list) else []


def _between(hashes: Sequence[str], gap: Gap) -> str:
    before = hashes[gap.old_start - 1] if gap.old_start else ""
    after = hashes[gap.old_end] if gap.old_end < len(hashes) else ""
    return f"{before}-{after}"


def _of_gap(old: list[str], new: list[str], gap: Gap, shapes: Counter[str | None]) -> list[str] | None:
    """Keys for a gap whose blocks vary in numbers only and can be told from all others by their words."""
    olds = [_masked(block) for block in old[gap.old_start : gap.old_end]]
    news = [_masked(block) for block in new[gap.new_start : gap.new_end]]
    if olds != news or None in olds or any(shapes[shape] > 1 for shape in olds):
        return None
    return [shape for shape in olds if shape]


def find_volatile(first: Record, second: Record) -> tuple[Volatile, ...]:
    """The places of ``content`` that differ between two records of back-to-back fetches; pure.

    Empty when nothing differs, and when so much does that the second answer was another page.
    """
    old, new = _blocks(first), _blocks(second)
    hashes = [block_hash(block) for block in old]
    found = gaps(hashes, [block_hash(block) for block in new])
    differing = sum(gap.old_end - gap.old_start + gap.new_end - gap.new_start for gap in found)
    if differing > MOST * (len(old) + len(new)) or any(
        max(gap.old_end - gap.old_start, gap.new_end - gap.new_start) > LONGEST for gap in found
    ):
        return ()
    shapes = Counter(map(_masked, old))
    places = []
    for gap in found:
        text = " / ".join(old[gap.old_start : gap.old_end] or new[gap.new_start : gap.new_end])
        keys = _of_gap(old, new, gap, shapes) or [_between(hashes, gap)]
        places += [Volatile(key, text) for key in keys]
    return tuple(places)


def volatile_blocks(first: Record, second: Record) -> tuple[str, ...]:
    """The keys of :func:`find_volatile`, as ``extract_record(volatile=...)`` takes them."""
    return tuple(place.key for place in find_volatile(first, second))


def find_flapping(records: Sequence[Record]) -> tuple[Volatile, ...]:
    """What goes back and forth in a watch's newest records, oldest first: A, B, A, B; to be offered, not hidden.

    Empty unless the last four fingerprints alternate.
    """
    if len(records) < 4:
        return ()
    one, two, three, four = records[-4:]
    if one.fingerprint == two.fingerprint or (one.fingerprint, two.fingerprint) != (
        three.fingerprint,
        four.fingerprint,
    ):
        return ()
    return find_volatile(three, four)


def leave_out(blocks: list[str], keys: Iterable[str]) -> list[str]:
    """``blocks`` without the volatile ones."""
    shapes = {key for key in keys if key.startswith("m")}
    stretches = dict(key.split("-", 1) for key in keys if "-" in key)
    kept = [block for block in blocks if _masked(block) not in shapes] if shapes else list(blocks)
    if not stretches:
        return kept
    hashes = ["", *(block_hash(block) for block in kept), ""]
    result, place = [], 0
    while place < len(kept) + 1:
        if place:
            result.append(kept[place - 1])
        after = stretches.get(hashes[place])
        place = _end_of_stretch(hashes, place, after) if after is not None else place + 1
    return result


def _end_of_stretch(hashes: list[str], place: int, after: str) -> int:
    """The place of the block that ends the volatile stretch after ``place``; the next one where it is not near."""
    for end in range(place + 1, min(place + 2 + LONGEST, len(hashes))):
        if hashes[end] == after and (after or end == len(hashes) - 1):
            return end
    return place + 1
