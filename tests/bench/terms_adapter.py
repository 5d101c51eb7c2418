"""The detector that ``terms_eval.py`` measures: one ``content`` field over the declared region, or the smart record."""

from __future__ import annotations

from watcher.core.model import Field, FieldType
from watcher.extract import ExtractError, extract_record


def detect(body: bytes, url: str, select: list[str] | None, remove: list[str] | None) -> str | None:
    """The change fingerprint of a page, or None where the region is not found."""
    fields = ()
    if select is not None:
        fields = (Field(name="content", css=", ".join(select), type=FieldType.CONTENT, remove=tuple(remove or ())),)
    try:
        return extract_record(body, url=url, fields=fields).fingerprint
    except ExtractError:
        return None
