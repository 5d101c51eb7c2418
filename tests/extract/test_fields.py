"""Declared fields on real pages: every kind of selector, every type, and every way to miss."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from watcher.core.model import Detect, Field, Watch
from watcher.extract import ExtractError, definition_of, extract_for, extract_record

PAGE = """<!doctype html><title>Shop</title><h1>Desk <em>lamp</em></h1>
<p class="price" data-old="25,00">19,99 €</p><p class="price">5</p>
<ul><li>red</li><li>green</li><li>green</li></ul>
<table><tr><th>a<td>1<tr><th>b<td></table>
<div id="box">own <b>inner</b> text<script>n=1</script><style>p{}</style><!-- 11:02 --></div>
<time datetime="2026-01-05T10:00:00+01:00">1 hour ago</time><p class="empty"></p>"""


def read(page: str | bytes, content_type: str = "text/html", **fields: Any) -> dict[str, Any]:
    body = page if isinstance(page, bytes) else page.encode()
    return extract_record(body, content_type=content_type, url="https://shop.example/lamp", fields=fields).values


def fails(page: str | bytes, content_type: str = "text/html", **fields: Any) -> ExtractError:
    with pytest.raises(ExtractError) as caught:
        read(page, content_type, **fields)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("h1", "Desk lamp"),
        ("#box", "own inner text"),
        ("#box::text", "own text"),
        ("time::attr(datetime)", "2026-01-05T10:00:00+01:00"),
        (".missing, h1 em", "lamp"),
        ("li:nth-child(2), h9", "green"),
        ("table > tbody > tr > td", "1"),
        (".empty", ""),
        ({"css": "time", "attr": "DATETIME".lower()}, "2026-01-05T10:00:00+01:00"),
        ({"xpath": "//li[2]"}, "green"),
        ({"xpath": "//time/@datetime"}, "2026-01-05T10:00:00+01:00"),
        ({"xpath": "//p/text()"}, "19,99 €"),
        ({"xpath": "count(//li)"}, 3),
        ({"xpath": "sum(//td[. != '']) div 2"}, Decimal("0.5")),
        ({"xpath": "string(//h1)"}, "Desk lamp"),
        ({"regex": r"n=(\d+)"}, "1"),
        ({"regex": r"Shop"}, "Shop"),
        ({"css": ".price", "regex": r"([\d,]+)"}, "19,99"),
        ({"css": "h1", "replace": [["Desk ", ""], ["^l", "L"]]}, "Lamp"),
        ({"css": "#box", "remove": ["b"]}, "own text"),
        ({"css": "li", "all": True}, ["red", "green", "green"]),
        ({"css": "li", "type": "list"}, ["red", "green", "green"]),
        ({"css": "li", "unordered": True}, ["green", "green", "red"]),
        ({"css": ".price", "type": "price"}, {"minor": 1999, "currency": "EUR"}),
        ({"css": ".price", "type": "price", "currency": "USD"}, {"minor": 1999, "currency": "USD"}),
        ({"css": ".price::attr(data-old)", "type": "number", "decimal": ","}, 25),
        ({"css": "time", "attr": "datetime", "type": "date"}, "2026-01-05T09:00:00Z"),
        ({"css": "time", "type": "date"}, "1 hour ago"),
        ({"css": "h1", "type": "html"}, "<h1>Desk <em>lamp</em></h1>"),
        ({"css": "#box", "type": "content"}, ["own **inner** text"]),
        ({"css": ".nothing", "optional": True}, None),
        ({"css": ".nothing", "all": True, "optional": True}, None),
    ],
)
def test_a_field_reads(field: Any, expected: Any) -> None:
    assert read(PAGE, f=field) == {"f": expected}


def test_a_required_field_that_matches_nothing_fails_the_check() -> None:
    error = fails(PAGE, title="h1", price=".prices")
    assert (error.kind, error.field, str(error)) == ("broken:selector", "price", "price: nothing matches `.prices`")
    assert "with an attribute `href`" in str(fails(PAGE, link={"css": "h1", "attr": "href"}))


def test_a_region_without_text_is_missing_too() -> None:
    assert fails("<main><nav></nav></main>", text={"css": "main", "type": "content"}).kind == "broken:selector"
    assert read("<main></main>", text={"css": "main", "type": "content", "optional": True}) == {"text": []}


def test_several_matches_are_counted() -> None:
    record = extract_record(PAGE.encode(), fields={"price": ".price", "all": {"css": "li", "all": True}})
    assert record.notes == ("price: 2 nodes match, the first is taken",)


def test_rows_are_read_per_container() -> None:
    page = "<div class=b><i>T1</i><u>Ann</u></div><div class=b><i>T2</i></div><div class=b><i>T3</i><u>Bob</u></div>"
    each = {"title": "i", "author": {"css": "u", "optional": True}}
    assert read(page, books={"css": ".b", "each": each}) == {
        "books": [
            {"title": "T1", "author": "Ann"},
            {"title": "T2", "author": None},
            {"title": "T3", "author": "Bob"},
        ]
    }
    error = fails(page, books={"css": ".b", "each": {"author": "u"}})
    assert str(error) == "books: row 2: author: nothing matches `u`"


def test_rows_of_json_are_read_per_object() -> None:
    page = '{"books":[{"title":"T1","author":{"name":"Ann"}},{"title":"T2"}]}'
    each = {"title": {"json": "$.title"}, "author": {"json": "$.author.name", "optional": True}}
    assert read(page, "application/json", books={"json": "$.books[*]", "each": each})["books"] == [
        {"title": "T1", "author": "Ann"},
        {"title": "T2", "author": None},
    ]


@pytest.mark.parametrize("where", ["remove on the watch", "remove on the field"])
def test_remove_leaves_other_readers_alone(where: str) -> None:
    fields: dict[str, Any] = {"text": {"css": "#box", "type": "content"}, "after": "#box"}
    if where.endswith("field"):
        fields["text"]["remove"] = ["b"]
        assert read(PAGE, **fields) == {"text": ["own text"], "after": "own inner text"}
    else:
        record = extract_record(PAGE.encode(), fields=fields, remove=["b"])
        assert record.values == {"text": ["own text"], "after": "own text"}


def test_a_number_that_is_not_one_number_fails_the_check() -> None:
    error = fails("<p>12 - 15</p>", n={"css": "p", "type": "number"})
    assert (error.kind, str(error)) == (
        "broken:value",
        "n: `12 - 15` is not one number: there is more than one number in it",
    )


def test_a_price_that_is_no_price_stays_text() -> None:
    assert read("<p>Sold out</p>", p={"css": "p", "type": "price"}) == {"p": "Sold out"}


def test_untracked_and_personal_fields_are_named() -> None:
    fields = {"t": "h1", "v": {"css": ".price", "track": False}, "b": {"css": "li", "personal": True}}
    record = extract_record(PAGE.encode(), fields=fields)
    assert (record.untracked, record.personal) == (("v",), ("b",))
    other = extract_record(PAGE.replace("19,99", "18,99").encode(), fields=fields)
    assert record.fingerprint == other.fingerprint


def test_the_bytes_are_the_record_on_request() -> None:
    one = extract_record(b"%PDF-1.4 a", fields={"t": "h1"}, detect=Detect.BYTES)
    two = extract_record(b"%PDF-1.4 b", fields={"t": "h1"}, detect=Detect.BYTES)
    assert one.fingerprint != two.fingerprint
    assert one.values["body"].startswith("sha256:")


def test_another_definition_is_told_apart() -> None:
    watch = Watch(name="w", url="https://h.test/", fields=(Field(name="t", css="h1"),))
    record = extract_for(watch, PAGE.encode(), content_type="text/html", url=watch.url)
    assert record.definition == definition_of(watch)
    changed = [
        Watch(name="w", url="https://h.test/", fields=(Field(name="t", css="h2"),)),
        Watch(name="w", url="https://h.test/", fields=(Field(name="t", css="h1", track=False),)),
        Watch(name="w", url="https://h.test/", fields=watch.fields, remove=("em",)),
        Watch(name="w", url="https://h.test/", fields=watch.fields, disabled_rules=("counters",)),
        Watch(name="w", url="https://h.test/", fields=watch.fields, detect=Detect.BYTES),
    ]
    assert len({definition_of(other) for other in [watch, *changed]}) == 6
    renamed = Watch(name="other", url="https://h.test/x", fields=watch.fields)
    assert definition_of(renamed) == definition_of(watch)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("<h1 class=a id=b>Fish &amp; chips caf&eacute;</h1>", "<H1 ID='b' class='a'>Fish &#38; chips caf&#xE9;</H1>"),
        ("<h1>a<!-- 1 --> b</h1>", "<h1>a\n\n<script>x</script> b</h1>"),
        ("<h1>Cafe\u0301</h1>", "<h1>Caf\u00e9\u200b</h1>"),
    ],
)
@pytest.mark.parametrize("kind", ["text", "content"])
def test_markup_spelled_differently_is_no_change(one: str, two: str, kind: str) -> None:
    fields = {"t": {"css": "h1", "type": kind}}
    first, second = (extract_record(page.encode(), fields=fields) for page in (one, two))
    assert first.fingerprint == second.fingerprint


def test_css_on_json_says_so() -> None:
    assert "pick with json" in str(fails('{"a": 1}', "application/json", t="h1"))


def test_json_on_html_reads_the_embedded_data() -> None:
    page = (
        '<script type="application/ld+json">{broken</script>'
        '<script type="application/ld+json">{"@type":"Product","sku":"L-1"}</script><h1>Lamp</h1>'
    )
    assert read(page, sku={"json": "sku"}, title="h1") == {"sku": "L-1", "title": "Lamp"}


def test_regex_sees_text_with_plain_line_ends() -> None:
    field = {"regex": r"(?m)^\s*image:\s*(\S+)$"}
    for body in (b"app:\r\n  image: srv:1.4\r\n", b"app:\n  image: srv:1.4\n"):
        assert read(body, "application/octet-stream", image=field) == {"image": "srv:1.4"}


@pytest.mark.parametrize("content_type", ["application/pdf", "text/html", "application/octet-stream"])
@pytest.mark.parametrize("body", [b"%PDF-1.4\n%\xe2\xe3\xcf\xd3", b"\x89PNG\r\n\x1a\n\0\0", b"PK\x03\x04\x14\0\0\0"])
def test_binary_never_reaches_a_field(body: bytes, content_type: str) -> None:
    error = fails(body, content_type, title="h1")
    assert error.kind == "broken:binary"
    assert str(error).isprintable()


def test_an_empty_body_is_no_record() -> None:
    assert fails(b"", title="h1").kind == "broken:empty"
    assert fails(b" \r\n", title={"css": "h1", "optional": True}).kind == "broken:empty"
