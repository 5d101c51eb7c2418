"""The door of this package: a body and field definitions in, a record out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from watcher.core.fingerprint import change_fingerprint
from watcher.core.model import Detect, Field, Record, Value, Watch
from watcher.extract.compile import compile_fields
from watcher.extract.document import Page
from watcher.extract.fields import Definitions
from watcher.extract.noise import RULES_VERSION
from watcher.extract.pick import Scope, is_list, pick
from watcher.extract.smart import UNTRACKED, Options, smart_values
from watcher.extract.values import read_field


def _definition(
    fields: Sequence[Field], remove: Sequence[str], disabled_rules: Sequence[str], encoding: str | None, detect: Detect
) -> str:
    parts = [RULES_VERSION, list(fields), list(remove), sorted(disabled_rules), encoding, detect]
    return f"{RULES_VERSION}:{hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:32]}"


def definition_of(watch: Watch) -> str:
    """What the watch's records are made by: its field definitions, options and the version of our rules.

    A stored record with another definition is not comparable: the outcome is ``redefined``, never ``changed``.
    """
    return _definition(watch.fields, watch.remove, watch.disabled_rules, watch.request.encoding, watch.detect)


def _notes(fields: Sequence[Field], page: Page, remove: tuple[str, ...]) -> tuple[str, ...]:
    notes = []
    for field in fields:
        if not is_list(field) and not field.each and (field.css or field.xpath):
            count = len(pick(field, Scope(page), remove))
            if count > 1:
                notes.append(f"{field.name}: {count} nodes match, the first is taken")
    return tuple(notes)


def _untracked(values: Mapping[str, Value], fields: Sequence[Field]) -> tuple[str, ...]:
    if fields:
        return tuple(field.name for field in fields if not field.track)
    return tuple(name for name in UNTRACKED if name in values)


def _bytes_record(body: bytes) -> dict[str, str]:
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
    detect: Detect = Detect.FIELDS,
) -> Record:
    """Read the record of a page: its fields, or without any the smart record (RECORDS.md sections 2 and 5).

    ``encoding`` overrules every declaration of the body's encoding. ``remove`` drops nodes first, for all fields.
    ``disabled_rules`` names noise rules to switch off; ``volatile`` holds the keys of places to leave
    out of ``content`` (:mod:`watcher.extract.volatile`). ``detect="bytes"`` hashes the body and reads nothing.

    Raises:
        ExtractError: the body does not give this record; nothing of it may be stored.
        FieldError: the definitions are wrong (found at config load already for a configured watch).
    """
    compiled = compile_fields(fields or {}, remove=remove)
    drop, disabled = tuple(remove), frozenset(disabled_rules)
    notes: tuple[str, ...] = ()
    if detect is Detect.BYTES:
        values = _bytes_record(body)
    elif compiled:
        page = Page(body, content_type, url, encoding, disabled)
        values = {f.name: read_field(f, Scope(page), drop, disabled, tuple(volatile)) for f in compiled}
        notes = _notes(compiled, page, drop)
    else:
        page = Page(body, content_type, url, encoding, disabled)
        values = smart_values(page, Options(drop, disabled, tuple(volatile)))
    record = Record(
        values=values,
        definition=_definition(compiled, drop, disabled_rules, encoding, detect),
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
        detect=watch.detect,
    )
