"""JMESPath over exact numbers: the one room that imports jmespath."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions

from watcher.core.model import Value


class _ExactFunctions(Functions):  # type: ignore[misc]
    """JMESPath's functions, which know no Decimal: they see floats, and what they compute is made exact again."""

    def call_function(self, function_name: str, resolved_args: list[Any]) -> Any:
        return super().call_function(function_name, [_inexact(arg) for arg in resolved_args])


def _inexact(value: Any) -> Any:
    match value:
        case Decimal():
            return float(value)
        case list():
            return [_inexact(item) for item in value]
        case dict():
            return {key: _inexact(item) for key, item in value.items()}
    return value


def _exact(value: Any) -> Value:
    match value:
        case float():
            exact = Decimal(repr(value))
            return exact if exact.is_finite() else None
        case list():
            return [_exact(item) for item in value]
        case dict():
            return {key: _exact(item) for key, item in value.items()}
    return value


def compile_query(path: str, shown: str) -> Callable[[Value], tuple[bool, Value]]:
    """Compile ``path``; the query answers whether the result is other than null, and the result.

    Raises:
        ValueError: it does not parse (from compiling), or does not fit the data (from the query). One sentence.
    """
    try:
        compiled = jmespath.compile(path)
    except JMESPathError as error:
        raise ValueError(f"`{shown}` is not a JMESPath expression: {_first_line(error)}") from None
    options = jmespath.Options(custom_functions=_ExactFunctions())

    def query(value: Value) -> tuple[bool, Value]:
        try:
            found = _exact(compiled.search(value, options=options))
        except (JMESPathError, RecursionError, OverflowError) as error:
            raise ValueError(f"`{shown}` does not fit this JSON: {_first_line(error)}") from None
        return found is not None, found

    return query


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0].rstrip(":").removesuffix(", for expression")
