"""Numbers and prices, read exactly and never guessed: what is not one number is an error, or stays text."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

from watcher.core.fingerprint import normalise
from watcher.core.model import Value
from watcher.core.money import exponent_of

_SPACES = " '’_"
_TOKEN = re.compile(r"(?:(?<![\w.,])[.,](?=\d))?\d(?:[\d.,'’_]|[ ](?=\d{3}(?!\d)))*")
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,6})?")
_GROUPED = re.compile(r"\d{1,3}(?:\d{2,3})*")
_TRAILING_DASH = re.compile(r"([.,])[-–—]+")
_ABBREVIATED = re.compile(r"\s?(?:[kKMB]|bn|mln|mio|mrd)\b")
_WIDE = str.maketrans("，．٫٬−－＋", ",..,--+")

_SYMBOLS = {
    "€": "EUR", "£": "GBP", "¥": "JPY", "円": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB", "₺": "TRY", "₫": "VND",
    "₴": "UAH", "₪": "ILS", "₱": "PHP", "฿": "THB", "₦": "NGN", "₵": "GHS", "₲": "PYG", "₡": "CRC", "₸": "KZT",
    "US$": "USD", "CA$": "CAD", "C$": "CAD", "A$": "AUD", "AU$": "AUD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD",
    "NT$": "TWD", "R$": "BRL", "MX$": "MXN", "$": "USD", "zł": "PLN", "Kč": "CZK", "KD": "KWD", "CHF": "CHF",
}  # fmt: skip
_SYMBOL = re.compile("|".join(sorted(map(re.escape, _SYMBOLS), key=len, reverse=True)))
_CODE = re.compile(r"(?<![A-Za-z])([A-Z]{3})(?![A-Za-z])")
_CURRENCIES = (
    "AED AFN ALL AMD ARS AUD AZN BAM BDT BGN BHD BND BOB BRL BWP BYN CAD CHF CLP CNY COP CRC CZK DKK DOP DZD EGP ETB "
    "EUR FJD GBP GEL GHS GTQ HKD HNL HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KHR KRW KWD KZT LBP LKR LYD MAD MDL "
    "MKD MMK MNT MOP MUR MXN MYR NAD NGN NIO NOK NPR NZD OMR PAB PEN PHP PKR PLN PYG QAR RON RSD RUB SAR SEK SGD SYP "
    "THB TND TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND XAF XOF XPF YER ZAR ZMW"
)
CODES = frozenset(_CURRENCIES.split())
"""The currency codes (ISO 4217) that are read as such."""


def _ascii_digits(text: str) -> str:
    """Decimal digits of any script as 0-9, full-width and Arabic separators as ``.`` and ``,``."""
    text = text.translate(_WIDE)
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char, char)) for char in text)


def _one_token(text: str) -> tuple[str, str, str]:
    """The only number in ``text``: its sign, its characters, and what follows it.

    Raises:
        ValueError: there is none, or more than one.
    """
    found = list(_TOKEN.finditer(text))
    if not found:
        raise ValueError("there is no number in it")
    if len(found) > 1:
        raise ValueError("there is more than one number in it")
    start, end = found[0].span()
    before = text[:start].rstrip()
    minus = before.endswith("-") and (len(before) == 1 or not before[-2].isalnum())
    return "-" if minus else "", found[0][0].rstrip(".,'’_ "), text[end:]


def _split(token: str, decimal: str | None, grouping: str | None) -> tuple[str, str]:
    """The whole and the fractional digits of a number written with these separators.

    Raises:
        ValueError: the separators do not fit, or none is declared and the number can be read in two ways.
    """
    for blank in _SPACES:
        token = token.replace(blank, "")
    seps = [char for char in token if char in ".,"]
    if decimal is None and grouping is None:
        decimal, grouping = _guess(token, seps)
    decimal = decimal or ("," if grouping == "." else ".")
    grouping = grouping or ("," if decimal == "." else ".")
    whole, _, fraction = token.partition(decimal)
    if grouping in fraction or decimal in fraction:
        raise ValueError(f"`{token}` is not a number with `{decimal}` before its decimals")
    groups = whole.split(grouping)
    if len(groups) > 1 and (
        not 1 <= len(groups[0]) <= 3 or len(groups[-1]) != 3 or any(len(g) not in (2, 3) for g in groups[1:])
    ):
        raise ValueError(f"`{token}` is not a number with `{decimal}` before its decimals")
    return "".join(groups), fraction


def _guess(token: str, seps: list[str]) -> tuple[str, str]:
    if len(set(seps)) == 2:
        return (seps[-1], seps[0])
    if len(seps) > 1:
        return ("," if seps[0] == "." else ".", seps[0])
    if seps and len(token) - token.index(seps[0]) - 1 == 3 and token.split(seps[0])[0].strip("0"):
        raise ValueError(
            f'`{token}` can be read with thousands or with decimals: say which, as in decimal = "." or decimal = ","'
        )
    return (seps[0] if seps else ".", "," if not seps or seps[0] == "." else ".")


def _exact(sign: str, whole: str, fraction: str) -> int | Decimal:
    number = Decimal(f"{sign}{whole or '0'}.{fraction or '0'}")
    return (
        int(number)
        if number == number.to_integral_value()
        else number.normalize()
        if len(whole + fraction) < 28
        else number
    )


def parse_number(value: Value, decimal: str | None = None, grouping: str | None = None) -> int | Decimal:
    """The one number in ``value``, exactly.

    Digits may be of any script; spaces and apostrophes between groups are skipped. Without declared separators a
    number is read only when there is one way to read it.

    Raises:
        ValueError: no number, several, an abbreviated one (``1.2k``), or one that can be read in two ways.
    """
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        raise ValueError("it is not a number")
    if not isinstance(value, str):
        return value
    text = _ascii_digits(normalise(value))
    sign, token, after = _one_token(text)
    if _ABBREVIATED.match(after):
        raise ValueError("it is abbreviated, not exact")
    return _exact(sign, *_split(token, decimal, grouping))


def currency_in(text: str) -> str | None:
    """The ISO 4217 code that ``text`` names, by code or by an unambiguous symbol (a bare ``$`` is USD)."""
    codes = [code for code in _CODE.findall(text) if code in CODES]
    if codes:
        return codes[0] if len(set(codes)) == 1 else None
    symbol = _SYMBOL.search(text.replace("￥", "¥"))
    return _SYMBOLS[symbol[0]] if symbol else None


def _price_parts(token: str, exponent: int, decimal: str | None, grouping: str | None) -> tuple[str, str]:
    if decimal or grouping:
        return _split(token, decimal, grouping)
    seps = [char for char in token if char in ".,"]
    if len(seps) == 1 and len(token) - token.index(seps[0]) - 1 == 3:
        as_decimals = exponent == 3 or not token.split(seps[0])[0].strip("0 ")
        other = "," if seps[0] == "." else "."
        return _split(token, seps[0] if as_decimals else other, None)
    return _split(token, None, None)


def to_minor(number: int | Decimal, currency: str | None) -> int:
    """``number`` in integer minor units of ``currency`` (two places when unknown).

    Raises:
        ValueError: it has more decimals than the currency.
    """
    exponent = exponent_of(currency)
    scaled = Decimal(number).scaleb(exponent) if abs(Decimal(number).adjusted()) < 25 else None
    if scaled is None or scaled != scaled.to_integral_value():
        raise ValueError(f"{number} cannot be counted in minor units of {currency or 'a currency'}")
    return int(scaled)


def parse_price(
    value: Value, currency: str | None = None, decimal: str | None = None, grouping: str | None = None
) -> dict[str, Value] | None:
    """``{"minor": 1999, "currency": "EUR"}``, or None for what is not exactly one price ("Sold out", "£12 - £15").

    Without declared separators one separator before three digits groups thousands, unless the currency has three
    decimals or the whole part is zero. A currency that is neither declared nor written is None.
    """
    text = _ascii_digits(normalise(value)) if isinstance(value, str) else ""
    currency = currency or currency_in(text)
    exponent = exponent_of(currency)
    try:
        if isinstance(value, str):
            text = _TRAILING_DASH.sub(r"\g<1>0", text)
            sign, token, after = _one_token(text)
            if _ABBREVIATED.match(after):
                return None
            number = _exact(sign, *_price_parts(token, exponent, decimal, grouping))
        else:
            number = parse_number(value)
        return {"minor": to_minor(number, currency), "currency": currency}
    except ValueError:
        return None


def machine_price(value: Value, currency: str | None) -> dict[str, Value] | None:
    """A price as machines write it (schema.org: digits and ``.`` before decimals); else as people do."""
    if isinstance(value, str) and _PLAIN.fullmatch(value.strip()):
        value = Decimal(value.strip())
    return parse_price(value, currency)
