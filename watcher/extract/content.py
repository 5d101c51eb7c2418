"""The readable content of a node as Markdown-like blocks, link targets included."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from watcher.core.fingerprint import drop_invisible, normalise
from watcher.extract.noise import link_cleaner, text_cleaner

if TYPE_CHECKING:
    from turbohtml import Markdown, Node

UNREADABLE = "script,style,template,noscript,iframe,object,svg,canvas"
"""What a reader never sees as text."""

# Noncharacters (Unicode section 23.7), which no page's text contains, hold the place of the marks until the end.
_EMPHASIS = (
    ("strong,b", "\ufdd0", "\ufdd1", "**"),
    ("em,i", "\ufdd2", "\ufdd3", "*"),
    ("del,s", "\ufdd4", "\ufdd5", "~~"),
)
_TIDY = [
    rule
    for _, start, end, _ in _EMPHASIS
    for rule in (
        (re.compile(f"{start}{{2,}}"), start),
        (re.compile(f"{end}{{2,}}"), end),
        (re.compile(rf"{start}(\s+)"), rf"\1{start}"),
        (re.compile(rf"(\s+){end}"), rf"{end}\1"),
        (re.compile(rf"{end}(\s*){start}|{start}(\s*){end}"), r"\1\2"),
    )
]
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_MARKED = re.compile("[\ufdd0-\ufdd5]")
_MARKS = str.maketrans({place: mark for _, start, end, mark in _EMPHASIS for place in (start, end)})


@lru_cache(maxsize=1)
def _style() -> Markdown:
    from turbohtml import Markdown

    return Markdown(
        images=Markdown.Images(mode="alt"),
        escaping=Markdown.Escaping(mode="none", asterisks=False, underscores=False),
        links=Markdown.Links(autolink=False),
        tables=Markdown.Tables(header="none", cell_blocks="text"),
    )


def _mark_emphasis(node: Node) -> None:
    """Put marks where emphasis begins and ends.

    Left to the renderer, one emphasis that Markdown cannot express turns all others of the page into tags, and a
    change far away would look like a change of everything.
    """
    from turbohtml import Text

    for selector, start, end, _ in _EMPHASIS:
        for element in node.select(selector):
            element.insert(0, Text(start))
            element.append(Text(end))
            element.unwrap()


def _show_emphasis(line: str) -> str:
    if line.isascii() or not _MARKED.search(line):
        return line
    for pattern, instead in _TIDY:
        line = pattern.sub(instead, line)
    return line.translate(_MARKS)


def split_blocks(markdown: str) -> list[str]:
    """The blocks of a Markdown text: its lines, and each fenced code block as one."""
    blocks: list[str] = []
    fence: list[str] | None = None
    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            if fence is None:
                fence = []
            else:
                blocks.append(drop_invisible("\n".join(fence)).strip("\n"))
                fence = None
        elif fence is not None:
            fence.append(line.rstrip())
        else:
            blocks.append(normalise(line))
    blocks.extend(map(normalise, fence or ()))
    return [block for block in blocks if block]


def _target_reader(url: str, clean: Callable[[str], str]) -> Callable[[str], str]:
    """Clean link targets; of relative ones make paths from the root, so that two spellings of one are the same."""
    origin = "://".join(urlsplit(url)[:2])

    def read(target: str) -> str:
        target = target.strip()
        if url and target and not target.startswith(("/", "#")) and not _SCHEME.match(target):
            target = urljoin(url, target).removeprefix(origin)
        return clean(target)

    return read


def content_blocks(node: Node, url: str, disabled: frozenset[str], smart: bool = False) -> list[str]:
    """The blocks of ``node`` in reading order; it is rewritten in the course, so hand in one nobody else reads.

    ``url`` is what relative link targets are resolved against.
    """
    for unreadable in node.select(UNREADABLE):
        unreadable.decompose()
    _mark_emphasis(node)
    node.rewrite_links(_target_reader(url, link_cleaner(disabled)))
    clean = text_cleaner(disabled, smart)
    blocks = map(clean, map(_show_emphasis, split_blocks(node.to_markdown(_style()))))
    return [block for block in blocks if block]
