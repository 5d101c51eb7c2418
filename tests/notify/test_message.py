"""What a notice says, to people and to programs."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.notify.making import AT, PRICE, heard, notice, watch
from watcher.core.model import Failure, Field, FieldChange, RequestOptions
from watcher.core.news import News
from watcher.notify.message import clean, digest, message_of, notice_of, single


def test_a_change_says_what_moved() -> None:
    message = single(notice_of(News.CHANGED, heard(), watch(tags=("shop",))))
    assert message.title == "Desk lamp changed"
    assert message.body == "price: 19.99 EUR → 17.99 EUR (-10.0 %)\nhttps://shop.example/desk-lamp"
    assert json.loads(message.payload) == {
        "event": "changed",
        "name": "Desk lamp",
        "url": "https://shop.example/desk-lamp",
        "at": "2026-01-05T10:00:00Z",
        "title": "Desk lamp changed",
        "message": "price: 19.99 EUR → 17.99 EUR (-10.0 %)",
        "tags": ["shop"],
        "changes": [
            {
                "field": "price",
                "text": "price: 19.99 EUR → 17.99 EUR (-10.0 %)",
                "before": {"minor": 1999, "currency": "EUR"},
                "after": {"minor": 1799, "currency": "EUR"},
            }
        ],
        "error": None,
    }


@pytest.mark.parametrize(
    ("news", "title", "first"),
    [
        (News.FAILING, "Desk lamp is failing", "The host does not answer."),
        (News.BLOCKED, "Desk lamp refuses us", "The host does not answer."),
        (News.GONE, "Desk lamp is gone", "The host does not answer."),
        (News.RECOVERED, "Desk lamp works again", "https://shop.example/desk-lamp"),
        (News.FIRST, "Desk lamp was looked at for the first time", "https://shop.example/desk-lamp"),
        (News.RETURNED, "Desk lamp is there again", "https://shop.example/desk-lamp"),
    ],
)
def test_other_news_says_why(news: News, title: str, first: str) -> None:
    failure = Failure(kind="transient", message="The host does not answer.")
    seen = heard(news=news, changes=(), failure=failure if "host" in first else None)
    message = single(notice_of(news, seen, watch()))
    assert message.title == title
    assert message.body.splitlines()[0] == first


def test_a_long_text_is_told_by_its_changed_words() -> None:
    text = "Lorem ipsum dolor sit amet. " * 200
    change = FieldChange("terms", text + "You may cancel within 14 days.", text + "You may cancel within 7 days.")
    found = notice_of(News.CHANGED, heard(changes=(change,)), watch())
    assert found.lines == ("terms: … may cancel within[- 14-][+ 7+] days.",)
    assert "before" not in json.loads(single(found).payload)["changes"][0]


def test_exact_numbers_stay_exact() -> None:
    change = FieldChange("stock", 9007199254740993, Decimal("0.10"))
    assert (
        b'"before":9007199254740993,"after":0.10'
        in single(notice_of(News.CHANGED, heard(changes=(change,)), watch())).payload
    )


def test_a_field_that_came_has_null_before() -> None:
    change = FieldChange("sku", None, "A-1")
    sent = json.loads(single(notice_of(News.CHANGED, heard(changes=(change,)), watch())).payload)
    assert sent["changes"][0]["before"] is None


def test_personal_values_stay_here() -> None:
    fields = (
        Field(name="buyer", css=".b", personal=True),
        Field(name="rows", css="tr", each=(Field(name="who", css=".w", personal=True),)),
    )
    changes = (
        FieldChange("buyer", "Ada Lovelace", "Grace Hopper"),
        FieldChange("rows", [{"who": "Ada"}], [{"who": "Grace"}]),
        PRICE,
    )
    message = single(notice_of(News.CHANGED, heard(changes=changes), watch(fields=fields)))
    for secret in ("Ada", "Grace"):
        assert secret not in message.body
        assert secret.encode() not in message.payload
    assert message.body.startswith("buyer: changed (personal)\nrows: changed (personal)\nprice: 19.99")


def test_secret_query_parameters_are_hidden() -> None:
    options = RequestOptions(secret_query=("key",))
    found = notice_of(News.CHANGED, heard(), watch(url="https://a.example/?q=lamp&key=s3cret#x", request=options))
    assert found.url == "https://a.example/?q=lamp&key=***#x"
    assert b"s3cret" not in single(found).payload


def test_many_fields_are_counted() -> None:
    changes = tuple(FieldChange(f"f{n}", n, n + 1) for n in range(11))
    found = notice_of(News.CHANGED, heard(changes=changes), watch())
    assert len(found.lines) == 9
    assert found.lines[-1] == "and 3 fields more"


def test_a_digest_has_a_line_for_each_watch() -> None:
    message = digest(
        [
            notice("Desk lamp", at=AT),
            notice("Ferry", News.FAILING, at=AT + 1),
            notice("Desk lamp", at=AT + 2),
            notice("Desk lamp", News.GONE, at=AT + 3),
        ]
    )
    assert message.event == "digest"
    assert message.title == "4 pieces of news from 2 pages"
    assert message.body.splitlines()[0].startswith("Desk lamp changed (2 times), is gone")
    assert message.body.splitlines()[1].startswith("Ferry is failing")
    assert [news["event"] for news in json.loads(message.payload)["news"]] == ["changed", "failing", "changed", "gone"]


def test_a_digest_of_a_hundred_pages_stays_short() -> None:
    message = digest([notice(f"Page {n}") for n in range(100)])
    assert len(message.body.splitlines()) == 21
    assert message.body.endswith("and 80 pages more")
    assert len(json.loads(message.payload)["news"]) == 100


def test_one_notice_is_no_digest() -> None:
    assert message_of([notice()]).event == "changed"


@given(st.text(), st.integers(1, 300))
def test_no_text_commands_a_terminal(text: str, longest: int) -> None:
    cleaned = clean(text + "\x1b]0;x\x07\x9b31m\u202e\ud800\u2028a\r\nb", longest)
    assert len(cleaned) <= longest
    assert not any(c < " " or "\x7f" <= c < "\xa0" or c in "\u202e\u2028\u2029\u2066" for c in cleaned)
    cleaned.encode()
