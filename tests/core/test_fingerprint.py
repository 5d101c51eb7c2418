"""Normalisation and fingerprint v1: frozen vectors, and the laws they follow."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.core.fingerprint import block_hash, canonical, change_fingerprint, content_hash, digest, normalise
from watcher.core.model import Record

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.decimals(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)

NORMALISED = [
    ("  a\t b\r\nc ", "a b c"),
    ("a\u00a0b\u202fc\u2003d\u3000e", "a b c d e"),
    ("Su\u200bper\u00ad ket\ufefftle\u2060", "Super kettle"),
    ("Cafe\u0301", "Café"),
    ("x²½①", "x²½①"),
    ("\U0001f469\u200d\U0001f527", "\U0001f469\u200d\U0001f527"),
    ("می\u200cخواهم", "می\u200cخواهم"),
    ("a\x00b\x1fc\x7fd\x9be", "abcde"),
    ("\u202eabc\u2069", "abc"),
    ("SOLD OUT", "SOLD OUT"),
    ("“a” – b", "“a” – b"),
    ("\u2028a\u2029b\x85", "a b"),
    ("Ｃafe", "Ｃafe"),
    ("a \u200b b", "a b"),
    ("\ud83d", "\ufffd"),
]


@pytest.mark.parametrize(("text", "expected"), NORMALISED)
def test_normalise_v1_is_frozen(text: str, expected: str) -> None:
    assert normalise(text) == expected


@given(st.text())
def test_normalise_is_idempotent(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(), st.sampled_from([" ", "\n", "\u00a0", "\u200b", "\ufeff"]))
def test_layout_around_a_text_is_no_content(text: str, blank: str) -> None:
    assert normalise(blank + text + blank) == normalise(text)


CANONICAL: list[tuple[Any, str]] = [
    (None, "null"),
    ("", '""'),
    (0, "0"),
    (False, "false"),
    ([], "[]"),
    ({"b": 1, "a": [2, 1]}, '{"a":[2,1],"b":1}'),
    (Decimal("1.50"), "1.5"),
    (Decimal("15e-1"), "1.5"),
    (Decimal("1.0"), "1"),
    (Decimal("-0.0"), "0"),
    (Decimal("100"), "100"),
    (Decimal("1E+400"), "1e400"),
    (10**60, "1e60"),
    (-(2**53) - 1, "-9007199254740993"),
    (Decimal("0.1000000000000000055"), "0.1000000000000000055"),
    (Decimal("1E-7"), "0.0000001"),
    (Decimal("NaN"), "null"),
    (1.5, "1.5"),
    (float("inf"), "null"),
    ('é\u00a0\n"q"\\', '"é \\"q\\"\\\\"'),
]


@pytest.mark.parametrize(("value", "expected"), CANONICAL)
def test_canonical_form_v1_is_frozen(value: Any, expected: str) -> None:
    assert canonical(value).decode() == expected


def test_fingerprint_v1_is_frozen() -> None:
    record = Record(
        values={
            "title": "Café  crème",
            "price": {"minor": 1999, "currency": "EUR"},
            "rows": [{"n": Decimal("1.50"), "none": None}, {"n": 2, "none": ""}],
            "views": 7,
        },
        untracked=("views",),
    )
    assert change_fingerprint(record) == "1:978723c40c039bcfa134daf3b3fc3daeb0df47e400f3000444fb9f222aeed90e"


def test_block_and_content_hashes_v1_are_frozen() -> None:
    assert block_hash("a  b") == block_hash("a b") == "62b59ddfc5c4d697"
    assert (
        content_hash(" a\n b ")
        == content_hash("a b")
        == "c8687a08aa5d6ed2044328fa6a697ab8e96dc34291e8c2034ae8c38e6fcc6d65"
    )


@given(VALUES)
def test_every_canonical_form_is_strict_json(value: Any) -> None:
    def refuse(name: str) -> Any:
        raise AssertionError(name)

    json.loads(canonical(value), parse_constant=refuse, parse_float=Decimal)


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=5))
def test_the_order_of_keys_is_no_content(values: dict[str, Any]) -> None:
    assert canonical(values) == canonical(dict(reversed(values.items())))


@given(st.lists(st.integers(), min_size=2, unique=True))
def test_the_order_of_items_is_content(items: list[int]) -> None:
    assert canonical(items) != canonical(items[::-1])


@given(st.decimals(allow_nan=False, allow_infinity=False), st.integers(min_value=0, max_value=6))
def test_trailing_zeros_are_no_content(number: Decimal, zeros: int) -> None:
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    padded = Decimal((sign, digits + (0,) * zeros, exponent - zeros))
    assert canonical(padded) == canonical(number)


@given(st.integers())
def test_a_number_is_not_its_text(number: int) -> None:
    assert canonical(number) != canonical(str(number))
    assert canonical(number) == canonical(Decimal(number))


def test_absence_emptiness_zero_and_false_are_five_values() -> None:
    assert len({canonical(value) for value in (None, "", 0, False, [])}) == 5


def test_only_tracked_fields_count() -> None:
    one = Record(values={"a": 1, "b": 1}, untracked=("b",))
    two = Record(values={"a": 1, "b": 2}, untracked=("b",))
    assert change_fingerprint(one) == change_fingerprint(two)
    assert change_fingerprint(one) != change_fingerprint(Record(values=two.values))


def test_the_same_under_another_hash_seed() -> None:
    code = "from watcher.core.fingerprint import digest;print(digest({k: [k, {k: 1, 'x': None}] for k in 'zyxwvabc'}))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert seen == {digest({k: [k, {k: 1, "x": None}] for k in "abcvwxyz"}) + "\n"}
