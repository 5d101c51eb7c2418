"""The record of a page whose watch names no fields: what the page says for machines, its title, what it reads like."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from watcher.core.fingerprint import normalise
from watcher.core.model import Value, Values
from watcher.extract.content import content_blocks
from watcher.extract.document import Page
from watcher.extract.errors import ExtractError
from watcher.extract.feeds import feed_values
from watcher.extract.furniture import readable_region
from watcher.extract.noise import VOLATILE, clean_blocks, link_cleaner
from watcher.extract.pdf import pdf_values
from watcher.extract.sniff import Kind
from watcher.extract.structured import structured_values
from watcher.extract.visible import visible_text
from watcher.extract.volatile import ignore, leave_out, speaker

if TYPE_CHECKING:
    from turbohtml import Document

UNTRACKED = ("modified",)
"""Smart fields that are kept and shown, and whose movement alone is no change."""

FORWARDS_WITHIN = 10.0
"""Seconds after which a page that refreshes to another address is no mere forwarding any more."""
FORWARDING_TEXT = 400
"""Characters of text from which a page is worth reading although it forwards."""


class Options(NamedTuple):
    """What a watch says about its smart record."""

    remove: tuple[str, ...] = ()
    disabled: frozenset[str] = frozenset()
    volatile: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


def _title(tree: Document) -> str | None:
    for selector in ("h1", "title"):
        node = tree.select_one(selector)
        text = visible_text(node) if node is not None else ""
        if text:
            return text
    return None


def refuse_forwarding(tree: Document) -> None:
    """Refuse a page that only sends the reader on: what it says is not what is at this address.

    Raises:
        ExtractError: ``broken:forwarding``.
    """
    refresh = tree.meta_refresh()
    if refresh is None or refresh[0] > FORWARDS_WITHIN or not refresh[1]:
        return
    body = tree.select_one("body")
    if body is None or len(visible_text(body)) < FORWARDING_TEXT:
        raise ExtractError("broken:forwarding", f"the page only forwards to {normalise(refresh[1])[:200]}; watch that")


def _html_values(page: Page, options: Options) -> dict[str, Value]:
    tree = page.own_tree(options.remove)
    refuse_forwarding(tree)
    values: dict[str, Value] = {"title": None, **structured_values(tree)}
    if values["title"] is None:
        values["title"] = _title(tree)
    region = readable_region(tree, options.disabled)
    values["content"] = content_blocks(region, page.base_url, options.disabled, smart=True)
    if not values["content"] and values.keys() <= {"title", "content", "modified"}:
        raise ExtractError(
            "broken:selector", "the page holds no readable text besides menus (is it drawn by a script?); name a field"
        )
    return values


def _text_values(text: str, disabled: frozenset[str]) -> dict[str, Value]:
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    return {"content": clean_blocks(lines, disabled, smart=True)}


def smart_values(page: Page, options: Options) -> dict[str, Value]:
    """The values of ``page``: ``json`` of JSON, ``entries`` of a feed, else ``title`` and ``content`` and what the
    page says for machines. Places named in ``options.volatile`` and blocks that read like ``options.ignore`` are left
    out of ``content``.

    Raises:
        ExtractError: the page gives none of it.
    """
    match page.kind:
        case Kind.JSON:
            return {"json": page.json}
        case Kind.XML:
            values = feed_values(page, link_cleaner(options.disabled))
        case Kind.PDF:
            values = pdf_values(page.body)
        case Kind.HTML:
            values = _html_values(page, options)
        case _:
            values = _text_values(page.text, options.disabled)
    values = {name: value for name, value in values.items() if value is not None}
    if "content" in values:
        values["content"] = _told(values, options)
    return values


def _told(values: Values, options: Options) -> list[str]:
    """The content without what is volatile or to be ignored."""
    content: list[str] = values["content"]
    if options.volatile and VOLATILE not in options.disabled:
        content = leave_out(content, options.volatile, speaker(values))
    return ignore(content, options.ignore) if options.ignore else content
