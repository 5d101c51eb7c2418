"""From a page and one field's selector to what it matches: nodes, texts or JSON values, in document order."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from watcher.core.model import Field, FieldType, Value
from watcher.extract.document import Page
from watcher.extract.errors import ExtractError
from watcher.extract.selectors import compile_css, compile_json, compile_regex, compile_xpath
from watcher.extract.sniff import Kind
from watcher.extract.visible import own_text, visible_text

if TYPE_CHECKING:
    from turbohtml import Node

Item: TypeAlias = Any
"""What a selector matches: a node, a text, or a JSON value."""


class Scope(NamedTuple):
    """Where a field looks: the whole page, or one row of it (a node, or a JSON value or text)."""

    page: Page
    row: Item = None
    inside: bool = False


def is_node(item: object) -> bool:
    """Whether a picked item is a node of a tree rather than a value."""
    return hasattr(item, "select")


def _root(field: Field, scope: Scope, remove: tuple[str, ...]) -> Node:
    if not scope.inside:
        return scope.page.tree((*remove, *field.remove))
    if is_node(scope.row):
        node: Node = scope.row
        return node
    raise ExtractError("broken:selector", "css and xpath need rows that are elements", field.name)


def _pick_css(field: Field, scope: Scope, remove: tuple[str, ...]) -> list[Item]:
    assert field.css is not None
    css = compile_css(field.css)
    root = _root(field, scope, remove)
    found = root.select(css.selector)
    if css.own_text:
        return [text for text in map(own_text, found) if text]
    return _attribute(found, css.attr or field.attr)


def _attribute(found: list[Item], attr: str | None) -> list[Item]:
    if attr is None:
        return found
    values = [node.attr(attr) for node in found if hasattr(node, "attr")]
    return [value for value in values if value is not None]


def _pick_xpath(field: Field, scope: Scope, remove: tuple[str, ...]) -> list[Item]:
    assert field.xpath is not None
    try:
        found = compile_xpath(field.xpath)(_root(field, scope, remove))
    except ValueError as error:
        raise ExtractError("broken:selector", str(error).removeprefix("xpath: "), field.name) from None
    if isinstance(found, list):
        return _attribute(found, field.attr)
    if isinstance(found, float):
        return [_exact(found)] if math.isfinite(found) else []
    # XPath's string() of nothing is the empty string: nothing was there.
    return [] if found == "" else [found]


def _exact(number: float) -> int | Decimal:
    return int(number) if number.is_integer() else Decimal(repr(number))


def _pick_json(field: Field, scope: Scope) -> list[Item]:
    assert field.json is not None
    query = compile_json(field.json)
    try:
        if scope.inside:
            return _answer(query(scope.row))
        if scope.page.kind is not Kind.HTML:
            return _answer(query(scope.page.json))
        for block in scope.page.embedded_json:
            found = _answer(query(block))
            if found:
                return found
        return []
    except ValueError as error:
        raise ExtractError("broken:selector", str(error), field.name) from None


def _answer(result: tuple[bool, Value]) -> list[Item]:
    there, value = result
    return [value] if there else []


def _matches(pattern: str, text: str) -> list[str]:
    compiled = compile_regex(pattern)
    return [(m[1] if compiled.groups else m[0]) or "" for m in compiled.finditer(text)]


def _as_text(item: Item) -> str:
    return visible_text(item) if is_node(item) else item if isinstance(item, str) else str(item)


def pick(field: Field, scope: Scope, remove: tuple[str, ...] = ()) -> list[Item]:
    """Everything the field's selector matches within ``scope``, in document order.

    A ``json`` field gives at most one item, the query's result. ``regex`` picks from the decoded text when it
    stands alone, and else from each item's text. ``remove`` are the watch's selectors of nodes to drop first.

    Raises:
        ExtractError: the body cannot be read the way the field needs.
    """
    if field.css is not None:
        found = _pick_css(field, scope, remove)
    elif field.xpath is not None:
        found = _pick_xpath(field, scope, remove)
    elif field.json is not None:
        found = _pick_json(field, scope)
    else:
        found = [_as_text(scope.row) if scope.inside else scope.page.text]
    if field.regex is None:
        return found
    return [text for item in found for text in _matches(field.regex, _as_text(item))]


def selector_of(field: Field) -> str:
    """The field's selector as the user wrote it, for messages."""
    parts = [field.css, field.xpath, field.json, field.regex]
    return " then ".join(part for part in parts if part is not None)


def is_list(field: Field) -> bool:
    """Whether the field's value is a list of all that matches."""
    return field.all or field.unordered or field.type is FieldType.LIST
