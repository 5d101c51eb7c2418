"""The text of a node as a reader sees it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from watcher.core.fingerprint import normalise

if TYPE_CHECKING:
    from turbohtml import Node, PlainText


@lru_cache(maxsize=1)
def _layout() -> PlainText:
    from turbohtml import PlainText

    return PlainText(bullet="", layout="strict")


def visible_text(node: Node) -> str:
    """The node's text without scripts, styles and templates, block elements apart, white space normalised."""
    return normalise(node.to_text(_layout()))


def own_text(node: Node) -> str:
    """The text that stands directly in the node, not in its children."""
    from turbohtml import CData, Text

    return normalise("".join(child.data for child in node.children if isinstance(child, Text | CData)))
