"""What can go wrong between a body and a record, each as one sentence."""

from __future__ import annotations


class ExtractError(Exception):
    """A body that does not give the record asked for.

    ``kind`` is stable and for programs: ``broken:selector`` (a required field matches nothing), ``broken:value``
    (what it matches cannot be read as declared), ``broken:json``, ``broken:xml``, ``broken:binary``,
    ``broken:empty``, ``broken:pdf``. ``field`` names the field, where it is one field's fault.
    """

    def __init__(self, kind: str, message: str, field: str | None = None) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.kind = kind
        self.message = message
        self.field = field


class FieldError(ValueError):
    """One or more wrong field definitions, found before anything is fetched.

    ``problems`` holds ``(field, sentence)`` pairs in the order of the definitions; ``str()`` is one line for each.
    """

    def __init__(self, problems: tuple[tuple[str, str], ...]) -> None:
        super().__init__("\n".join(f"{field}: {sentence}" for field, sentence in problems))
        self.problems = problems
