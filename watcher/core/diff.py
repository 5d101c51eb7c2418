"""What changed between two records: fields, then blocks, then words. One model for screen, command line and notices.

Nothing here is drawn: :mod:`watcher.core.render` turns the model into lines of spans.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import StrEnum

import msgspec

from watcher.core.align import Gap, gaps, pair_alike
from watcher.core.fingerprint import canonical
from watcher.core.model import EXACT, FieldChange, Record, Value
from watcher.core.money import is_price, show_price
from watcher.core.words import Mark, Span, Spans, word_diff, word_set

ABSENT = "(nothing)"
"""How a value that is not there is shown."""


class Kind(StrEnum):
    """What became of a block."""

    ADDED = "added"
    REMOVED = "removed"
    EDITED = "edited"
    MOVED = "moved"


class Block(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One block that is not as it was. ``old`` and ``new`` are its places (from 0) on the sides where it stands;
    ``place`` is where to show it among the new blocks.

    ``spans`` holds both texts: ``SAME`` and ``REMOVED`` make the old one, ``SAME`` and ``ADDED`` the new one.
    """

    kind: Kind
    spans: Spans
    old: int | None = None
    new: int | None = None
    place: int = 0


class FieldDiff(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What changed in one field; ``blocks`` is never empty. ``whole`` marks a single value rather than a list.

    ``context`` holds the texts of unchanged blocks next to changed ones, by place in the new value.
    """

    field: str
    before: Value
    after: Value
    blocks: tuple[Block, ...]
    whole: bool = False
    context: dict[int, str] = {}


def show(value: Value) -> str:
    """``value`` as a person reads it: prices with their currency, rows as ``title: T, price: 5``, texts bare."""
    if value is None:
        return ABSENT
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | Decimal):
        return spell(value)
    if is_price(value):
        return show_price(value)
    if isinstance(value, Mapping) and all(_is_flat(item) for item in value.values()):
        return ", ".join(f"{key}: {show(item)}" for key, item in value.items())
    return spell(value)


def _is_flat(value: Value) -> bool:
    return value is None or isinstance(value, EXACT) or is_price(value)


def spell(value: Value) -> str:
    """``value`` as compact JSON, in which unequal values always look unequal."""
    return canonical(value).decode()


def _lines(value: Value) -> list[str]:
    """A JSON structure as indented lines, one a scalar, so that its diff reads like that of a file."""
    if isinstance(value, Mapping) and value:
        lines = []
        for key in sorted(value):
            head, *rest = _lines(value[key])
            lines += [f"  {json.dumps(key, ensure_ascii=False)}: {head}", *["  " + line for line in rest]]
        return ["{", *lines, "}"]
    if isinstance(value, list) and value:
        return ["[", *["  " + line for item in value for line in _lines(item)], "]"]
    return [spell(value)]


def _items(value: Value) -> list[tuple[str, str]] | None:
    """The blocks of ``value`` as (what is compared, what is shown), or None for a single value."""
    if isinstance(value, list):
        if all(_is_flat(item) or (isinstance(item, Mapping) and all(map(_is_flat, item.values()))) for item in value):
            return [(spell(item), show(item)) for item in value]
        return [(line, line) for line in _lines(value)]
    if isinstance(value, Mapping) and not is_price(value):
        return [(line, line) for line in _lines(value)]
    return None


def _single(before: Value, after: Value) -> tuple[Block, ...]:
    if isinstance(before, str) and isinstance(after, str):
        spans = word_diff(before, after)
    else:
        old, new = show(before), show(after)
        if old == new:
            old, new = spell(before), spell(after)
        spans = (Span(Mark.REMOVED, old), Span(Mark.ADDED, new))
    return (Block(kind=Kind.EDITED, spans=spans, old=0, new=0, place=0),)


class _Sides:
    """The blocks of both sides while they are matched."""

    def __init__(self, old: list[tuple[str, str]], new: list[tuple[str, str]]) -> None:
        self.old_keys, self.old = [key for key, _ in old], [text for _, text in old]
        self.new_keys, self.new = [key for key, _ in new], [text for _, text in new]
        self.gaps = gaps(self.old_keys, self.new_keys)
        self.moved = self._find_moved()
        self.gone = set(self.moved.values())

    def _find_moved(self) -> dict[int, int]:
        """New place -> old place of the blocks that stand elsewhere now, word for word."""
        places: dict[str, list[int]] = {}
        for gap in self.gaps:
            for i in range(gap.old_start, gap.old_end):
                places.setdefault(self.old_keys[i], []).append(i)
        for found in places.values():
            found.reverse()
        return {
            j: places[self.new_keys[j]].pop()
            for gap in self.gaps
            for j in range(gap.new_start, gap.new_end)
            if places.get(self.new_keys[j])
        }

    def blocks(self, gap: Gap) -> Iterable[Block]:
        """The blocks of one gap in reading order: removed before added, edited where the new text stands."""
        olds = [i for i in range(gap.old_start, gap.old_end) if i not in self.gone]
        news = [j for j in range(gap.new_start, gap.new_end) if j not in self.moved]
        pairs = pair_alike([word_set(self.old[i]) for i in olds], [word_set(self.new[j]) for j in news])
        place, done = gap.new_start, 0
        for x, y in [*pairs, (len(olds), len(news))]:
            end = news[y] if y < len(news) else gap.new_end
            yield from (self._removed(i, place) for i in olds[done:x])
            yield from (self._here(j, None) for j in range(place, end))
            if x < len(olds) and y < len(news):
                yield self._here(end, olds[x])
            place, done = end + 1, x + 1

    def _removed(self, i: int, place: int) -> Block:
        return Block(kind=Kind.REMOVED, spans=(Span(Mark.REMOVED, self.old[i]),), old=i, place=place)

    def _here(self, j: int, edited: int | None) -> Block:
        if edited is not None:
            return Block(kind=Kind.EDITED, spans=word_diff(self.old[edited], self.new[j]), old=edited, new=j, place=j)
        if j in self.moved:
            return Block(kind=Kind.MOVED, spans=(Span(Mark.SAME, self.new[j]),), old=self.moved[j], new=j, place=j)
        return Block(kind=Kind.ADDED, spans=(Span(Mark.ADDED, self.new[j]),), new=j, place=j)

    def context(self) -> dict[int, str]:
        """The unchanged blocks right before and after each gap, by their place in the new value."""
        changed = {j for gap in self.gaps for j in range(gap.new_start, gap.new_end)}
        edges = {j for gap in self.gaps for j in (gap.new_start - 1, gap.new_end)}
        return {j: self.new[j] for j in sorted(edges - changed) if 0 <= j < len(self.new)}


def _as_items(value: Value) -> list[tuple[str, str]]:
    found = _items(value)
    if found is not None:
        return found
    return [] if value is None else [(spell(value), show(value))]


def _told_apart(
    old: list[tuple[str, str]], new: list[tuple[str, str]]
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Both sides' blocks, spelled out as JSON where unequal ones would be shown alike (``1`` and ``"1"``)."""
    keys = {text: key for key, text in old}
    if all(keys.get(text, key) == key for key, text in new):
        return old, new
    return [(key, key) for key, _ in old], [(key, key) for key, _ in new]


def diff_values(before: Value, after: Value, field: str = "") -> FieldDiff | None:
    """What changed between two values of one field, or None when they are the same to the fingerprint."""
    if canonical(before) == canonical(after):
        return None
    if _items(before) is None and _items(after) is None:
        return FieldDiff(field=field, before=before, after=after, blocks=_single(before, after), whole=True)
    sides = _Sides(*_told_apart(_as_items(before), _as_items(after)))
    blocks = tuple(block for gap in sides.gaps for block in sides.blocks(gap))
    if not blocks:  # [] and null, "1" and ["1"]: nothing to list, and yet not the same
        return FieldDiff(field=field, before=before, after=after, blocks=_as_spelled(before, after), whole=True)
    return FieldDiff(field=field, before=before, after=after, blocks=blocks, context=sides.context())


def _as_spelled(before: Value, after: Value) -> tuple[Block, ...]:
    spans = (Span(Mark.REMOVED, spell(before)), Span(Mark.ADDED, spell(after)))
    return (Block(kind=Kind.EDITED, spans=spans, old=0, new=0, place=0),)


def diff_changes(changes: Iterable[FieldChange]) -> tuple[FieldDiff, ...]:
    """The diffs of changed fields, in their order; never empty for a change."""
    return tuple(diff_values(change.before, change.after, change.field) or _came_or_went(change) for change in changes)


def _came_or_went(change: FieldChange) -> FieldDiff:
    """A field that is null on one side and unknown on the other: equal values, and yet a change."""
    spans = (Span(Mark.REMOVED, ABSENT), Span(Mark.ADDED, spell(change.after)))
    block = Block(kind=Kind.EDITED, spans=spans, old=0, new=0, place=0)
    return FieldDiff(field=change.field, before=change.before, after=change.after, blocks=(block,), whole=True)


def changes_between(before: Record, after: Record) -> tuple[FieldChange, ...]:
    """The tracked fields whose values differ, in the order of the newer record; fields only one side has come last.

    Empty exactly when both have the same change fingerprint, as long as both have the same fields.
    """
    old, new = before.tracked(), after.tracked()
    names = [*new, *(name for name in old if name not in new)]
    return tuple(
        FieldChange(name, old.get(name), new.get(name))
        for name in names
        if (name in old) != (name in new) or canonical(old[name]) != canonical(new[name])
    )


def count_kinds(diff: FieldDiff) -> Counter[Kind]:
    """How many blocks were added, removed, edited and moved."""
    return Counter(block.kind for block in diff.blocks)
