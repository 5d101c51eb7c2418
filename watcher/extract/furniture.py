"""Where a page's content is: the readable region, without menus, banners and footers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turbohtml import Document, Element, Node

_MENUS = (
    "nav,footer,dialog,menu,[hidden],[role=navigation],[role=contentinfo],[role=search],[role=menu],[role=dialog],"
    "[role=alertdialog]"
)
"""What says of itself that it is not the content."""
_BESIDE = (
    "aside,form,[role=banner],[role=complementary],[role=alert],[role=status],"
    "header:not(main header):not(article header)"
)
"""What usually is not, and is where it holds most of the text."""
_BUTTONS = "button,[role=button]"
_LABELS = "h1,h2,h3,h4,h5,h6,dt,summary,th"
_MAIN = "main,[role=main]"
_WORDS = re.compile(
    r"(?i)(?:^|[-_\s])(?:ads?|advert\w*|sponsor\w*|promo|banner|cookies?|consent|gdpr|breadcrumbs?|share|sharing|social|related"
    r"|recommend\w*|newsletter|popup|modal|cart|login|sidebar|widget|captcha|toast|skip-?link)(?:$|[-_\s\d])"
)
SHARE = 0.5
"""A subtree that holds this much of the text is content, whatever its class says."""


@lru_cache(maxsize=8192)
def _is_furniture(names: str) -> bool:
    return bool(_WORDS.search(names))


def _size(node: Node) -> int:
    return len(node.text)


def _drop(root: Node, found: list[Element]) -> None:
    whole = _size(root) if found else 0
    for element in found:
        if element.parent is not None and _size(element) < SHARE * whole:
            element.decompose()


def _drop_menus(body: Node) -> None:
    """Scripts, and menus with the headings that name them (``aria-labelledby``); the page's own title stays."""
    menus = body.select(f"{_MENUS},script,style,template,noscript")
    labels = {label for menu in menus for label in (menu.attr("aria-labelledby") or "").split()}
    named = [node for node in body.select("[id]:not(h1)") if node.attr("id") in labels] if labels else []
    for element in [*menus, *named]:
        element.decompose()


def _drop_buttons(body: Node) -> None:
    """Buttons do things; only where one is a heading (an accordion) is it something to read."""
    for button in body.select(_BUTTONS):
        if button.closest(_LABELS) is None and button.select_one(_LABELS) is None:
            button.decompose()


def _drop_empty_details(body: Node) -> None:
    """What unfolds to nothing, once the menu in it is gone."""
    for details in body.select("details"):
        inside = [child for child in details.children if getattr(child, "tag", "") != "summary"]
        if not any(child.text.strip() for child in inside):
            details.decompose()


def _main_of(body: Node) -> Node:
    """The innermost ``main`` that holds most of the text, or ``body``."""
    mains = [(_size(main), place, main) for place, main in enumerate(body.select(_MAIN))]
    enough = SHARE * _size(body) if mains else 0
    return min((main for main in mains if main[0] >= enough), default=(0, 0, body))[2]


def readable_region(tree: Document, disabled: frozenset[str]) -> Node:
    """The node that holds what the page is about, with page furniture dropped from it in place."""
    body = tree.select_one("body") or tree
    if "page-furniture" in disabled:
        return body
    _drop_menus(body)
    _drop_buttons(body)
    _drop_empty_details(body)
    by_name = [
        element
        for name in ("class", "id")
        for element in body.select(f"[{name}]")
        if _is_furniture(element.attr(name) or "")
    ]
    _drop(body, [*body.select(_BESIDE), *by_name])
    return _main_of(body)
