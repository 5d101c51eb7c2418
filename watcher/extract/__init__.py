"""Bytes into records: the only place that imports turbohtml and jmespath, on first use."""

from __future__ import annotations

from watcher.extract.compile import compile_fields
from watcher.extract.errors import ExtractError, FieldError
from watcher.extract.fields import read_fields
from watcher.extract.record import definition_of, extract_for, extract_record

__all__ = [
    "ExtractError",
    "FieldError",
    "compile_fields",
    "definition_of",
    "extract_for",
    "extract_record",
    "read_fields",
]
