"""TOML with line numbers: the values ``tomllib`` would give, where each key stands, and every duplicate.

``tomllib`` alone tells no lines, stops at the first duplicate and needs half a second for ten thousand watches.
This reader walks the statements itself, lets ``tomllib`` read whatever is not a plain value, and hands it the whole
text as soon as a statement is not well-formed, so that ``tomllib`` stays the judge of what TOML is.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from typing import Any, TypeAlias

Table: TypeAlias = dict[str, Any]

_COMMENT = r"#[^\x00-\x08\x0a-\x1f\x7f]*"
_END = rf"[ \t]*(?:{_COMMENT})?(?=\n|\Z)"
_BLANK = re.compile(rf"(?:[ \t]*(?:{_COMMENT})?\n)*[ \t]*(?:{_COMMENT}\Z)?")
_PLAIN = re.compile(
    rf'([A-Za-z0-9_-]+)[ \t]*=[ \t]*(?:"([^"\\\x00-\x08\x0a-\x1f\x7f]*)"|(true|false)|([1-9]\d{{0,17}}|0))'
    rf"[ \t]*(?:{_COMMENT})?(?:\n|\Z)"
)
_ONE_LINE = re.compile(r"([A-Za-z0-9_-]+)[ \t]*=[ \t]*([\[{][^\n]*)\n")
_HEADER = re.compile(rf"(\[\[?)((?:[^\]\[\"'#\n]|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*')+)(\]\]?){_END}")
_KEY = re.compile(r"((?:[^=\[\]\"'#\n]|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*')+)=[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_PIECE = re.compile(
    r"\"\"\"(?:\\.|[^\\])*?\"{3,5}|'''.*?'{3,5}|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|#[^\n]*|[\[{]|[\]}]|\n|[^\"'#\[\]{}\n]+",
    re.DOTALL,
)
_REASON = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)


class TomlError(ValueError):
    """Not TOML: the parser's reason, line and column (both from 1; the column is None at the end of the text)."""

    def __init__(self, reason: str, line: int, column: int | None) -> None:
        super().__init__(reason)
        self.reason, self.line, self.column = reason, line, column


class Duplicate(ValueError):
    """A key or table that stands a second time, on ``line``; ``first`` is the line it stood on before."""

    def __init__(self, key: str, line: int, first: int | None) -> None:
        super().__init__(key)
        self.key, self.line, self.first = key, line, first


class Document:
    """A parsed file. ``data`` must not be changed: equal inline tables are shared."""

    def __init__(self) -> None:
        self.data: Table = {}
        self.duplicates: list[Duplicate] = []
        self.headers: dict[int, int] = {}
        self.keys: dict[int, dict[str, int]] = {id(self.data): {}}

    def line(self, table: Table, key: str | None = None) -> int | None:
        """The line of ``key`` in ``table``, or of the table's own header. None inside inline tables."""
        if key is None:
            return self.headers.get(id(table))
        return self.keys.get(id(table), {}).get(key)


def read_toml(text: str) -> Document:
    """Parse TOML 1.0. Raises :class:`TomlError`; duplicates are collected in the document, their first value holds."""
    plain = text.replace("\r\n", "\n")
    try:
        if "\r" in plain:
            raise _NotPlainError
        return _Reader(plain).read()
    except _NotPlainError:
        document = Document()
        document.data = _whole(text)
        return document


class _NotPlainError(Exception):
    """This text is for ``tomllib`` to judge."""


def _whole(text: str) -> Table:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _REASON.fullmatch(str(error))
        if found is None or found[2] is None:
            reason = found[1] if found else str(error)
            raise TomlError(reason, text.count("\n", 0, len(text.rstrip())) + 1, None) from None
        raise TomlError(found[1], int(found[2]), int(found[3])) from None


def _fragment(text: str) -> Any:
    try:
        return tomllib.loads(f"_={text}")["_"]
    except (tomllib.TOMLDecodeError, RecursionError):
        raise _NotPlainError from None


@lru_cache(maxsize=4096)
def _line_value(text: str) -> Any:
    """An array or inline table that ends on its line, or None where it goes on."""
    try:
        return _fragment(text)
    except _NotPlainError:
        return None


@lru_cache(maxsize=1024)
def _path(text: str) -> tuple[str, ...]:
    """The parts of a key as written: ``hosts."x.test".min_gap``."""
    if _BARE.fullmatch(text):
        return tuple(text.split("."))
    parts: list[str] = []
    found: Any = _fragment(f"{{{text}=0}}")
    while isinstance(found, dict):
        ((part, found),) = found.items()
        parts.append(part)
    return tuple(parts)


class _Reader:
    """One pass over the statements of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.document = Document()
        self.enter(self.document.data)
        # What made each table decides what may still be added to it (TOML 1.0, "Table" and "Dotted keys").
        self.implicit: set[int] = set()
        self.dotted: dict[int, int] = {}
        self.arrays: set[int] = set()
        # Unreachable tables stay alive, or their ids would be given to others.
        self.discarded: list[Table] = []

    def read(self) -> Document:
        text, end, position, line = self.text, len(self.text), 0, 1
        while position < end:
            plain = _PLAIN.match(text, position)
            if plain:
                key, string, boolean, integer = plain.groups()
                if string is None:
                    string = int(integer) if boolean is None else boolean == "true"
                if key in self.table:
                    self.put(self.table, key, string, line)
                else:
                    self.table[key] = string
                    self.lines[key] = line
                position = plain.end()
                line += 1
                continue
            start = position
            blank = _BLANK.match(text, position)
            position = self.statement(position, line) if blank is None or blank.end() == position else blank.end()
            line += text.count("\n", start, position)
        return self.document

    def enter(self, table: Table) -> None:
        self.table, self.lines = table, self.document.keys[id(table)]

    def put(self, table: Table, key: str, value: Any, line: int) -> None:
        if key in table:
            self.document.duplicates.append(Duplicate(key, line, self.document.line(table, key)))
            return
        table[key] = value
        self.document.keys[id(table)][key] = line

    def new(self, line: int) -> Table:
        table: Table = {}
        self.document.keys[id(table)] = {}
        self.document.headers[id(table)] = line
        return table

    def statement(self, position: int, line: int) -> int:
        header = _HEADER.match(self.text, position)
        if header:
            opened, name, closed = header.groups()
            if len(opened) != len(closed):
                raise _NotPlainError
            self.header(_path(name.strip(" \t")), len(opened) == 2, line)
            return header.end()
        one = _ONE_LINE.match(self.text, position)
        if one and (value := _line_value(one[2])) is not None:
            self.put(self.table, one[1], value, line)
            return one.end() - 1
        key = _KEY.match(self.text, position)
        if key is None:
            raise _NotPlainError
        end = self.value_end(key.end())
        value = _fragment(self.text[key.end() : end])
        *parents, last = _path(key[1].strip(" \t"))
        table = self.table
        for part in parents:
            child = table.get(part)
            if child is None:
                child = self.new(line)
                self.put(table, part, child, line)
                self.dotted[id(child)] = id(self.table)
            elif not isinstance(child, dict) or self.dotted.get(id(child)) != id(self.table):
                self.document.duplicates.append(Duplicate(part, line, self.document.line(table, part)))
                return end
            table = child
        self.put(table, last, value, line)
        return end

    def value_end(self, position: int) -> int:
        """Where the value that begins at ``position`` ends: before a line end or comment outside any bracket."""
        depth = 0
        while position < len(self.text):
            piece = _PIECE.match(self.text, position)
            if piece is None:
                raise _NotPlainError
            found = piece[0]
            if found in "[{":
                depth += 1
            elif found in "]}":
                depth -= 1
            elif depth == 0 and (found == "\n" or found[0] == "#"):
                # The comment stays with the blank space, which refuses control characters in it.
                return position
            position = piece.end()
        return position

    def header(self, path: tuple[str, ...], array: bool, line: int) -> None:
        table = self.document.data
        for part in path[:-1]:
            child = table.get(part)
            if child is None:
                child = self.new(line)
                self.implicit.add(id(child))
                self.put(table, part, child, line)
            elif id(child) in self.arrays:
                child = child[-1]
            elif id(child) not in self.document.keys:
                self.again(path, line, self.document.line(table, part))
                return
            table = child
        self.last(table, path, array, line)

    def last(self, table: Table, path: tuple[str, ...], array: bool, line: int) -> None:
        name = path[-1]
        found: Any = table.get(name)
        if array and (found is None or id(found) in self.arrays):
            if found is None:
                found = []
                self.arrays.add(id(found))
                self.put(table, name, found, line)
            self.enter(self.new(line))
            found.append(self.table)
        elif not array and found is None:
            fresh = self.new(line)
            self.put(table, name, fresh, line)
            self.enter(fresh)
        elif not array and id(found) in self.implicit:
            self.implicit.discard(id(found))
            self.document.headers[id(found)] = line
            self.enter(found)
        else:
            self.again(path, line, self.document.line(table, name))

    def again(self, path: tuple[str, ...], line: int, first: int | None) -> None:
        self.document.duplicates.append(Duplicate(".".join(path), line, first))
        self.enter(self.new(line))
        self.discarded.append(self.table)
