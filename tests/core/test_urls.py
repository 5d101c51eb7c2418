"""URLs: read as browsers read them, refused in one sentence, compared by RFC 3986 only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watcher.core.urls import UrlError, parse_url

SAME = [
    ("http://H.test/", "http://h.test/"),
    ("http://h.test", "http://h.test/"),
    ("http://h.test:80/a", "http://h.test/a"),
    ("http://h.test/%7euser", "http://h.test/~user"),
    ("http://h.test/%e3", "http://h.test/%E3"),
    ("http://h.test/a/./b/../c", "http://h.test/a/c"),
    ("http://h.test/a/%2e%2E/c", "http://h.test/c"),
    ("http://h.test/a#x", "http://h.test/a"),
    ("http://bücher.test/", "http://xn--bcher-kva.test/"),
    ("http://[::1]/", "http://[0:0:0:0:0:0:0:1]/"),
    ("http://127.1/", "http://127.0.0.1/"),
    ("http://0x7f000001/", "http://127.0.0.1/"),
    ("http://user:pw@h.test/", "http://h.test/"),
]

DIFFERENT = [
    ("http://h.test/a", "http://h.test/a/"),
    ("http://h.test/A", "http://h.test/a"),
    ("http://h.test/?a=1&b=2", "http://h.test/?b=2&a=1"),
    ("http://h.test/", "https://h.test/"),
    ("http://h.test/a%2Fb", "http://h.test/a/b"),
    ("http://h.test/?", "http://h.test/"),
    ("http://h.test/", "http://www.h.test/"),
    ("http://h.test./", "http://h.test/"),
    ("http://h.test/a+b", "http://h.test/a%20b"),
]

REFUSED = [
    ("h.test/x", "scheme missing"),
    ("h.test:80/x", "scheme missing"),
    ("", "empty"),
    ("ftp://h.test/", "not supported"),
    ("http:///x", "host is missing"),
    ("http:/x", "two slashes"),
    ("http://a..test/", "not a valid name"),
    ("http://h.test:99999/", "port"),
    ("http://h.test:0/", "port"),
    ("http://h.test:8o/", "port"),
    ("http://h.test\\@evil.test/", "backslash"),
    ("http://1.2.3.4.5/", "not a valid name"),
    ("http://256.1.1.1/", "not a valid name"),
    ("http://[::1/", "IPv6"),
    ("http://[::g]/", "not a valid name"),
    ("http://[fe80::1%25eth0]/", "not a valid name"),
    ("http://a%00b.test/", "not a valid name"),
    ("http://%ff.test/", "not a valid name"),
    ("http://" + "a" * 64 + ".test/", "too long"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_resource_are_equal(one: str, other: str) -> None:
    assert parse_url(one).normal == parse_url(other).normal


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_only_the_server_knows_stays_different(one: str, other: str) -> None:
    assert parse_url(one).normal != parse_url(other).normal


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_refused_in_one_sentence(text: str, reason: str) -> None:
    with pytest.raises(UrlError, match=reason) as caught:
        parse_url(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "wire"),
    [
        (" http://h.test/f.xml \n", "http://h.test/f.xml"),
        ("http://h.test/a\nb", "http://h.test/ab"),
        ("http://h.test/a b", "http://h.test/a%20b"),
        ("http://h.test/a\u200bb", "http://h.test/a%E2%80%8Bb"),
        ("http://h.test?q=ä'b", "http://h.test/?q=%C3%A4%27b"),
        ("http://h.test/100%", "http://h.test/100%"),
        ("http://h.test/x#frag", "http://h.test/x"),
        ("http://u:p@h.test:8080/x", "http://h.test:8080/x"),
        ("http://sub_domain1.h.test/", "http://sub_domain1.h.test/"),
        ("http://straße.test/", "http://xn--strae-oqa.test/"),
    ],
)
def test_the_wire_form_is_encoded_once(text: str, wire: str) -> None:
    assert str(parse_url(text)) == wire
    assert str(parse_url(wire)) == wire


def test_userinfo_is_split_off_and_never_printed() -> None:
    url = parse_url("https://me:s%40crét@h.test/a?b#c")
    assert (url.user, url.password) == ("me", "s@crét")
    for shown in (str(url), repr(url), url.full, url.normal, url.origin):
        assert "crét" not in shown
        assert "me" not in shown
    assert url.full == "https://h.test/a?b#c"


def test_host_header_and_origin() -> None:
    url = parse_url("https://h.test:443/")
    assert (url.netloc, url.origin) == ("h.test", "https://h.test:443")
    assert parse_url("http://[::1]:8000/").netloc == "[::1]:8000"


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    for candidate in (text, "http://" + text, "http://h.test/" + text):
        try:
            url = parse_url(candidate)
        except UrlError:
            continue
        assert parse_url(str(url)) == parse_url(str(parse_url(str(url))))
        assert str(url).isascii()


@given(
    st.from_regex(r"[a-z]{1,5}(\.[a-z]{1,5}){1,2}", fullmatch=True),
    st.from_regex(r"(/[A-Za-z0-9._~%-]{0,6}){1,4}", fullmatch=True),
    st.sampled_from(["", "?", "?a=1", "?a=b/../c"]),
)
def test_the_quick_path_reads_as_the_whole_one(host: str, path: str, query: str) -> None:
    # A blank in front forces the whole reader; both must agree.
    text = f"http://{host}{path}{query}"
    assert parse_url(text) == parse_url(" " + text)
