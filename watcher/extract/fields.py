"""Field definitions as the user writes them, read into :class:`Field` values."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from watcher.core.model import Field, FieldType
from watcher.extract.errors import FieldError

FieldSource: TypeAlias = "Field | str | Mapping[str, Any]"
"""One definition: a :class:`Field`, a CSS selector, or a table of a field's keys."""
Definitions: TypeAlias = "Mapping[str, FieldSource] | Sequence[Field]"

KEYS = tuple(name for name in Field.__struct_fields__ if name != "name")
_ALIASES = {"datetime": "date"}


def close_to(word: str, words: Sequence[str]) -> str:
    """``; did you mean `x`?`` for the nearest of ``words``, or nothing."""
    near = difflib.get_close_matches(word, words, n=1)
    return f"; did you mean `{near[0]}`?" if near else ""


def _unknown_keys(table: Mapping[str, Any]) -> list[str]:
    return [f"unknown key `{key}`{close_to(key, KEYS)}" for key in table if key not in KEYS]


def _read_type(value: object) -> FieldType:
    kinds = [kind.value for kind in FieldType]
    name = _ALIASES.get(str(value), str(value))
    if name not in kinds:
        raise ValueError(f"type must be one of {', '.join(kinds)}, not `{value}`{close_to(name, kinds)}")
    return FieldType(name)


def _read_table(name: str, table: Mapping[str, Any], problems: list[tuple[str, str]]) -> Field | None:
    unknown = _unknown_keys(table)
    if unknown:
        problems.extend((name, sentence) for sentence in unknown)
        return None
    values = dict(table)
    try:
        if "type" in values:
            values["type"] = _read_type(values["type"])
        if "each" in values:
            before = len(problems)
            values["each"] = _read_all(values["each"], problems, prefix=f"{name}.")
            if len(problems) > before:
                return None
        return msgspec.convert({"name": name, **values}, Field, from_attributes=True)
    except (ValueError, TypeError, msgspec.ValidationError) as error:
        problems.append((name, str(error).replace(" - at `$.", " at `")))
        return None


def _read_all(definitions: Definitions, problems: list[tuple[str, str]], prefix: str = "") -> tuple[Field, ...]:
    if not isinstance(definitions, Mapping):
        return tuple(definitions)
    fields = []
    for name, source in definitions.items():
        match source:
            case Field():
                fields.append(msgspec.structs.replace(source, name=name))
            case str():
                fields.append(Field(name=name, css=source))
            case Mapping():
                field = _read_table(prefix + name, source, problems)
                if field is not None:
                    fields.append(msgspec.structs.replace(field, name=name))
            case _:
                problems.append((prefix + name, 'give a CSS selector, or a table such as { css = ".price" }'))
    return tuple(fields)


def read_all(definitions: Definitions) -> tuple[tuple[Field, ...], list[tuple[str, str]]]:
    """The fields that can be read, and what is wrong with the others."""
    problems: list[tuple[str, str]] = []
    return _read_all(definitions, problems), problems


def read_fields(definitions: Definitions) -> tuple[Field, ...]:
    """The fields of a watch as the config file spells them. Selectors are not looked at here.

    Raises:
        FieldError: unknown keys, unknown types, values of the wrong type; all of them at once.
    """
    fields, problems = read_all(definitions)
    if problems:
        raise FieldError(tuple(problems))
    return fields
