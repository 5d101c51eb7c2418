"""JSON bodies: strict, exact, and stable."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from watcher.core.fingerprint import change_fingerprint
from watcher.core.model import Record
from watcher.extract import ExtractError, extract_record
from watcher.extract.jsontext import parse_json


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('\ufeff{"n":1}', {"n": 1}),
        (')]}\'\n{"n":1}', {"n": 1}),
        ("while(1);[1]", [1]),
        ("for(;;);[1]", [1]),
        ('/**/jQuery17_1700000001({"n":1});', {"n": 1}),
        ("912345678901234567", 912345678901234567),
        ("0.1000000000000000055", Decimal("0.1000000000000000055")),
        ("1e400", Decimal("1E+400")),
        ("1e9999", "1e9999"),
        ("1" * 2000, "1" * 2000),
        ('"\\ud800x"', "\ufffdx"),
        ('{"a":{"k":null}}', {"a": {"k": None}}),
    ],
)
def test_json_is_read_exactly(text: str, expected: Any) -> None:
    assert parse_json(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"v":1,"v":2}', "the key `v` stands twice"),
        ("NaN", "NaN is not JSON"),
        ("[1,]", "line 1, column 4"),
        ("{'a':1}", "not JSON"),
        ("[" * 300 + "]" * 300, "nested deeper than 200"),
        ("[" * 100_000 + "]" * 100_000, "nested deeper than 200"),
        ("", "not JSON"),
        ("<p>", "not JSON"),
    ],
)
def test_what_is_not_json_is_refused_in_one_sentence(text: str, reason: str) -> None:
    with pytest.raises(ExtractError, match=reason) as caught:
        parse_json(text)
    assert caught.value.kind == "broken:json"
    assert "\n" not in str(caught.value)


def record(text: str) -> Record:
    return extract_record(text.encode(), content_type="application/json")


def test_only_content_counts() -> None:
    one = record('{"a": 1.0, "b": [1, 2]}')
    assert record('{"b":[1,2],"a":1}').fingerprint == one.fingerprint
    assert record('{"b":[2,1],"a":1}').fingerprint != one.fingerprint
    assert record('{"b":[1,2],"a":"1"}').fingerprint != one.fingerprint
    assert record('cb_17({"b":[1,2],"a":1});').fingerprint == record('cb_99({"b":[1,2],"a":1})').fingerprint


@pytest.mark.parametrize(
    "text", ['{"n":912345678901234567}', '{"n":1e400}', '{"n":1e99999}', '{"n":' + "9" * 999 + "}"]
)
def test_a_record_survives_the_store(text: str) -> None:
    made = record(text)
    encoded = msgspec.json.Encoder(decimal_format="number").encode(made)
    back = msgspec.json.Decoder(Record, float_hook=Decimal).decode(encoded)
    assert change_fingerprint(back) == made.fingerprint


def test_null_absence_and_emptiness_are_told_apart() -> None:
    values = []
    for text in ('{"a":null}', '{"a":""}', '{"a":0}', '{"a":false}', '{"a":[]}'):
        fields = {"a": {"json": "a"}}
        values.append(extract_record(text.encode(), content_type="application/json", fields=fields).fingerprint)
    assert len(set(values)) == 5
    with pytest.raises(ExtractError, match="nothing matches `a`"):
        extract_record(b'{"b":1}', content_type="application/json", fields={"a": {"json": "a"}})
