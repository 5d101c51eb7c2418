"""A configuration file on its way in: its text, its tables with their lines, and the list of what is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from watcher.config.problems import Problem, did_you_mean
from watcher.config.readers import Mistake, Schema, kind
from watcher.config.toml import Document, Table, TomlError, read_toml


class Source:
    """One file and its tables. Problems go to the list shared by all files of a configuration."""

    def __init__(self, path: Path, problems: list[Problem]) -> None:
        self.path = path
        self.problems = problems
        self.document = Document()

    def read(self) -> Table | None:
        """The file's tables; None where there is no file; empty, with a problem noted, where it is unusable."""
        try:
            raw = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self.problem(f"cannot be read: {error.strerror}", suggestion="check its permissions and kind")
            return {}
        return self.parse(raw)

    def parse(self, raw: bytes) -> Table:
        """Like :meth:`read`, of bytes at hand."""
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            self.problem(f"byte 0x{raw[error.start]:02x} is not UTF-8", line=line, suggestion="save the file as UTF-8")
            return {}
        try:
            self.document = read_toml(text)
        except TomlError as error:
            column = f", column {error.column}" if error.column else ""
            self.problem(f"not TOML{column}: {error.reason}", line=error.line, suggestion=_syntax_advice(error.reason))
            return {}
        for again in self.document.duplicates:
            first = f", first on line {again.first}" if again.first else ""
            self.problem(f"stands here a second time{first}", line=again.line, key=again.key, suggestion="keep one")
        return self.document.data

    def problem(
        self, message: str, *, line: int | None = None, key: str | None = None, suggestion: str | None = None
    ) -> None:
        """Note one problem of this file."""
        self.problems.append(Problem(file=self.path, line=line, key=key, message=message, suggestion=suggestion))

    def mistake(self, table: Table, where: str, key: str, mistake: Mistake, line: int | None = None) -> None:
        """Note what is wrong with ``key`` of ``table``, which the file calls ``where``; ``line`` is a last resort."""
        place = self.document.line(table, key) or self.document.line(table) or line
        name = f"{where}.{key}" if where else key
        self.problem(str(mistake), line=place, key=name, suggestion=mistake.suggestion)

    def values(self, table: Table, where: str, schema: Schema, line: int | None = None) -> dict[str, Any]:
        """The checked values of the keys that stand in ``table``; wrong and unknown ones are noted and left out."""
        found: dict[str, Any] = {}
        for key, value in table.items():
            reader = schema.get(key)
            try:
                if reader is None:
                    raise Mistake("unknown key", did_you_mean(key, schema))
                found[key] = reader(value)
            except Mistake as mistake:
                self.mistake(table, where, key, mistake, line)
        return found

    def table(self, parent: Table, key: str) -> Table:
        """The table ``key`` of ``parent``; empty where it is absent or, noted, something else."""
        found = parent.get(key, {})
        if isinstance(found, dict):
            return found
        self.mistake(parent, "", key, Mistake(f"must be a table, not {kind(found)}", f"write [{key}]"))
        return {}

    def tables(self, parent: Table, key: str, known: Iterable[str] | None = None) -> Iterable[tuple[str, Table]]:
        """The named tables under ``key`` (``[key.name]``), each a table."""
        section = self.table(parent, key)
        for name, value in section.items():
            if isinstance(value, dict):
                yield name, value
            else:
                advice = f"write [{key}.NAME] above it" if known is None else did_you_mean(name, known)
                self.mistake(section, key, name, Mistake(f"must be a table, not {kind(value)}", advice))

    def array(self, parent: Table, key: str, shown: str) -> Iterable[Table]:
        """The tables of ``[[key]]``."""
        found = parent.get(key, [])
        if isinstance(found, list) and all(isinstance(item, dict) for item in found):
            return found
        self.mistake(parent, "", key, Mistake(f"must be a list of tables, not {kind(found)}", f"write [[{shown}]]"))
        return []


def _syntax_advice(reason: str) -> str | None:
    """What the parser's commonest complaints come from."""
    if "Illegal character '\\n'" in reason:
        return "a quote is not closed on this line"
    if reason.startswith("Invalid value"):
        return "text needs quotes, durations too"
    if reason.startswith("Expected '='"):
        return 'a key is followed by = and a value; names with odd characters need quotes: "x.test"'
    if "escape" in reason.lower() or "Unescaped" in reason:
        return "write regular expressions and Windows paths in single quotes"
    return None
