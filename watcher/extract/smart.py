"""The record of a page whose watch names no fields."""

from __future__ import annotations

from watcher.core.model import Value
from watcher.extract.content import content_blocks
from watcher.extract.document import Page
from watcher.extract.sniff import Kind
from watcher.extract.visible import visible_text


def smart_record(
    page: Page, remove: tuple[str, ...], disabled: frozenset[str], volatile: frozenset[str]
) -> tuple[dict[str, Value], tuple[str, ...]]:
    """The values and notes of ``page``."""
    if page.kind is Kind.JSON:
        return {"json": page.json}, ()
    if page.kind is Kind.TEXT:
        return {"content": [line for line in page.text.split("\n") if line.strip()]}, ()
    tree = page.tree(remove)
    title = tree.select_one("title")
    return {"title": visible_text(title) if title else None, "content": content_blocks(tree, disabled)}, ()
