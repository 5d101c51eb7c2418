"""No room too big to be read at once: files and functions stay small."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LONGEST_FILE = 400
LONGEST_FUNCTION = 60
FILES = sorted(path for folder in ("watcher", "tests") for path in (ROOT / folder).rglob("*.py"))


def test_there_is_something_to_measure() -> None:
    assert len(FILES) > 100


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_and_its_functions_are_small(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= LONGEST_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            lines = (node.end_lineno or first) - first + 1
            assert lines <= LONGEST_FUNCTION, f"{node.name} has {lines} lines"
