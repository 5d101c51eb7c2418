"""What `watcher test` says about each field."""

from __future__ import annotations

from typing import Any

import pytest

from watcher.extract import FieldReport, Report, explain

PAGE = b'<h1>Lamp</h1><p class="price" data-x=1>5</p><div id=a><p class=note><b>q</b></p><i>1</i><i>2</i></div>'


def report(body: bytes = PAGE, content_type: str = "text/html", **fields: Any) -> Report:
    return explain(body, content_type=content_type, fields=fields)


def one(body: bytes = PAGE, content_type: str = "text/html", **fields: Any) -> FieldReport:
    return report(body, content_type, **fields).fields[0]


def test_a_match_is_counted() -> None:
    found = one(i="i")
    assert (found.field, found.value, found.matched, found.error, found.hints) == ("i", "1", 2, None, ())
    assert report(i="i").fine


@pytest.mark.parametrize(
    ("definition", "hint"),
    [
        (".prices", "`.prices` matches nothing; `.price` matches 1"),
        ("#b .note, #aa .note", "`#b .note, #aa .note` matches nothing; `.note` matches 1"),
        ("main > div .note", "`main > div .note` matches nothing; `div .note` matches 1"),
        (".price::attr(content)", "`.price` matches 1, none with an attribute `content`; they have class, data-x"),
        (".note::text", "`.note` matches 1, without text of their own; leave out ::text"),
        ({"css": "h1", "remove": ["h1"]}, "`h1` matches 1 before remove, which drops them"),
        ({"xpath": "//H1"}, "element names of HTML are lower case in XPath"),
        ({"json": "a"}, "the page is HTML and holds no JSON; pick with css or xpath"),
    ],
)
def test_a_miss_says_what_nearly_matched(definition: Any, hint: str) -> None:
    found = one(f=definition)
    assert found.matched == 0
    assert found.error is not None
    assert hint in found.hints


def test_json_keys_are_suggested() -> None:
    found = one(b'{"product":{"sku":"1"}}', "application/json", f={"json": "product.sko"})
    assert found.hints == ("there is no key `sko`; there is `sku`",)


def test_each_field_is_judged_alone() -> None:
    found = report(t="h1", p=".prices", n={"css": "h1", "type": "number"})
    assert [bool(field.error) for field in found.fields] == [False, True, True]
    assert not found.fine


def test_an_optional_miss_is_fine_and_still_explained() -> None:
    found = report(p={"css": ".prices", "optional": True})
    assert found.fine
    assert found.fields[0].hints


def test_the_smart_record_is_shown_too() -> None:
    found = explain(PAGE, content_type="text/html")
    assert [field.field for field in found.fields] == ["title", "content"]


@pytest.mark.parametrize(("body", "kind"), [(b"", "empty"), (b"\x89PNG\r\n\x1a\n", "binary")])
def test_a_page_that_cannot_be_read_is_one_sentence(body: bytes, kind: str) -> None:
    found = explain(body)
    assert found.kind == kind
    assert found.error is not None
    assert not found.fine
