"""``[[watch]]`` tables -> :class:`~watcher.core.model.Watch` values, everything wrong with them noted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from watcher.config import cadence, readers, request
from watcher.config.problems import did_you_mean
from watcher.config.readers import Mistake, Schema
from watcher.config.source import Source
from watcher.config.tables import Surroundings
from watcher.config.toml import Table
from watcher.core.model import Detect, Field, Watch
from watcher.core.urls import Url, UrlError, parse_url


def _address(value: Any) -> Url | str:
    """An http(s) URL, or the text of a ``file:`` URL with an absolute path."""
    found = readers.free_text(value)
    if not found.strip().lower().startswith("file:"):
        try:
            return parse_url(found)
        except UrlError as error:
            raise Mistake(str(error)) from None
    parts = urlsplit(readers.text(found))
    if parts.netloc not in ("", "localhost") or not unquote(parts.path).startswith("/"):
        raise Mistake("a file: URL needs an absolute path on this machine", "write file:///home/me/page.html")
    return f"file://{parts.path}"


def _table(value: Any) -> Any:
    if not isinstance(value, dict):
        raise readers.wrong_type("a table of fields", value, 'write [watch.fields], then title = "h1"')
    return value


OWN: Schema = {
    "name": readers.text,
    "url": _address,
    "command": readers.argv,
    "type": readers.text,
    "tags": readers.texts,
    "priority": readers.positive,
    "fields": _table,
    "remove": readers.texts,
    "ignore": readers.texts,
    "detect": lambda value: Detect(readers.choice(*(way.value for way in Detect))(value)),
    "retention": readers.text,
    "notify_when": readers.text,
    "disabled_rules": readers.texts,
}
SCHEMA: Schema = {**OWN, **cadence.LEVEL, **request.SCHEMA}
"""Every key of ``[[watch]]``."""

_FIELD_KEY = re.compile(r"unknown key `([^`]*)`")


def read_watch(source: Source, table: Table, around: Surroundings) -> Watch | None:
    """One watch, or None where what is wrong with it (noted) leaves nothing to run."""
    values = source.values(table, "watch", SCHEMA)
    url = values.get("url")
    shown = url.full if isinstance(url, Url) else url
    command = values.get("command", ())
    if not url and not command and "url" not in table and "command" not in table:
        source.mistake(table, "watch", "url", Mistake("is missing", 'add url = "https://..."'))
    name = values.get("name") or shown or shlex.join(command)
    kind = values.get("type", "listing")
    if kind not in around.types:
        wrong = Mistake(f"there is no page type {kind!r}", did_you_mean(kind, around.types, f"[page_types.{kind}]"))
        source.mistake(table, "watch", "type", wrong)
    retention = values.get("retention", around.retention_of(kind))
    if retention not in around.retention:
        advice = did_you_mean(retention, around.retention, f"[retention.{retention}]")
        source.mistake(table, "watch", "retention", Mistake(f"there is no retention class {retention!r}", advice))
    own = cadence.with_cron({key: value for key, value in values.items() if key in cadence.LEVEL})
    for key, mistake in cadence.check_level(own, None) if own else ():
        source.mistake(table, "watch", key, mistake)
    fields = _fields(source, table, values, around)
    _condition(source, table, values, fields)
    try:
        options = request.request_options(values, url if isinstance(url, Url) else None)
    except Mistake as mistake:
        source.mistake(table, "watch", "body", mistake)
        return None
    if not name:
        return None
    return Watch(
        name=name,
        url=shown or "command:" + shlex.join(command),
        command=command,
        type=kind,
        tags=values.get("tags", ()),
        priority=values.get("priority", 1.0),
        fields=fields,
        remove=values.get("remove", ()),
        ignore=values.get("ignore", ()),
        detect=values.get("detect", Detect.FIELDS),
        cadence=around.cadence(own, values.get("tags", ()), url.host if isinstance(url, Url) else "", kind),
        request=options,
        retention=retention,
        notify_when=values.get("notify_when"),
        disabled_rules=values.get("disabled_rules", ()),
        declared_in=str(source.path),
        declared_line=source.document.line(table),
    )


def _fields(source: Source, table: Table, values: Mapping[str, Any], around: Surroundings) -> tuple[Field, ...]:
    """The watch's fields with their selectors compiled; equal definitions are compiled once."""
    given: Table = values.get("fields", {})
    remove, disabled = values.get("remove", ()), values.get("disabled_rules", ())
    if not given and not remove and not disabled:
        return ()
    from watcher.extract import FieldError, compile_fields

    known = repr((given, remove, disabled))
    found = around.fields.get(known)
    if found is None:
        try:
            found = around.fields[known] = compile_fields(given, remove=remove, disabled_rules=disabled)
        except FieldError:
            _field_problems(source, table, given, {"remove": remove, "disabled_rules": disabled})
            return ()
    return found


def _field_problems(source: Source, table: Table, fields: Table, options: Mapping[str, Any]) -> None:
    """Note everything wrong with a watch's fields, one field at a time, so that none hides another."""
    for key, value in options.items():
        for _, sentence in _field_errors({}, **{key: value}):
            source.mistake(table, "watch", key, Mistake(sentence))
    for name, definition in fields.items():
        for path, sentence in _field_errors({name: definition}):
            _field_problem(source, table, fields, path, sentence)


def _field_errors(fields: Table, **options: Any) -> list[tuple[str, str]]:
    """What the extractor says of one field: also of its selectors where a key of it is unknown."""
    from watcher.extract import FieldError, compile_fields

    try:
        compile_fields(fields, **options)
    except FieldError as error:
        unknown = {key[1] for _, sentence in error.problems if (key := _FIELD_KEY.match(sentence))}
        found = list(error.problems)
        for name, definition in fields.items():
            if isinstance(definition, dict) and unknown & definition.keys():
                rest = {key: value for key, value in definition.items() if key not in unknown}
                found += _field_errors({name: rest})
        return found
    return []


def _field_problem(source: Source, table: Table, fields: Table, path: str, sentence: str) -> None:
    """Note what the extractor says of the field ``path``, at the line of the key it names."""
    message, _, advice = sentence.partition("; ")
    line, inside = source.document.line(table, "fields"), fields
    for part in path.split("."):
        line = source.document.line(inside, part) or line
        definition = inside.get(part)
        if not isinstance(definition, dict):
            break
        unknown = _FIELD_KEY.match(sentence)
        line = source.document.line(definition, unknown[1] if unknown else message.split(" ")[0].rstrip(":")) or line
        inside = definition.get("each", {})
    source.problem(message, line=line, key=f"watch.fields.{path}", suggestion=advice or None)


def _condition(source: Source, table: Table, values: Mapping[str, Any], fields: tuple[Field, ...]) -> None:
    """Check ``notify_when`` against the watch's fields."""
    if "notify_when" not in values:
        return
    from watcher.core.conditions import ConditionError, compile_condition

    try:
        compile_condition(values["notify_when"], fields)
    except ConditionError as error:
        source.mistake(table, "watch", "notify_when", Mistake(str(error).rstrip(".")))
