"""Conditional requests as servers answer them: ``/cond/NAME``, honestly and otherwise (CONDUCT rules 3-19)."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from email.utils import formatdate

from tests.support.badserver.server import BadServer, Reply, Seen, Writer, scenario, tail


def matches(seen: Seen, etag: bytes | None, date: bytes | None) -> bool:
    """RFC 9110 section 13.2.2; Last-Modified is compared as an opaque string on purpose."""
    if lines := seen.all(b"if-none-match"):
        tags = [part.strip() for line in lines for part in line.split(b",")]
        return etag is not None and any(tag == b"*" or _weak(tag) == _weak(etag) for tag in tags)
    since = seen.all(b"if-modified-since")
    return date is not None and since == [date]


def _weak(tag: bytes) -> bytes:
    return tag.removeprefix(b"W/")


def honest(
    server: BadServer,
    seen: Seen,
    name: str,
    etag: bytes | None,
    date: bytes | None = None,
    more: Sequence[tuple[str, bytes | str]] = (),
) -> Reply:
    """The page called ``name`` under these validators, or 304."""
    headers: list[tuple[str, bytes | str]] = [*more]
    if etag is not None:
        headers.append(("ETag", etag))
    if date is not None:
        headers.append(("Last-Modified", date))
    if matches(seen, etag, date):
        return Reply(304, headers)
    return Reply(200, [("Content-Type", "text/html; charset=utf-8"), *headers], server.page(name))


@scenario("/cond/strong")
def strong(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "strong", b'"v%d"' % server.versions["strong"])


@scenario("/cond/weak")
def weak(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "weak", b'W/"v%d"' % server.versions["weak"])


@scenario("/cond/lm")
def date_only(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "lm", None, server.modified("lm"))


@scenario("/cond/both")
def both(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "both", b'"b%d"' % server.versions["both"], server.modified("both"))


@scenario("/cond/none")
def neither(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "none", None)


@scenario("/cond/opaque-lm")
def opaque_date(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "opaque-lm", None, b"20%02d-rev" % server.versions["opaque-lm"])


@scenario("/cond/unquoted")
def unquoted(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "unquoted", b"abc%d" % server.versions["unquoted"])


@scenario("/cond/obs-text")
def high_byte(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "obs-text", b'"caf\xfc%d"' % server.versions["obs-text"])


@scenario("/cond/utf8-etag")
def utf8(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "utf8-etag", '"naïve-日%d"'.encode() % server.versions["utf8-etag"])


@scenario("/cond/comma-etag")
def comma(server: BadServer, seen: Seen, _: Writer) -> Reply:
    tag = b'"a, b%d"' % server.versions["comma-etag"]
    if seen.get(b"if-none-match") == tag:
        return Reply(304, [("ETag", tag)])
    return Reply(200, [("ETag", tag)], server.page("comma-etag"))


@scenario("/cond/empty-etag")
def empty_tag(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "empty-etag", b'""')


@scenario("/cond/blank-etag")
def blank(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(400) if seen.all(b"if-none-match") else Reply(200, [("ETag", "")], server.page("blank-etag"))


@scenario("/cond/dup-etag")
def two_tags(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [("ETag", '"one"'), ("ETag", '"two"')], server.page("dup-etag"))


@scenario("/cond/long-etag")
def long_tag(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(431) if seen.conditional else Reply(200, [("ETag", f'"{"x" * 2000}"')], server.page("long-etag"))


@scenario("/cond/future-lm")
def future(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(304) if seen.conditional else honest(server, seen, "future-lm", None, server.date(15 * 365 * 86_400))


@scenario("/cond/churn")
def churn(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "churn", b'"c%d"' % seen.nth)


@scenario("/cond/churn-lm")
def churn_date(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "churn-lm", None, server.date(seen.nth))


@scenario("/cond/churn-old-lm")
def churn_old_date(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "churn-old-lm", None, server.date(seen.nth - 1_000))


@scenario("/cond/churn-good-lm")
def churn_beside_date(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "churn-good-lm", b'"g%d"' % seen.nth, server.modified("churn-good-lm"))


@scenario("/cond/churn-stop")
def churn_ends(server: BadServer, seen: Seen, _: Writer) -> Reply:
    last = int((tail(seen, "/cond/churn-stop") or ["6"])[0])
    return honest(server, seen, "churn-stop", b'"s%d"' % min(seen.nth, last))


@scenario("/cond/flip")
def two_back_ends(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "flip", b'"node-%d"' % (seen.nth % 2))


@scenario("/cond/always200")
def deaf(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [("ETag", '"fixed"')], server.page("always200"))


@scenario("/cond/noisy")
def noisy(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [("ETag", f'"n{seen.nth}"')], server.page("noisy") + b"<!-- %d -->" % seen.nth)


@scenario("/cond/gzip-suffix")
def mod_deflate(server: BadServer, seen: Seen, _: Writer) -> Reply:
    plain = b'"x%d"' % server.versions["gzip-suffix"]
    if plain in [part.strip() for part in (seen.get(b"if-none-match") or b"").split(b",")]:
        return Reply(304, [("ETag", plain)])
    if b"gzip" not in (seen.get(b"accept-encoding") or b""):
        return Reply(200, [("ETag", plain), ("Vary", "Accept-Encoding")], server.page("gzip-suffix"))
    headers: list[tuple[str, bytes | str]] = [("ETag", plain[:-1] + b'-gzip"'), ("Content-Encoding", "gzip")]
    return Reply(200, headers, gzip.compress(server.page("gzip-suffix"), mtime=0))


@scenario("/cond/weaken")
def weakened(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "weaken", (b"" if seen.nth % 2 else b"W/") + b'"w%d"' % server.versions["weaken"])


@scenario("/cond/vary-star")
def vary_star(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return honest(server, seen, "vary-star", b'"star"', None, [("Vary", "*")])


@scenario("/cond/lie304")
def lie(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(304, [("ETag", '"lie"')])


@scenario("/cond/304-body")
def body_in_304(server: BadServer, seen: Seen, _: Writer) -> Reply:
    if not seen.conditional:
        return Reply(200, [("ETag", '"nb"')], server.page("304-body"))
    evil = b"HTTP/1.1 200 OK\r\nX: evil\r\n"
    return Reply(304, [("ETag", '"nb"'), ("Content-Length", str(len(evil)))], evil)


@scenario("/cond/304-length")
def length_in_304(server: BadServer, seen: Seen, _: Writer) -> Reply:
    page = server.page("304-length")
    if not seen.conditional:
        return Reply(200, [("ETag", '"nl"')], page)
    return Reply(304, [("ETag", '"nl"'), ("Content-Length", str(len(page)))])


@scenario("/cond/304-newtag")
def foreign(server: BadServer, seen: Seen, _: Writer) -> Reply:
    if not seen.conditional:
        return Reply(200, [("ETag", '"old"')], server.page("304-newtag"))
    return Reply(304, [("ETag", '"different"')])


@scenario("/cond/304-notag")
def bare_304(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(304) if seen.conditional else Reply(200, [("ETag", '"nt"')], server.page("304-notag"))


@scenario("/cond/304-update")
def newer_date(server: BadServer, seen: Seen, _: Writer) -> Reply:
    if not seen.conditional:
        date = server.modified("304-update")
        headers: list[tuple[str, bytes | str]] = [("ETag", '"u"'), ("Last-Modified", date)]
        return Reply(200, [*headers, ("Cache-Control", "max-age=60")], server.page("304-update"))
    newer = formatdate(1_700_000_000 + seen.nth, usegmt=True)
    return Reply(304, [("ETag", '"u"'), ("Last-Modified", newer), ("Cache-Control", "max-age=7200")])


@scenario("/cond/same-tag-new-body")
def lying_tag(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(200, [("ETag", '"same"')], b"<p>n=%d</p>" % seen.nth)


@scenario("/cond/tag-removed")
def tag_goes(server: BadServer, seen: Seen, _: Writer) -> Reply:
    if seen.nth > 1:
        return Reply(200, [], server.page("tag-removed"))
    headers: list[tuple[str, bytes | str]] = [("ETag", '"r1"'), ("Last-Modified", server.modified("tag-removed"))]
    return Reply(200, headers, server.page("tag-removed"))


@scenario("/cond/stuck304")
def stuck(server: BadServer, seen: Seen, _: Writer) -> Reply:
    if seen.conditional:
        return Reply(304, [("ETag", '"stuck"')])
    return Reply(200, [("ETag", '"stuck"')], b"<p>really version %d</p>" % seen.nth)


@scenario("/cond/412")
def precondition(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(412) if seen.conditional else Reply(200, [("ETag", '"p"')], server.page("412"))


@scenario("/cond/400")
def bad_request(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(400) if seen.conditional else Reply(200, [("ETag", '"q"')], server.page("400"))


@scenario("/cond/500")
def breaks(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(500) if seen.conditional else Reply(200, [("ETag", '"q"')], server.page("500"))


@scenario("/cond/error-with-tag")
def tagged_error(server: BadServer, seen: Seen, _: Writer) -> Reply:
    return Reply(503, [("ETag", '"E"')], b"oops") if seen.nth == 2 else honest(server, seen, "ewt", b'"A"')
