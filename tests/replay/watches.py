"""A case's watch in the words of our own configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.replay.cases import NotPlayable
from tests.support.wire import fill

Table = dict[str, Any]

OPTIONS = {
    "interval": "interval",
    "min_interval": "min_interval",
    "max_interval": "max_interval",
    "max_body": "max_body",
    "conditional": "conditional",
    "encoding": "encoding",
    "forbid_redirect_to": "forbid_redirect_to",
    "timeout": "timeout",
    "total_timeout": "timeout",
    "headers": "headers",
    "method": "method",
    "remove": "remove",
    "type": "type",
}
"""The names the cases suggest for options, and ours."""

FIELD_KEYS = {"css", "xpath", "json", "regex", "attr", "all", "unordered", "optional", "type", "decimal", "each"}
SAME_KEYS = {"grouping", "remove", "replace", "currency", "timezone", "track"}
KINDS = {"datetime": "date"}


def watch_table(name: str, url: str, watch: Mapping[str, Any], names: Mapping[str, str]) -> Table:
    """The ``[[watch]]`` table of a case's watch, called ``name``, at ``url`` (templates and paths filled in)."""
    table: Table = {"name": name, "url": absolute(url, names)}
    for option, value in watch.get("options", {}).items():
        table.update(_option(option, value))
    fields = watch.get("fields", {})
    if any(spec.get("body") for spec in fields.values()):
        if len(fields) > 1:
            raise NotPlayable("a whole-body field beside others")
        table["detect"] = "bytes"
    elif fields:
        table["fields"] = {field: _field(spec) for field, spec in fields.items()}
    return table


def absolute(url: str, names: Mapping[str, str]) -> str:
    """A path or a templated URL as an absolute one."""
    filled = fill(url, names, 0.0)
    return f"{names['base']}{filled}" if filled.startswith("/") else filled


def _option(option: str, value: Any) -> Table:
    if option in ("robots", "obey_robots"):
        return {"robots": "ignore" if value in (False, "ignore") else "obey"}
    if option not in OPTIONS:
        raise NotPlayable(f"option {option!r} has no counterpart here")
    return {OPTIONS[option]: value}


def _field(spec: Mapping[str, Any]) -> Table:
    unknown = set(spec) - FIELD_KEYS - SAME_KEYS
    if unknown:
        raise NotPlayable(f"field keys without a counterpart here: {', '.join(sorted(unknown))}")
    table: Table = {key: value for key, value in spec.items() if value is not False}
    if "type" in table:
        table["type"] = KINDS.get(table["type"], table["type"])
    if "each" in table:
        table["each"] = {name: _field(inner) for name, inner in table["each"].items()}
    return table
