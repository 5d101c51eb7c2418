"""Which items of two sequences belong together: patience alignment, and pairing by shared words.

Patience diff (Bram Cohen): anchor on what occurs once on both sides, keep the longest increasing run of such
anchors, look again between them. The work is O(n log n) for each of at most :data:`DEPTH` levels; what is left
then counts as replaced. Never quadratic in the length of the input.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

DEPTH = 12
SMALL = 20_000
"""Cells (old items times new ones) up to which what has no anchors is still compared item by item."""
RARE = 8
"""A word in more of the old blocks than this says nothing about which of them a new block came from."""
ALIKE = 0.4
"""Shared words over all words (Jaccard) from which two blocks are one edited block."""


class Gap(NamedTuple):
    """Old items ``old_start:old_end`` stand where new items ``new_start:new_end`` do, and differ."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of ``pairs`` (sorted by the first number) whose second numbers rise too."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, new) in enumerate(pairs):
        place = bisect_left(tails, new)
        if place == len(tails):
            tails.append(new)
            ends.append(index)
        else:
            tails[place], ends[place] = new, index
        before.append(ends[place - 1] if place else -1)
    run, index = [], ends[-1] if ends else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def _anchors(old: Sequence[Hashable], new: Sequence[Hashable], gap: Gap) -> list[tuple[int, int]]:
    """Pairs of places of the items that occur exactly once on both sides of ``gap``."""
    once_old: dict[Hashable, int] = {}
    once_new: dict[Hashable, int] = {}
    for i in range(gap.old_start, gap.old_end):
        once_old[old[i]] = -1 if old[i] in once_old else i
    for j in range(gap.new_start, gap.new_end):
        once_new[new[j]] = -1 if new[j] in once_new else j
    return [(i, once_new[item]) for item, i in once_old.items() if i >= 0 and once_new.get(item, -1) >= 0]


def _trim(old: Sequence[Hashable], new: Sequence[Hashable], gap: Gap) -> Gap:
    i1, i2, j1, j2 = gap
    while i1 < i2 and j1 < j2 and old[i1] == new[j1]:
        i1, j1 = i1 + 1, j1 + 1
    while i1 < i2 and j1 < j2 and old[i2 - 1] == new[j2 - 1]:
        i2, j2 = i2 - 1, j2 - 1
    return Gap(i1, i2, j1, j2)


def _compare_small(old: Sequence[Hashable], new: Sequence[Hashable], gap: Gap) -> list[Gap]:
    if (gap.old_end - gap.old_start) * (gap.new_end - gap.new_start) > SMALL:
        return [gap]
    matcher = SequenceMatcher(None, old[gap.old_start : gap.old_end], new[gap.new_start : gap.new_end], autojunk=False)
    return [
        Gap(gap.old_start + i1, gap.old_start + i2, gap.new_start + j1, gap.new_start + j2)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def gaps(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Gap]:
    """Where ``old`` and ``new`` differ, in order; everything between two gaps is equal on both sides."""
    found: list[Gap] = []
    waiting = [(Gap(0, len(old), 0, len(new)), 0)]
    while waiting:
        gap, depth = waiting.pop()
        gap = _trim(old, new, gap)
        if gap.old_start == gap.old_end or gap.new_start == gap.new_end:
            if gap.old_start != gap.old_end or gap.new_start != gap.new_end:
                found.append(gap)
            continue
        run = _rising(_anchors(old, new, gap)) if depth < DEPTH else []
        if not run:
            found.extend(_compare_small(old, new, gap))
            continue
        i, j = gap.old_start, gap.new_start
        for x, y in [*run, (gap.old_end, gap.new_end)]:
            waiting.append((Gap(i, x, j, y), depth + 1))
            i, j = x + 1, y + 1
    return sorted(found)


def pair_alike(old: Sequence[frozenset[str]], new: Sequence[frozenset[str]]) -> list[tuple[int, int]]:
    """Which old block each new one came from, judged by their words; rising in both, so that blocks keep order."""
    places: dict[str, list[int]] = {}
    for i, words in enumerate(old):
        for word in words:
            places.setdefault(word, []).append(i)
    best: list[tuple[int, int]] = []
    for j, words in enumerate(new):
        shared: Counter[int] = Counter()
        for word in words:
            found = places.get(word, ())
            if len(found) <= RARE:
                shared.update(found)
        scored = [(len(words & old[i]) / len(words | old[i]), -i) for i, _ in shared.most_common(RARE)]
        if scored and max(scored)[0] >= ALIKE:
            best.append((-max(scored)[1], j))
    best.sort(key=lambda pair: (pair[0], -pair[1]))
    return _rising(best) if best else []
