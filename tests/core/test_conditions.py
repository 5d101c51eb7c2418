"""notify_when: what holds, and what is refused when the config is loaded."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pytest

from watcher.core.conditions import Change, ConditionError, compile_condition
from watcher.core.model import Field, FieldType


def eur(amount: str | None) -> Any:
    return None if amount is None else {"minor": int(Decimal(amount) * 100), "currency": "EUR"}


FIELDS = (
    Field(name="price", css=".p", type=FieldType.PRICE),
    Field(name="n", css=".n", type=FieldType.NUMBER),
    Field(name="title", css="h1"),
    Field(name="day", css="time", type=FieldType.DATE),
    Field(name="items", css="li", all=True),
    Field(name="raw", json="a.b"),
    Field(name="in stock", css=".s"),
)


def holds(text: str, before: dict[str, Any], after: dict[str, Any], past: Iterable[Any] = ()) -> bool:
    return compile_condition(text, FIELDS).holds(Change(before, after, lambda field: past))


@pytest.mark.parametrize(
    ("text", "before", "after", "expected"),
    [
        ("price < 20", {"price": eur("25")}, {"price": eur("19.99")}, True),
        ("price < 20", {"price": eur("25")}, {"price": eur("20")}, False),
        ("price <= 20", {}, {"price": eur("20")}, True),
        ("price < 20", {}, {"price": None}, False),
        ("price < 20", {}, {"price": "Sold out"}, False),
        ("n != 3", {}, {"n": None}, True),
        ("n = 3", {}, {"n": Decimal("3.0")}, True),
        ("n >= -1.5", {}, {"n": Decimal("-1.5")}, True),
        ("title changed", {"title": "a"}, {"title": "b"}, True),
        ("title changed", {"title": "a"}, {"title": "a "}, False),
        ('title contains "sold out"', {}, {"title": "Now SOLD  OUT!"}, True),
        ("title contains lamp", {}, {"title": "a desk"}, False),
        ("items contains lamp", {}, {"items": ["desk", "Lamp 2"]}, True),
        ("title = 'Sold out'", {}, {"title": "Sold out"}, True),
        ("day > 2026-01-05", {}, {"day": "2026-01-06T00:00:00Z"}, True),
        ("price +10%", {"price": eur("10")}, {"price": eur("11")}, True),
        ("price +10%", {"price": eur("10")}, {"price": eur("9")}, False),
        ("price -10%", {"price": eur("10")}, {"price": eur("9")}, True),
        ("price -10%", {"price": eur("10")}, {"price": eur("9.01")}, False),
        ("n 50%", {"n": 2}, {"n": 1}, True),
        ("n 50%", {"n": 0}, {"n": 1}, False),
        ("items only added", {"items": ["a"]}, {"items": ["a", "b"]}, True),
        ("items only added", {"items": ["a", "b"]}, {"items": ["a"]}, False),
        ("items only removed", {"items": ["a", "b"]}, {"items": ["a"]}, True),
        ("only added", {"title": None}, {"title": "x"}, True),
        ("only added", {"title": "x"}, {"title": None}, False),
        ("only removed", {"title": "x"}, {"title": None}, True),
        ("raw > 3", {}, {"raw": 4}, True),
        ('"in stock" changed', {"in stock": "a"}, {"in stock": "b"}, True),
        ("price < 20 or title changed", {"title": "a"}, {"title": "b", "price": eur("30")}, True),
        ("price < 20 and title changed", {"title": "a"}, {"title": "b", "price": eur("30")}, False),
        ("not title changed and n > 1", {"title": "a"}, {"title": "a", "n": 2}, True),
        ("(n > 5 or n < 2) and not (title changed)", {"title": "a"}, {"title": "a", "n": 1}, True),
        ("n > 5 or n < 2 and title changed", {"title": "a"}, {"title": "a", "n": 6}, True),
    ],
)
def test_conditions_are_judged_on_typed_values(text: str, before: Any, after: Any, expected: bool) -> None:
    assert holds(text, before, after) is expected


def test_a_new_low_looks_at_every_earlier_value() -> None:
    past = [eur("30"), None, eur("12")]
    assert not holds("price new low", {"price": eur("20")}, {"price": eur("15")}, past)
    assert holds("price new low", {"price": eur("20")}, {"price": eur("11.99")}, past)
    assert not holds("price new low", {"price": eur("20")}, {"price": eur("12")}, past)
    assert holds("price new high", {"price": eur("20")}, {"price": eur("31")}, past)
    assert not holds("price new low", {"price": None}, {"price": eur("1")})
    assert compile_condition("price new low or n new high", FIELDS).needs_past == {"price", "n"}


def test_without_fields_the_smart_records_fields_are_known() -> None:
    condition = compile_condition("price < 20 or availability changed")
    assert condition.holds(Change({"availability": "InStock"}, {"availability": "OutOfStock"}))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "it is empty"),
        ("prize < 20", "there is no field `prize`; did you mean `price`?"),
        ("title < 20", "`title` is text, and `<` needs a number, a price or a date: give it such a type"),
        ("items +10%", "`items` is list, and `+10%` needs a number, a price or a date: give it such a type"),
        ("title new low", "`title` is text, and a new low or high needs"),
        ("price < cheap", "`price` is a price, and `cheap` is not a number"),
        ("price", "it ends where changed, contains"),
        ("price <", "it ends where a value is expected"),
        ("price changed title changed", "`title` is not expected here; join clauses with and, or"),
        ("(price < 20", "a parenthesis is not closed"),
        ("price is cheap", "`is` is not known after `price`"),
        ("< 20", "`<` stands where a field is expected"),
        ('title contains "x', "makes no sense here (an open quote?)"),
        ("title contains )", "`)` stands where a text is expected"),
        ("price < 20 or", "it ends where a field is expected"),
    ],
)
def test_what_cannot_be_understood_is_refused_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ConditionError) as caught:
        compile_condition(text, FIELDS)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
