"""The door of this package: a body and field definitions in, a record out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from watcher.core.fingerprint import change_fingerprint
from watcher.core.model import Detect, Field, FieldType, Record, Value, Watch
from watcher.extract.compile import compile_fields
from watcher.extract.document import Page
from watcher.extract.fields import Definitions
from watcher.extract.noise import RULES_VERSION
from watcher.extract.pick import Scope, is_list, pick
from watcher.extract.smart import UNTRACKED, Options, smart_values
from watcher.extract.values import value_of


def _definition(fields: Sequence[Field], options: Options, encoding: str | None, detect: Detect) -> str:
    parts = [RULES_VERSION, list(fields), options.remove, sorted(options.disabled), encoding, detect, options.ignore]
    return f"{RULES_VERSION}:{hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:32]}"


def definition_of(watch: Watch) -> str:
    """What the watch's records are made by: its field definitions, options and the version of our rules.

    A stored record with another definition is not comparable: the outcome is ``redefined``, never ``changed``.
    """
    options = Options(watch.remove, frozenset(watch.disabled_rules), ignore=watch.ignore)
    return _definition(watch.fields, options, watch.request.encoding, watch.detect)


def _read(fields: Sequence[Field], page: Page, options: Options) -> tuple[dict[str, Value], tuple[str, ...]]:
    """The fields' values, and a note for each scalar that had several nodes to choose from."""
    values: dict[str, Value] = {}
    notes = []
    for field in fields:
        found = pick(field, Scope(page), options.remove)
        values[field.name] = value_of(field, found, Scope(page), options.disabled, options.ignore)
        if len(found) > 1 and not is_list(field) and not field.each and field.type is not FieldType.CONTENT:
            notes.append(f"{field.name}: {len(found)} nodes match, the first is taken")
    return values, tuple(notes)


def _untracked(values: Mapping[str, Value], fields: Sequence[Field]) -> tuple[str, ...]:
    if fields:
        return tuple(field.name for field in fields if not field.track)
    return tuple(name for name in UNTRACKED if name in values)


def _bytes_record(body: bytes) -> dict[str, Value]:
    return {"body": f"sha256:{hashlib.sha256(body).hexdigest()}"}


def extract_record(
    body: bytes,
    *,
    content_type: str | None = None,
    url: str = "",
    fields: Definitions | None = None,
    encoding: str | None = None,
    remove: Sequence[str] = (),
    disabled_rules: Sequence[str] = (),
    volatile: Sequence[str] = (),
    ignore: Sequence[str] = (),
    detect: Detect = Detect.FIELDS,
) -> Record:
    """Read the record of a page: its fields, or without any the smart record (RECORDS.md sections 2 and 5).

    ``encoding`` overrules every declaration of the body's encoding. ``remove`` drops nodes first, for all fields.
    ``disabled_rules`` names noise rules to switch off. ``volatile`` holds the keys of places to leave out of the smart
    record's ``content`` (:mod:`watcher.extract.volatile`), ``ignore`` texts to leave out of any content.
    ``detect="bytes"`` hashes the body and reads nothing.

    Raises:
        ExtractError: the body does not give this record; nothing of it may be stored.
        FieldError: the definitions are wrong (found at config load already for a configured watch).
    """
    compiled = compile_fields(fields or {}, remove=remove)
    options = Options(tuple(remove), frozenset(disabled_rules), tuple(volatile), tuple(ignore))
    page = Page(body, content_type, url, encoding, options.disabled)
    notes: tuple[str, ...] = ()
    if detect is Detect.BYTES:
        values: dict[str, Value] = _bytes_record(body)
    elif compiled:
        values, notes = _read(compiled, page, options)
    else:
        values = smart_values(page, options)
    record = Record(
        values=values,
        definition=_definition(compiled, options, encoding, detect),
        untracked=_untracked(values, compiled),
        personal=tuple(field.name for field in compiled if field.personal),
        notes=notes,
    )
    return msgspec.structs.replace(record, fingerprint=change_fingerprint(record))


def extract_for(
    watch: Watch, body: bytes, *, content_type: str | None, url: str, volatile: Sequence[str] = ()
) -> Record:
    """The record of ``watch`` from a body; :func:`extract_record` with everything the watch says."""
    return extract_record(
        body,
        content_type=content_type,
        url=url,
        fields=watch.fields,
        encoding=watch.request.encoding,
        remove=watch.remove,
        disabled_rules=watch.disabled_rules,
        volatile=volatile,
        ignore=watch.ignore,
        detect=watch.detect,
    )
