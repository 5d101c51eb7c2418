"""CONDUCT rule 38: text as a browser would read it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.core.charset import decode_text, encoding_named

META = "<!doctype html><meta charset={}><p>"


@pytest.mark.parametrize(
    ("body", "content_type", "text", "charset", "origin"),
    [
        (b"\xef\xbb\xbf\xc3\xa9", "text/html; charset=iso-8859-1", "é", "utf-8", "bom"),
        ("é".encode("utf-16"), "text/html; charset=utf-8", "é", "utf-16le", "bom"),
        (b"\x93q\x94 \x81", "text/html; charset=ISO-8859-1", "“q” \x81", "windows-1252", "header"),
        (b"\xe9", 'text/html; charset="utf-8"', "\ufffd", "utf-8", "header"),
        (b"\x87\x40", "text/html; charset=Shift_JIS", "①", "shift_jis", "header"),
        (b"\xad\xa1\xa4\xa2", "text/html; charset=euc-jp", "①あ", "euc-jp", "header"),
        (b"\x81\x30\x81\x30", "text/html;charset=gb2312", "\x80", "gbk", "header"),
        (b"h\0i\0", "text/html; charset=utf-16", "hi", "utf-16le", "header"),
        (b"\x80", "text/html; charset=x-user-defined", "\uf780", "x-user-defined", "header"),
        (b"anything", "text/html; charset=iso-2022-kr", "\ufffd", "replacement", "header"),
        (
            (META.format("windows-1251").encode() + b"\xcf"),
            "text/html",
            META.format("windows-1251") + "П",
            "windows-1251",
            "meta",
        ),
        ((META.format("utf-16").encode() + b"\xc3\xa9"), "text/html", META.format("utf-16") + "é", "utf-8", "meta"),
        (
            META.format("windows-1251").encode(),
            "text/html; charset=no-such",
            META.format("windows-1251"),
            "windows-1251",
            "meta",
        ),
        (b"\xcf\xf0", "text/html", "Ïð", "windows-1252", "default"),
        (b"\xc3\xa9", None, "é", "utf-8", "valid"),
        (b"", None, "", "utf-8", "valid"),
    ],
)
def test_rule_38_order_and_labels(body: bytes, content_type: str | None, text: str, charset: str, origin: str) -> None:
    assert decode_text(body, content_type) == (text, charset, origin)


@pytest.mark.parametrize(
    ("head", "charset"),
    [
        (b"<!-- <meta charset=koi8-r> --><meta charset='koi8-u'>", "koi8-u"),
        (b"<a title='<meta charset=koi8-r>'><meta charset=koi8-u>", "koi8-u"),
        (b"<!--><meta charset=koi8-r>", "koi8-r"),
        (b"<META HTTP-EQUIV=content-type CONTENT='text/html;Charset = koi8-r'>", "koi8-r"),
        (b"<meta content='text/html; charset=koi8-r'>", "utf-8"),
        (b"<meta charset=nonsense><meta charset=koi8-r>", "koi8-r"),
        (b"<metadata charset=koi8-r>", "utf-8"),
        (b"<?xml version='1.0' encoding='koi8-r'?><html>", "koi8-r"),
        (b"<?xml version='1.0' encoding='koi8-r'?><meta charset=koi8-u>", "koi8-u"),
        (b" " * 1030 + b"<meta charset=koi8-r>", "utf-8"),
        (b" " * 1010 + b"<meta charset=koi8-r>", "utf-8"),
    ],
)
def test_rule_38_prescan(head: bytes, charset: str) -> None:
    assert decode_text(head, "text/html").charset == charset


def test_rule_38_only_markup_declares() -> None:
    head = b"<meta charset=koi8-r>"
    assert decode_text(head, "text/plain").charset == "utf-8"
    assert decode_text(head, "application/json").charset == "utf-8"
    assert decode_text(b"<?xml version='1.0' encoding='koi8-r'?>" + head, "application/rss+xml").origin == "xml"
    assert decode_text(b"<a/>" + head, "application/xml").charset == "utf-8"


def test_rule_38_option_comes_after_the_mark_and_before_the_header() -> None:
    assert decode_text(b"\x89\xbf", "text/html; charset=utf-8", "sjis") == ("価", "shift_jis", "option")
    assert decode_text(b"\xef\xbb\xbfa", None, "sjis").origin == "bom"
    assert decode_text(b"a", None, "no such label").origin == "valid"


def test_json_is_utf_8_unless_its_bytes_are_not() -> None:
    assert decode_text(b'"\xc3\xa9"', "application/json; charset=iso-8859-1", is_json=True).text == '"é"'
    assert decode_text(b'"\xe9"', "application/json; charset=iso-8859-1", is_json=True) == (
        '"é"',
        "windows-1252",
        "header",
    )


@given(st.binary(max_size=300), st.sampled_from(["latin1", "sjis", "euc-jp", "big5", "gbk", "euc-kr", "iso-2022-jp"]))
def test_decoding_never_fails_and_is_stable(body: bytes, label: str) -> None:
    first = decode_text(body, f"text/html; charset={label}")
    assert first == decode_text(body, f"text/html; charset={label}")
    first.text.encode("utf-8")


def test_labels_are_trimmed_and_caseless() -> None:
    assert encoding_named("\n UTF8 ") == "utf-8"
    assert encoding_named("utf 8") is None
