"""Noise that no rule foresaw: what differs between two fetches made one right after the other, or goes back and forth.

A volatile place is named by a key, a short text that a state can keep:

- ``m<16 hex>``: a block whose words stay and whose numbers and codes vary; the hash is that of its words;
- ``<16 hex>-<16 hex>``: whatever stands between two blocks that stay, named by their hashes (empty at an end).

Only ``content`` has volatile places. A title, a price or an availability is never one: where the record has no field
of its own for them, no block that speaks of them either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from watcher.core.align import Gap, gaps
from watcher.core.fingerprint import block_hash, normalise
from watcher.core.model import Record, Values
from watcher.extract.numbers import CODES

MOST = 0.25
"""Share of blocks that may be volatile; where more differs, it is another page."""
LONGEST = 12
"""Blocks that a volatile stretch may hold; more of them between the same two neighbours is content again."""
BEGINS = "…"
"""At the end of a text to ignore: every block that begins so."""
_VARYING = re.compile(r"\S*\d\S*|\b[0-9a-fA-F]{8,}\b")
_FEWEST_WORDS = 2
_TITLE = re.compile(r"#\s")
_SIGNS, _NAMES = "[$€£¥₹₩₽₺₴₪฿]", "|".join((*sorted(CODES), "zł", "Kč", "kr"))
_PRICE = re.compile(rf"(?:{_SIGNS}|\b(?:{_NAMES}))\s?\d|\d[.,–-]*\s?(?:{_SIGNS}|(?:{_NAMES})\b)")
_AVAILABILITY = re.compile(
    r"\b(?:in|of) stock\b|\bsold out\b|\b(?:un)?availab|\bback-?order|\bpre-?order"
    r"|\bausverkauft\b|\blieferbar\b|\bvorrätig\b|\bauf lager\b|\bépuisé|\ben stock\b|\bagotado|\bdisponib",
    re.I,
)
_SPEAKS_OF = {"price": _PRICE, "availability": _AVAILABILITY}

Speaks = Callable[[str], bool]


class Volatile(NamedTuple):
    """One volatile place: the key to leave it out by, and its text at the first fetch, to show to the user."""

    key: str
    text: str


class Flapping(NamedTuple):
    """One place that goes back and forth: the blocks that stand there by turns. A side may be empty."""

    one: tuple[str, ...]
    other: tuple[str, ...]


class _Move(NamedTuple):
    """What happened at one place from one record to the next."""

    place: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def back(self) -> _Move:
        return _Move(self.place, self.after, self.before)


def _words(block: str) -> str | None:
    """A block's constant words, ``#`` for what varies; None when too few are left to know it by."""
    words = _VARYING.sub("#", block).split()
    return " ".join(words) if sum(word != "#" for word in words) >= _FEWEST_WORDS else None


def _masked(block: str) -> str | None:
    words = _words(block)
    return None if words is None else "m" + block_hash(words)


def speaker(values: Values) -> Speaks:
    """Whether a block says what must never be left out of a record with these ``values``."""
    patterns = [_TITLE.match, *(pattern.search for name, pattern in _SPEAKS_OF.items() if values.get(name) is None)]
    return lambda block: any(matches(block) for matches in patterns)


def _blocks(record: Record, field: str = "content") -> list[str]:
    content = record.values.get(field)
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


def _is_alone(hashes: list[str], gap: Gap, before: Sequence[int]) -> bool:
    """Whether the neighbours of ``gap`` stand around nothing else: ``before`` are the places of the first one."""
    bounded = ["", *hashes, ""]
    after = bounded[gap.new_end + 1]
    return sum(_end_of_stretch(bounded, place, {after}) is not None for place in before) == 1


def _places(hashes: list[str]) -> dict[str, list[int]]:
    """Where each hash stands, counted from 1; the empty one before them all."""
    places: dict[str, list[int]] = {"": [0]}
    for place, name in enumerate(hashes, start=1):
        places.setdefault(name, []).append(place)
    return places


def find_volatile(first: Record, second: Record) -> tuple[Volatile, ...]:
    """The places of ``content`` that differ between two records of back-to-back fetches; pure.

    Empty when nothing differs, and when so much does that the second answer was another page. A place that cannot
    be told from others is none: it rings, rather than that something else is hidden.
    """
    old, new = _blocks(first), _blocks(second)
    olds, news = [block_hash(block) for block in old], [block_hash(block) for block in new]
    found = gaps(olds, news)
    differing = sum(gap.old_end - gap.old_start + gap.new_end - gap.new_start for gap in found)
    if differing > MOST * (len(old) + len(new)) or any(
        max(gap.old_end - gap.old_start, gap.new_end - gap.new_start) > LONGEST for gap in found
    ):
        return ()
    shapes, speaks = Counter(map(_masked, old)), speaker(first.values)
    old_places, new_places = _places(olds), _places(news)
    places = []
    for gap in found:
        here = [*old[gap.old_start : gap.old_end], *new[gap.new_start : gap.new_end]]
        if any(map(speaks, here)):
            continue
        keys = _of_gap(old, new, gap, shapes)
        if keys is None:
            before = olds[gap.old_start - 1] if gap.old_start else ""
            turned = Gap(gap.new_start, gap.new_end, gap.old_start, gap.old_end)
            alone = _is_alone(olds, turned, old_places[before]) and _is_alone(news, gap, new_places[before])
            keys = [_between(olds, gap)] if alone else []
        text = " / ".join(old[gap.old_start : gap.old_end] or here)
        places += [Volatile(key, text) for key in keys]
    return tuple(places)


def volatile_blocks(first: Record, second: Record) -> tuple[str, ...]:
    """The keys of :func:`find_volatile`, as ``extract_record(volatile=...)`` takes them."""
    return tuple(place.key for place in find_volatile(first, second))


def _moves(old: list[str], new: list[str]) -> list[_Move]:
    """What changed from ``old`` to ``new``, place by place, as far as it is short."""
    found = gaps(old, new)
    return [
        _Move(_between(old, gap), tuple(old[gap.old_start : gap.old_end]), tuple(new[gap.new_start : gap.new_end]))
        for gap in found
        if max(gap.old_end - gap.old_start, gap.new_end - gap.new_start) <= LONGEST
    ]


def find_flapping(records: Sequence[Record], field: str = "content") -> tuple[Flapping, ...]:
    """The places that go A, B, A, B in a watch's newest records, oldest first, the last of them in the newest one.

    Other places may have changed meanwhile. To be offered to the user, not hidden.
    """
    steps = [_moves(old, new) for old, new in pairwise(_blocks(record, field) for record in records)]
    if not steps:
        return ()
    found = []
    for move in steps[-1]:
        wanted = [move.back, move]
        for step in reversed(steps[:-1]):
            if wanted and wanted[0] in step:
                del wanted[0]
        if not wanted:
            found.append(Flapping(move.before, move.after))
    return tuple(found)


def leave_out(blocks: list[str], keys: Iterable[str], speaks: Speaks = lambda block: False) -> list[str]:
    """``blocks`` without the volatile ones; what ``speaks`` stays in any case."""
    shapes = {key for key in keys if key.startswith("m")}
    stretches: dict[str, set[str]] = {}
    for key in keys:
        if "-" in key:
            before, after = key.split("-", 1)
            stretches.setdefault(before, set()).add(after)
    kept = [block for block in blocks if _masked(block) not in shapes or speaks(block)] if shapes else list(blocks)
    if not stretches:
        return kept
    hashes = ["", *(block_hash(block) for block in kept), ""]
    result, place = [], 0
    while place < len(kept) + 1:
        if place:
            result.append(kept[place - 1])
        ends = stretches.get(hashes[place])
        end = _end_of_stretch(hashes, place, ends) if ends else None
        if end is not None:
            result += filter(speaks, kept[place : end - 1])
        place = end or place + 1
    return result


def _end_of_stretch(hashes: Sequence[str], place: int, after: set[str]) -> int | None:
    """The place of the block that ends the volatile stretch after ``place``; None where it is not near.

    ``hashes`` has an empty one at either end.
    """
    for end in range(place + 1, min(place + 2 + LONGEST, len(hashes))):
        if hashes[end] in after and (hashes[end] or end == len(hashes) - 1):
            return end
    return None


def ignore(blocks: list[str], texts: Sequence[str]) -> list[str]:
    """``blocks`` without those that read like one of ``texts``, whatever numbers stand in them.

    A text that ends in ``…`` or ``...`` names every block that begins so.
    """
    plain = [normalise(text).replace("...", BEGINS) for text in texts]
    whole = {_words(text) or text for text in plain if not text.endswith(BEGINS)}
    starts = tuple(text.removesuffix(BEGINS).rstrip() for text in plain if text.endswith(BEGINS))
    starts = tuple(start for start in starts if start)
    return [
        block for block in blocks if (_words(block) or block) not in whole and not (starts and block.startswith(starts))
    ]
