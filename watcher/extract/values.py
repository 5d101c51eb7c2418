"""From what a selector matched to a field's value, as the field's type says."""

from __future__ import annotations

import copy
from collections.abc import Callable

from watcher.core.fingerprint import canonical, normalise
from watcher.core.model import Field, FieldType, Value
from watcher.extract.content import content_blocks
from watcher.extract.dates import parse_date
from watcher.extract.errors import ExtractError
from watcher.extract.numbers import parse_number, parse_price
from watcher.extract.pick import Item, Scope, is_list, is_node, pick, selector_of
from watcher.extract.selectors import compile_regex
from watcher.extract.visible import visible_text
from watcher.extract.volatile import ignore


def _replaced(field: Field, text: str) -> str:
    for pattern, instead in field.replace:
        text = compile_regex(pattern).sub(instead, text)
    return text


def _text(field: Field, item: Item) -> Value:
    """A text stays text; a JSON number, truth value or structure stays what it is."""
    if is_node(item):
        return normalise(_replaced(field, visible_text(item)))
    if isinstance(item, str):
        return normalise(_replaced(field, item))
    return item


def _markup(field: Field, item: Item) -> Value:
    markup = item.canonicalize().decode("utf-8", "replace") if is_node(item) else str(item)
    return normalise(_replaced(field, markup))


def _number(field: Field, item: Item) -> Value:
    value = _text(field, item)
    try:
        return parse_number(value, field.decimal, field.grouping)
    except ValueError as error:
        raise ExtractError("broken:value", f"`{str(value)[:60]}` is not one number: {error}", field.name) from None


def _price(field: Field, item: Item) -> Value:
    value = _text(field, item)
    if value is None:
        return None
    price = parse_price(value, field.currency, field.decimal, field.grouping)
    return price if price is not None else normalise(str(value))


def _date(field: Field, item: Item) -> Value:
    value = _text(field, item)
    if not isinstance(value, str):
        return value
    return parse_date(value, field.timezone) or value


_READERS: dict[FieldType, Callable[[Field, Item], Value]] = {
    FieldType.TEXT: _text,
    FieldType.LIST: _text,
    FieldType.HTML: _markup,
    FieldType.NUMBER: _number,
    FieldType.PRICE: _price,
    FieldType.DATE: _date,
}


def read_item(field: Field, item: Item) -> Value:
    """One matched item as the field's type says. A JSON ``null`` is ``None`` for every type.

    Raises:
        ExtractError: ``broken:value``; a number that is not exactly one number.
    """
    if item is None:
        return None
    return _READERS[field.type](field, item)


def _as_items(field: Field, found: list[Item]) -> list[Item]:
    """A JSON query gives one value; where a list is asked for, its elements are the items."""
    if field.json is not None and field.regex is None and len(found) == 1 and isinstance(found[0], list):
        return list(found[0])
    return found


def _content(
    field: Field, found: list[Item], url: str, disabled: frozenset[str], ignored: tuple[str, ...]
) -> list[Value]:
    blocks: list[str] = []
    for item in found:
        blocks.extend(content_blocks(copy.deepcopy(item), url, disabled) if is_node(item) else _paragraphs(item))
    kept = [normalise(_replaced(field, block)) if field.replace else block for block in blocks]
    kept = [block for block in kept if block]
    if not kept and not field.optional:
        raise ExtractError("broken:selector", f"`{selector_of(field)}` matches, but holds no text", field.name)
    return ignore(kept, ignored) if ignored else kept


def _paragraphs(item: Item) -> list[str]:
    text = item if isinstance(item, str) else str(item)
    return [block for block in map(normalise, text.split("\n\n")) if block]


def _rows(field: Field, found: list[Item], scope: Scope) -> list[Value]:
    rows: list[Value] = []
    for number, item in enumerate(_as_items(field, found), start=1):
        row: dict[str, Value] = {}
        for cell in field.each:
            try:
                inner = Scope(scope.page, item, inside=True)
                row[cell.name] = value_of(cell, pick(cell, inner), inner, scope.page.disabled)
            except ExtractError as error:
                raise ExtractError(error.kind, f"row {number}: {error}", field.name) from None
        rows.append(row)
    return rows


def missing(field: Field) -> ExtractError:
    """The error of a required field that matches nothing."""
    attr = f" with an attribute `{field.attr}`" if field.attr else ""
    return ExtractError("broken:selector", f"nothing matches `{selector_of(field)}`{attr}", field.name)


def value_of(
    field: Field, found: list[Item], scope: Scope, disabled: frozenset[str], ignored: tuple[str, ...] = ()
) -> Value:
    """The field's value, given what its selector matched; None for an optional field that matches nothing.

    Raises:
        ExtractError: ``broken:selector`` for a required field that matches nothing, or ``broken:value``.
    """
    if not found:
        if field.optional:
            return None
        raise missing(field)
    if field.each:
        return _sorted(field, _rows(field, found, scope))
    if field.type is FieldType.CONTENT:
        return _content(field, found, scope.page.base_url, disabled, ignored)
    if is_list(field):
        return _sorted(field, [read_item(field, item) for item in _as_items(field, found)])
    return read_item(field, found[0])


def _sorted(field: Field, items: list[Value]) -> list[Value]:
    """An unordered list in one order: that of its items' canonical forms."""
    return sorted(items, key=canonical) if field.unordered else items
