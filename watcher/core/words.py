"""The word diff of two texts: spans that, put together, are the old text or the new one."""

from __future__ import annotations

import re
from enum import StrEnum
from itertools import groupby

import msgspec

from watcher.core.align import Gap, gaps
from watcher.core.chunks import chunk

LONG = 2_000
"""Words from which a text is first cut into chunks, so that only changed chunks are compared word by word."""
GIANT = 80
"""Characters from which two unlike words are compared by their ends (a token, a line without blanks)."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"\s*(?:\d+(?:[.,:]\d+)+|[{_CJK}]|[^\W{_CJK}]+|[^\w\s])|\s+")


class Mark(StrEnum):
    """What became of a stretch of text."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


class Span(msgspec.Struct, frozen=True):
    """A stretch of text and what became of it. ``cut`` marks one that stands for a longer text left out."""

    mark: Mark
    text: str
    cut: bool = False


Spans = tuple[Span, ...]


def words(text: str) -> list[str]:
    """The words and signs of ``text``, each with the blanks before it; ``1,299.00`` and a CJK character are words."""
    return _WORD.findall(text)


def word_set(text: str) -> frozenset[str]:
    """The distinct words of ``text``, for judging how alike two blocks are."""
    return frozenset(word.strip() for word in words(text))


def _ends(old: str, new: str) -> list[Span]:
    """Two long texts without anything in common between their equal beginnings and ends."""
    limit = min(len(old), len(new))
    head = next((i for i in range(limit) if old[i] != new[i]), limit)
    tail = next((i for i in range(limit - head) if old[-1 - i] != new[-1 - i]), limit - head)
    return [
        Span(Mark.SAME, old[:head]),
        Span(Mark.REMOVED, old[head : len(old) - tail]),
        Span(Mark.ADDED, new[head : len(new) - tail]),
        Span(Mark.SAME, old[len(old) - tail :]),
    ]


def _replaced(old: str, new: str) -> list[Span]:
    if max(len(old), len(new)) > GIANT and old and new:
        return _ends(old, new)
    return [Span(Mark.REMOVED, old), Span(Mark.ADDED, new)]


def _same(old: list[str], new: list[str]) -> list[Span]:
    """Equal words; where the blanks before one differ, those are removed and added."""
    before, after = "".join(old), "".join(new)
    if before == after:
        return [Span(Mark.SAME, before)]
    spans = []
    for x, y in zip(old, new, strict=True):
        word = x.lstrip()
        if x != y:
            spans += [Span(Mark.REMOVED, x[: len(x) - len(word)]), Span(Mark.ADDED, y[: len(y) - len(word)])]
        spans.append(Span(Mark.SAME, word if x != y else x))
    return spans


def _compare(old: list[str], new: list[str]) -> list[Span]:
    spans, i, j = [], 0, 0
    end = Gap(len(old), len(old), len(new), len(new))
    for gap in [*gaps([word.strip() for word in old], [word.strip() for word in new]), end]:
        spans += _same(old[i : gap.old_start], new[j : gap.new_start])
        spans += _replaced("".join(old[gap.old_start : gap.old_end]), "".join(new[gap.new_start : gap.new_end]))
        i, j = gap.old_end, gap.new_end
    return spans


def _by_chunks(before: str, after: str) -> list[Span]:
    old, new = chunk(before), chunk(after)
    spans, place = [], 0
    for gap in [*gaps(old, new), Gap(len(old), len(old), len(new), len(new))]:
        spans.append(Span(Mark.SAME, "".join(old[place : gap.old_start])))
        removed, added = "".join(old[gap.old_start : gap.old_end]), "".join(new[gap.new_start : gap.new_end])
        spans.extend(_compare(words(removed), words(added)))
        place = gap.old_end
    return spans


def _joined(spans: list[Span]) -> Spans:
    """``spans`` without empty ones; between two equal stretches stands at most one removed and one added."""
    result: list[Span] = []
    runs = groupby((span for span in spans if span.text), key=lambda span: span.mark is Mark.SAME)
    for _, run in runs:
        texts: dict[Mark, list[str]] = {Mark.SAME: [], Mark.REMOVED: [], Mark.ADDED: []}
        for span in run:
            texts[span.mark].append(span.text)
        result += [Span(mark, "".join(pieces)) for mark, pieces in texts.items() if pieces]
    return tuple(result)


def word_diff(before: str, after: str) -> Spans:
    """What changed between two texts, word by word; the spans rebuild both exactly.

    Long texts are compared by rolling-hash chunks first; the work never grows with the product of the lengths.
    """
    if before.count(" ") > LONG or after.count(" ") > LONG:
        return _joined(_by_chunks(before, after))
    return _joined(_compare(words(before), words(after)))


def _last(text: str, count: int) -> str:
    return "".join(words(text[-40 * count - 40 :])[-count:]).lstrip() if count else ""


def _first(text: str, count: int) -> str:
    return "".join(words(text[: 40 * count + 40])[:count]) if count else ""


def shorten(spans: Spans, context: int = 8, longest: int = 400) -> Spans:
    """``spans`` for reading: of what stayed only ``context`` words beside each change, of long changes the beginning.

    A span with ``cut`` stands where text was left out.
    """
    result: list[Span] = []
    for index, span in enumerate(spans):
        if span.mark is not Mark.SAME:
            kept = span.text[:longest]
            result.append(Span(span.mark, kept))
            if len(kept) < len(span.text):
                result.append(Span(span.mark, "…", cut=True))
            continue
        alone = len(spans) == 1
        before = _first(span.text, 2 * context if alone else context) if index or alone else ""
        after = _last(span.text, context) if index < len(spans) - 1 else ""
        if len(before) + len(after) + 3 >= len(span.text):
            result.append(span)
            continue
        result.extend([Span(Mark.SAME, before), Span(Mark.SAME, " … ", cut=True), Span(Mark.SAME, after)])
    return tuple(span for span in result if span.text)


def side(spans: Spans, mark: Mark) -> Spans:
    """The spans of one side only: the old text (``REMOVED``) or the new one (``ADDED``)."""
    return tuple(span for span in spans if span.mark in (Mark.SAME, mark))


def text_of(spans: Spans) -> str:
    """The texts of ``spans`` put together."""
    return "".join(span.text for span in spans)


def changed_share(spans: Spans) -> float:
    """The share of words that are not common to both sides: 0.0 equal, 1.0 nothing in common."""
    sizes = [(span.mark, len(words(span.text))) for span in spans]
    total = sum(size for _, size in sizes)
    return sum(size for mark, size in sizes if mark is not Mark.SAME) / total if total else 0.0
