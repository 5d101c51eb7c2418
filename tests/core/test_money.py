"""Prices by ISO 4217."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from watcher.core.money import amount, exponent_of, is_price, show_price


@pytest.mark.parametrize(("currency", "exponent"), [("EUR", 2), ("JPY", 0), ("KWD", 3), ("CLF", 4), (None, 2)])
def test_minor_units_by_currency(currency: str | None, exponent: int) -> None:
    assert exponent_of(currency) == exponent
    assert amount({"minor": 12345, "currency": currency}) == Decimal(12345).scaleb(-exponent)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"minor": 1, "currency": "EUR"}, True),
        ({"minor": 1, "currency": None}, True),
        ({"minor": "1", "currency": "EUR"}, False),
        ({"minor": 1}, False),
        ({"minor": 1, "currency": "EUR", "x": 1}, False),
        ("1 EUR", False),
        (None, False),
    ],
)
def test_only_a_price_is_a_price(value: Any, expected: bool) -> None:
    assert is_price(value) is expected


def test_prices_keep_their_zeros() -> None:
    assert show_price({"minor": 500, "currency": "EUR"}) == "5.00 EUR"
    assert show_price({"minor": -5, "currency": None}) == "-0.05"
