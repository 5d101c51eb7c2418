"""The readable content of a node as Markdown-like blocks, link targets included."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from watcher.core.fingerprint import drop_invisible, normalise
from watcher.extract.noise import clean_blocks, link_cleaner

if TYPE_CHECKING:
    from turbohtml import Markdown, Node

UNREADABLE = "script,style,template,noscript,iframe,object,svg,canvas"
"""What a reader never sees as text."""

_STRONG, _EMPHASIS = "\x02", "\x03"
"""What stands for emphasis until the end. The renderer writes tags where Markdown's own marks would not work, and
decides so for neighbouring words too: with ``**`` a change far away would look like a change of everything."""
_TAGS = {"<strong>": _STRONG, "</strong>": _STRONG, "<em>": _EMPHASIS, "</em>": _EMPHASIS}
_STRUCTURE = "-|*+#>:`~ "
"""Signs that are Markdown's own: a block of nothing else says nothing."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@lru_cache(maxsize=1)
def _style() -> Markdown:
    from turbohtml import Markdown

    return Markdown(
        inline=Markdown.Inline(strong=_STRONG, emphasis=_EMPHASIS),
        images=Markdown.Images(mode="alt"),
        escaping=Markdown.Escaping(mode="none", asterisks=False, underscores=False),
        links=Markdown.Links(autolink=False),
        tables=Markdown.Tables(header="none", cell_blocks="text"),
    )


def render(node: Node) -> str:
    """``node`` as Markdown, its emphasis written in one way: ``**strong**``, ``*stressed*``, what touches made one."""
    markdown = node.to_markdown(_style())
    if "</" in markdown:
        for tag, place in _TAGS.items():
            markdown = markdown.replace(tag, place)
    for place, mark in ((_STRONG, "**"), (_EMPHASIS, "*")):
        if place in markdown:
            markdown = markdown.replace(place + place, "").replace(place, mark)
    return markdown


def split_blocks(markdown: str) -> list[str]:
    """The blocks of a Markdown text, normalised: its lines, and each fenced code block as one."""
    blocks: list[str] = []
    fence: list[str] | None = None
    for raw in markdown.split("\n"):
        line = raw.strip()
        if line.startswith("```"):
            if fence is None:
                fence = []
            else:
                blocks.append(drop_invisible("\n".join(fence)).strip("\n"))
                fence = None
        elif fence is not None:
            fence.append(raw.rstrip())
        elif line:
            blocks.append(line if line.isascii() and line.isprintable() and "  " not in line else normalise(line))
    blocks.extend(map(normalise, fence or ()))
    return [block for block in blocks if block.strip(_STRUCTURE)]


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
    node.rewrite_links(_target_reader(url, link_cleaner(disabled)))
    return clean_blocks(split_blocks(render(node)), disabled, smart)
