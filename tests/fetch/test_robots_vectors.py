"""Which lines of a robots.txt concern us and which paths they match: our own vectors, after RFC 9309."""

from __future__ import annotations

import pytest

from watcher.core.urls import parse_url
from watcher.fetch.robots import Rules, _ours

ALL = "User-agent: *\n"


def allows(text: str, path: str, token: str = "watcher") -> bool:
    return Rules(text, token).allows(parse_url(f"http://h.test{path}"))


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("Disallow: /a", "/a", False),
        ("Disallow: /a", "/abc", False),
        ("Disallow: /a", "/A", True),
        ("Disallow: /a", "/b/a", True),
        ("Disallow:", "/a", True),
        ("Disallow: /", "/", False),
        ("Disallow: /\nAllow: /public", "/public/x", True),
        ("Disallow: /\nAllow: /public", "/private", False),
        ("Allow: /a\nDisallow: /a", "/a", True),
        ("Disallow: /a/b\nAllow: /a", "/a/b/c", False),
        ("Disallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("Disallow: /*.gif$", "/x/y.gif", False),
        ("Disallow: /*.gif$", "/x/y.gif?a=1", True),
        ("Disallow: /*.gif", "/x/y.gif?a=1", False),
        ("Disallow: /a*/c", "/abbb/c", False),
        ("Disallow: /a*/c", "/abbb/d", True),
        ("Disallow: *", "/x", False),
        ("Disallow: /a$", "/a", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /*?", "/a?b", False),
        ("Disallow: /*?", "/a", True),
        ("Disallow: /?*=1", "/?x=1", False),
        ("Disallow: /foo/bar/ツ", "/foo/bar/%E3%83%84", False),
        ("Disallow: /foo/bar/%E3%83%84", "/foo/bar/ツ", False),
        ("Disallow: /foo/bar/%62%61%7A", "/foo/bar/baz", False),
        ("Disallow: /a%3cb", "/a%3Cb", False),
        ("Disallow: /s?q=%7Ex", "/s?q=~x", False),
        ("Disallow: /a%2Fb", "/a/b", True),
        ("Disallow: /p%24", "/p$x", False),
        ("Disallow: /a%2A", "/ab", True),
        ("Disallow: /a # with reason", "/a", False),
        ("  disallow :   /a  ", "/a", False),
        ("Dissallow: /a", "/a", False),
        ("Disallow /a", "/a", False),
        ("Disallow: /", "/robots.txt", True),
    ],
)
def test_paths(rules: str, path: str, allowed: bool) -> None:
    assert allows(ALL + rules + "\n", path) is allowed


GROUPS = """User-agent: *
Disallow: /all

User-agent: otherbot
User-agent: PageWatch
Disallow: /one

user-agent: pagewatch-news
Disallow: /news

User-agent: watch
Disallow: /watch

USER-AGENT: PAGEWATCH
Disallow: /two # comment
Sitemap: http://h.test/s.xml
Disallow: /three
"""


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/one", False),
        ("/two", False),
        ("/three", False),
        ("/all", True),
        ("/news", True),
        ("/watch", True),
        ("/f", True),
    ],
)
def test_groups_are_merged_by_exact_token(path: str, allowed: bool) -> None:
    assert allows(GROUPS, path, "pagewatch") is allowed


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("User-agent: watcher/2.0\nDisallow: /", "/x", False),
        ("User-agent: watcher (a bot)\nDisallow: /", "/x", False),
        ("User-agent: watcher2\nDisallow: /", "/x", True),
        ("User-agent: watcher-news\nDisallow: /", "/x", True),
        ("User-agent: my-watcher\nDisallow: /", "/x", True),
        ("User-agent: watch\nDisallow: /", "/x", True),
        ("User-agent: er\nDisallow: /", "/x", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: watcher\nCrawl-delay: 5", "/x", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: watcher\nDisallow:", "/x", True),
        ("User-agent: a\nNoindex: /z\nUser-agent: watcher\nDisallow: /x", "/x", False),
        ("User-agent: watcher\nUnknown: 1\nDisallow: /x", "/x", False),
        ("User-agent: watcher\n\n\nDisallow: /x", "/x", False),
        ("Disallow: /x\nUser-agent: *\nDisallow: /y", "/x", True),
        ("User-agent: *\rDisallow: /x\rDisallow: /y", "/y", False),
        ("User-agent: *\r\nDisallow: /x\r\n", "/x", False),
        ("User-agent: *\nDisallow: /\x85x", "/y", True),
        ("User agent: *\nDisallow: /x", "/x", False),
        ("", "/x", True),
        ("<html>Disallow: /</html>", "/x", True),
    ],
)
def test_lines_that_concern_us(text: str, path: str, allowed: bool) -> None:
    assert allows(text, path) is allowed


@pytest.mark.parametrize(
    ("lines", "delay"),
    [
        ("Crawl-delay: 7", 7.0),
        ("Crawl-delay: 0.25", 0.25),
        ("Crawl-delay: 0", 0.0),
        ("Crawl-delay: 1,5", None),
        ("Crawl-delay: -2", None),
        ("Crawl-delay: nan", None),
        ("Crawl-delay: 1e9", 86_400.0),
        ("Request-rate: 1/10", 10.0),
        ("Request-rate: 30/1m", 2.0),
        ("Crawl-delay: 3\nRequest-rate: 1/10", 10.0),
        ("Disallow: /x", None),
    ],
)
def test_delays(lines: str, delay: float | None) -> None:
    assert Rules(ALL + lines, "watcher").delay == delay


def test_which_group_decided() -> None:
    assert Rules(GROUPS, "pagewatch").group == "pagewatch"
    assert Rules(GROUPS, "nobody").group == "*"
    assert Rules("User-agent: x\nDisallow: /", "nobody").group is None


def test_the_parser_sees_our_lines_only() -> None:
    theirs = "".join(f"User-agent: bot{n}\nDisallow: /{n}/*/x$\n" for n in range(1_000))
    assert _ours(theirs + "User-agent: watcher\nDisallow: /x\n", "watcher") == (["Disallow: /x"], "watcher")
