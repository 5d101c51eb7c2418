"""Bytes into records: the only place that imports turbohtml and jmespath, on first use."""

from __future__ import annotations

from watcher.extract.compile import compile_fields
from watcher.extract.errors import ExtractError, FieldError
from watcher.extract.explain import FieldReport, Report, explain
from watcher.extract.fields import read_fields
from watcher.extract.noise import RULES, RULES_VERSION
from watcher.extract.record import definition_of, extract_for, extract_record
from watcher.extract.volatile import BEGINS, Flapping, Volatile, find_flapping, find_volatile, volatile_blocks

__all__ = [
    "BEGINS",
    "RULES",
    "RULES_VERSION",
    "ExtractError",
    "FieldError",
    "FieldReport",
    "Flapping",
    "Report",
    "Volatile",
    "compile_fields",
    "definition_of",
    "explain",
    "extract_for",
    "extract_record",
    "find_flapping",
    "find_volatile",
    "read_fields",
    "volatile_blocks",
]
