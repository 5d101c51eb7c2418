"""Feeds and other XML as values: entries by their id, in the publisher's order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from watcher.core.fingerprint import normalise
from watcher.core.model import Value
from watcher.extract.dates import parse_date
from watcher.extract.document import Page
from watcher.extract.visible import visible_text

if TYPE_CHECKING:
    from turbohtml import Entry, Node


def _markup_text(markup: str | bytes | None) -> str | None:
    """The visible text of a summary, which is HTML as often as it is plain."""
    if not isinstance(markup, str) or not markup.strip():
        return None
    if "<" not in markup and "&" not in markup:
        return normalise(markup)
    from turbohtml import parse_fragment

    return visible_text(parse_fragment(markup)) or None


def _entry(entry: Entry, clean_link: Callable[[str], str]) -> dict[str, Value]:
    when = entry.published or entry.updated
    values = {
        "title": _markup_text(entry.title),
        "link": clean_link(entry.link.strip()) if entry.link else None,
        "id": normalise(entry.id) if entry.id else None,
        "published": parse_date(when) or normalise(when) if when else None,
        "summary": _markup_text(entry.summary or entry.content),
    }
    return {name: value for name, value in values.items() if value is not None}


def _same_scheme(value: str | None) -> str | None:
    """An id without ``http:`` or ``https:``: front ends of one site disagree about it (feedbin/support#515)."""
    return value.split(":", 1)[1] if value and value.startswith(("http://", "https://")) else value


def feed_values(page: Page, clean_link: Callable[[str], str]) -> dict[str, Value]:
    """``title`` and ``entries`` of an RSS, Atom or RDF feed; of other XML the text of its leaves as ``content``.

    A feed's own build date is left out: it says when the file was written, not that something is new.

    Raises:
        ExtractError: ``broken:xml``.
    """
    tree = page.own_tree()
    feed = tree.feed()
    if feed is None:
        return {"content": _leaves(tree)}
    entries, seen = [], set()
    for entry in feed.entries:
        values = _entry(entry, clean_link)
        key = _same_scheme(values.get("id") or values.get("link"))
        if "id" in values:
            values["id"] = key
        if key is None or key not in seen:
            entries.append(values)
        seen.add(key)
    return {**({"title": normalise(feed.title)} if feed.title else {}), "entries": entries}


def _leaves(tree: Node) -> list[str]:
    leaves = [(node.tag, normalise(node.text)) for node in tree.iter_elements() if not node.select_one("*")]
    return [f"{tag}: {text}" for tag, text in leaves if text]
