"""Fields for a page to be added: what is typed, what is worth offering, and how it is written to watches.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from watcher.core.diff import show
from watcher.core.model import Field, FieldType, Record, Value
from watcher.engine.handle import Preview
from watcher.tui.view import plural

KINDS = ("css", "xpath", "json", "regex")
EXAMPLE = "price = .price as price"
_AS = re.compile(r"\s+as\s+(\w+)\s*$")
_ATTR = re.compile(r"^(.*?)::(?:attr\(([^)]+)\)|text)$")
_LEAVES = 40
"""Values of a JSON page that are offered."""

USUAL = (
    Field(name="title", css="h1"),
    Field(name="text", css="main", type=FieldType.CONTENT),
    Field(name="article", css="article", type=FieldType.CONTENT),
    Field(name="price", css=".price, [itemprop=price]", type=FieldType.PRICE),
    Field(name="availability", css=".availability, .stock, [itemprop=availability]"),
    Field(name="version", css=".version, [itemprop=softwareVersion]"),
    Field(name="updated", css="time", type=FieldType.DATE),
    Field(name="headings", css="h2", all=True, type=FieldType.LIST),
    Field(name="links", css="main a", all=True, type=FieldType.LIST),
)
"""What pages usually have, offered where this one has it."""


class FieldMistake(ValueError):
    """What was typed is no field; ``str()`` says how to write one."""


def parse_field(text: str) -> Field:
    """``name = SELECTOR as TYPE`` as ``watcher add --field`` reads it. Raises :class:`FieldMistake`."""
    name, equals, selector = (part.strip() for part in text.partition("="))
    kind_of = FieldType.TEXT
    if found := _AS.search(selector):
        try:
            kind_of = FieldType(found.group(1))
        except ValueError:
            raise FieldMistake(f"{found.group(1)!r} is no type; there are {', '.join(FieldType)}") from None
        selector = selector[: found.start()].strip()
    if not name or not equals or not selector:
        raise FieldMistake(f"write NAME = SELECTOR, like {EXAMPLE}; xpath:, json: and regex: go before other selectors")
    kind, colon, rest = selector.partition(":")
    if not colon or kind not in KINDS:
        kind, rest = "css", selector
    attr = None
    if kind == "css" and (parts := _ATTR.match(rest)):
        rest, attr = parts.group(1).strip(), parts.group(2)
    return msgspec.structs.replace(Field(name=name, type=kind_of, attr=attr), **{kind: rest.strip()})


def selector_of(field: Field) -> str:
    """The selector of ``field`` as it would be typed."""
    if field.css is not None:
        return f"{field.css}::attr({field.attr})" if field.attr else field.css
    kind = next(kind for kind in KINDS if getattr(field, kind) is not None)
    return f"{kind}:{getattr(field, kind)}"


def definition(field: Field) -> str | dict[str, Any]:
    """``field`` as watches.toml writes it: a string where that says it all."""
    if field.css is not None and field.type is FieldType.TEXT and not field.all:
        return selector_of(field)
    table: dict[str, Any] = {kind: getattr(field, kind) for kind in KINDS if getattr(field, kind) is not None}
    table |= {"attr": field.attr} if field.attr else {}
    table |= {"type": field.type.value} if field.type is not FieldType.TEXT else {}
    return table | ({"all": True} if field.all else {})


def candidates(preview: Preview) -> list[Field]:
    """Fields worth trying on this page: its JSON's values, or what pages usually have."""
    record = preview.record
    if record is not None and _is_json(preview.content_type):
        return list(_leaves(record))[:_LEAVES]
    return list(USUAL)


def on_trial(fields: Sequence[Field]) -> list[Field]:
    """``fields`` so that one which matches nothing leaves the others alone."""
    return [msgspec.structs.replace(field, optional=True) for field in fields]


def in_short(value: Value) -> str:
    """A value in one line."""
    if isinstance(value, list):
        head = show(value[0]) if value else ""
        return f"{plural(len(value), 'part')}: {head}" if value else "empty"
    return " ".join(show(value).split())


def _is_json(content_type: str | None) -> bool:
    return content_type is not None and "json" in content_type.split(";", 1)[0]


def _leaves(record: Record) -> Iterator[Field]:
    values = record.values
    # A JSON page's record holds the document under one name.
    root = next(iter(values.values())) if len(values) == 1 else values
    seen: dict[str, int] = {}
    for path in _paths(root, ""):
        name = re.sub(r"\W+", "_", path.rsplit(".", 1)[-1]).strip("_") or "value"
        seen[name] = seen.get(name, 0) + 1
        yield Field(name=name if seen[name] == 1 else f"{name}_{seen[name]}", json=path)


def _paths(value: Value, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            safe = key if re.fullmatch(r"[A-Za-z_]\w*", key) else f'"{key}"'
            yield from _paths(inner, f"{path}.{safe}" if path else safe)
    elif isinstance(value, list):
        for index, inner in enumerate(value[:3]):
            yield from _paths(inner, f"{path}[{index}]")
    elif value is not None and path:
        yield path
