"""Prices as values: ``{"minor": 1999, "currency": "EUR"}``, integer minor units by ISO 4217."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from watcher.core.model import Value

_BY_EXPONENT = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
EXPONENTS = {code: exponent for exponent, codes in _BY_EXPONENT.items() for code in codes.split()}
"""Decimal places of a currency's minor unit where they are not 2 (ISO 4217, list one)."""


def exponent_of(currency: str | None) -> int:
    """How many decimals the currency's amounts have; 2 when it is unknown."""
    return EXPONENTS.get(currency or "", 2)


def is_price(value: Value) -> bool:
    """Whether ``value`` is a price."""
    return isinstance(value, Mapping) and set(value) == {"minor", "currency"} and isinstance(value["minor"], int)


def amount(price: Value) -> Decimal:
    """The amount of a price in whole units, exactly: 1999 EUR cents are ``19.99``."""
    return Decimal(price["minor"]).scaleb(-exponent_of(price["currency"]))


def show_price(price: Value) -> str:
    """``19.99 EUR``, or ``19.99`` where the currency is unknown."""
    return " ".join(filter(None, (f"{amount(price):f}", price["currency"])))
