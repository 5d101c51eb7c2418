"""The readable content of a node as Markdown-like blocks, link targets included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from watcher.core.fingerprint import normalise

if TYPE_CHECKING:
    from turbohtml import Node


def content_blocks(node: Node, disabled: frozenset[str]) -> list[str]:
    """The blocks of ``node`` in reading order."""
    return [block for block in map(normalise, node.to_markdown().split("\n\n")) if block]
