"""What a step is expected to come to, as sets of acceptable answers that an overruling design rule may replace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.replay.cases import NotPlayable

ANY = object()
"""Nothing is expected of this."""


def options(expected: Any) -> list[Any]:
    """``{"any_of": [...]}`` as its list, anything else as a list of one."""
    if isinstance(expected, Mapping):
        if set(expected) != {"any_of"}:
            raise NotPlayable(f"an expectation this replay cannot read: {dict(expected)}")
        return list(expected["any_of"])
    return [expected]


@dataclass
class Told:
    """Acceptable outcomes, events and header values (None = absent) of one step. ``overruled`` says which rule won."""

    outcomes: list[str] | None
    events: list[str] | None
    headers: dict[str, list[str | None]]
    record: Any = ANY
    requests: Any = ANY
    overruled: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, expect: Mapping[str, Any]) -> Told:
        """Read a step's ``expect``."""
        return cls(
            outcomes=options(expect["outcome"]) if "outcome" in expect else None,
            events=options(expect["event"]) if "event" in expect else None,
            headers={name: options(value) for name, value in expect.get("request_headers_expected", {}).items()},
            record=expect.get("record", ANY),
            requests=expect.get("requests", ANY),
        )

    def overrule(self, rule: str, **instead: Any) -> None:
        """Replace what the case expects by what our contract demands, and note the rule that says so."""
        for name, value in instead.items():
            setattr(self, name, value)
        self.overruled.append(rule)


def counts(expected: Any) -> Callable[[int], bool]:
    """A test for a number of requests: ``1``, ``{"min": 1, "max": 21}`` or ``{"any_of": [1, 2]}``."""
    if isinstance(expected, Mapping) and ("min" in expected or "max" in expected):
        low, high = expected.get("min", 0), expected.get("max", float("inf"))
        return lambda number: low <= number <= high
    return lambda number: number in options(expected)
