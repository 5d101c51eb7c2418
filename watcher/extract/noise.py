"""The noise rules."""

from __future__ import annotations

from typing import NamedTuple

RULES_VERSION = 1


class Rule(NamedTuple):
    """One kind of noise."""

    name: str


RULES: tuple[Rule, ...] = ()
