"""Numbers, prices and dates: exactly, and without guessing."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.core.money import show_price
from watcher.extract.dates import parse_date
from watcher.extract.numbers import machine_price, parse_number, parse_price


@pytest.mark.parametrize(
    ("text", "decimal", "expected"),
    [
        ("¥8,000", ".", 8000),
        ("8,000 JPY", ".", 8000),
        ("￥８，０００", ".", 8000),
        ("KD 1.250", ".", Decimal("1.25")),
        ("1,250 KD", ".", 1250),
        ("8000円", None, 8000),
        ("1.299,00", None, 1299),
        ("1.299", ",", 1299),
        ("1,23,456.00", None, 123456),
        ("1 234 567", None, 1234567),
        ("1’299.50", None, Decimal("1299.5")),
        ("٣٫٥", None, Decimal("3.5")),
        ("−5,5 °C", ",", Decimal("-5.5")),
        ("- 5", None, -5),
        (".5", None, Decimal("0.5")),
        ("0.125", None, Decimal("0.125")),
        ("01549.500", ".", Decimal("1549.5")),
        ("5 kg", None, 5),
        ("1.000.000", None, 1000000),
        (Decimal("1E+3"), None, Decimal(1000)),
        (7, None, 7),
    ],
)
def test_a_number_is_read_exactly(text: Any, decimal: str | None, expected: Any) -> None:
    assert parse_number(text, decimal) == expected


@pytest.mark.parametrize(
    ("text", "decimal", "reason"),
    [
        ("12 - 15", None, "more than one number"),
        ("none", None, "no number"),
        ("1,234", None, "thousands or with decimals"),
        ("1.2k", None, "abbreviated"),
        ("3M", None, "abbreviated"),
        ("1,2", ".", "is not a number with `.`"),
        ("12,34,5", None, "is not a number"),
        (True, None, "not a number"),
        ([1], None, "not a number"),
    ],
)
def test_what_is_not_one_number_is_refused(text: Any, decimal: str | None, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_number(text, decimal)


@given(st.integers(min_value=-(10**12), max_value=10**12), st.integers(min_value=0, max_value=4), st.sampled_from(".,"))
def test_a_written_number_is_read_back(digits: int, places: int, decimal: str) -> None:
    number = Decimal(digits).scaleb(-places)
    grouping = "," if decimal == "." else "."
    text = f"{number:,f}".replace(",", "_").replace(".", decimal).replace("_", grouping)
    assert parse_number(text, decimal) == number


@pytest.mark.parametrize(
    ("text", "currency", "expected"),
    [
        ("€ 1.299,00", None, "1299.00 EUR"),
        ("1,299.00", "USD", "1299.00 USD"),
        ("1 299,50 kr", "SEK", "1299.50 SEK"),
        ("12,000", "JPY", "12000 JPY"),
        ("1'299.-", "CHF", "1299.00 CHF"),
        ("129,- NOK", None, "129.00 NOK"),
        ("1.299 €", None, "1299.00 EUR"),
        ("1.250", "KWD", "1.250 KWD"),
        ("0,99 €", None, "0.99 EUR"),
        ("$19.99", None, "19.99 USD"),
        ("CA$5", None, "5.00 CAD"),
        ("19.99", None, "19.99"),
        (Decimal("19.99"), "EUR", "19.99 EUR"),
    ],
)
def test_a_price_is_minor_units_and_a_currency(text: Any, currency: str | None, expected: str) -> None:
    price = parse_price(text, currency)
    assert price is not None
    assert show_price(price) == expected


@pytest.mark.parametrize("text", ["Free", "£12 - £15", "1 EUR = 1.1 USD", "1.2k €", "0.125 USD", "", None, True])
def test_what_is_not_one_price_is_none(text: Any) -> None:
    assert parse_price(text) is None


def test_machine_prices_are_read_by_their_own_rule() -> None:
    assert machine_price("1.299", "EUR") is None
    assert machine_price("1299.5", "EUR") == {"minor": 129950, "currency": "EUR"}
    assert machine_price("1.299,00", "EUR") == {"minor": 129900, "currency": "EUR"}


@pytest.mark.parametrize(
    ("text", "timezone", "expected"),
    [
        ("2026-01-05T10:00:00+01:00", None, "2026-01-05T09:00:00Z"),
        ("2026-01-05T09:00:00Z", None, "2026-01-05T09:00:00Z"),
        ("2026-01-05 09:00", None, "2026-01-05T09:00:00"),
        ("2026-01-05 09:00", "Europe/Berlin", "2026-01-05T08:00:00Z"),
        ("2026-01-05", "Europe/Berlin", "2026-01-05"),
        ("Mon, 05 Jan 2026 10:00:00 +0100", None, "2026-01-05T09:00:00Z"),
        ("January 5, 2026", None, "2026-01-05"),
        ("Monday, 5th Jan. 2026", None, "2026-01-05"),
        ("05/06/2026", None, None),
        ("2026-02-30", None, None),
        ("May 2026", None, None),
        ("1 hour ago", None, None),
    ],
)
def test_dates_are_read_where_nobody_can_mistake_them(text: str, timezone: str | None, expected: str | None) -> None:
    assert parse_date(text, timezone) == expected
