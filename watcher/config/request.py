"""The request options of a watch: headers, cookies, auth, proxy and limits, with secrets by reference only."""

from __future__ import annotations

import re
from typing import Any

from watcher.config import readers
from watcher.config.readers import BY_REFERENCE, Mistake, Schema
from watcher.core.model import RequestOptions, Secret
from watcher.core.urls import Url, UrlError, parse_url

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SECRET_NAME = re.compile(r"auth|token|secret|passw|api-?_?key|session|sid$|credential", re.IGNORECASE)
OURS = {
    "accept-encoding": "the fetcher decodes what it asks for itself",
    "connection": "the transport decides it",
    "content-length": "it follows from the body",
    "host": "it follows from the URL",
    "if-match": "validators are handled by the conditional layer",
    "if-modified-since": "validators are handled by the conditional layer",
    "if-none-match": "validators are handled by the conditional layer",
    "if-range": "validators are handled by the conditional layer",
    "if-unmodified-since": "validators are handled by the conditional layer",
    "range": "only whole pages are compared",
    "transfer-encoding": "it follows from the body",
    "cookie": "use cookies = { name = ... }",
    "proxy-authorization": "use the proxy's own URL, by reference",
}


def _pairs(value: Any) -> tuple[tuple[str, str | Secret], ...]:
    if not isinstance(value, dict):
        raise readers.wrong_type("a table", value, "write it like { name = ... }")
    pairs = []
    for name, item in value.items():
        if not _TOKEN.fullmatch(name):
            raise Mistake(f"{name!r} is not a name HTTP allows")
        try:
            found = readers.secret_or_text(item)
        except Mistake as mistake:
            raise Mistake(f"{name}: {mistake}", mistake.suggestion) from None
        if isinstance(found, str) and _SECRET_NAME.search(name):
            raise Mistake(f"{name}: a secret must not stand in this file", BY_REFERENCE)
        if isinstance(found, str) and not (found.isprintable() or found == ""):
            raise Mistake(f"{name}: must not contain line ends or control characters")
        pairs.append((name, found))
    return tuple(pairs)


def headers(value: Any) -> tuple[tuple[str, str | Secret], ...]:
    """Request header fields; those that the client itself must decide are refused."""
    pairs = _pairs(value)
    for name, found in pairs:
        if name.lower() in OURS:
            raise Mistake(f"{name} cannot be set: {OURS[name.lower()]}")
        if isinstance(found, str) and not found.isascii():
            raise Mistake(f"{name}: only ASCII text can be sent in a header")
    if len({name.lower() for name, _ in pairs}) < len(pairs):
        raise Mistake("two names differ only in case")
    return pairs


def auth(value: Any) -> tuple[str | Secret, str | Secret]:
    """``{ user = "me", password = "env:NAME" }``."""
    if not isinstance(value, dict) or set(value) != {"user", "password"}:
        raise Mistake("must be a table of user and password", 'write { user = "me", password = "env:NAME" }')
    user = readers.secret_or_text(value["user"])
    try:
        return user, readers.secret(value["password"])
    except Mistake as mistake:
        raise Mistake(f"password: {mistake}", mistake.suggestion) from None


def proxy(value: Any) -> str | Secret:
    """A proxy's URL. One with a password must come by reference."""
    found = readers.secret_or_text(value)
    if isinstance(found, Secret):
        return found
    try:
        url = parse_url(found)
    except UrlError as error:
        raise Mistake(str(error)) from None
    if url.user or url.password:
        raise Mistake("a proxy's password must not stand in this file", BY_REFERENCE)
    return str(url).rstrip("/")


def method(value: Any) -> str:
    """GET or another method that asks for a page."""
    allowed = ("GET", "POST", "PUT")
    return str(readers.choice(*allowed)(value.upper() if isinstance(value, str) else value))


def encoding(value: Any) -> str:
    """A character encoding by any label the web has for it."""
    from watcher.core.charset import encoding_named

    name = readers.text(value)
    if encoding_named(name) is None:
        raise Mistake(f"{name!r} is not a character encoding of the web", 'write it like "windows-1252"')
    return name


SCHEMA: Schema = {
    "method": method,
    "headers": headers,
    "cookies": _pairs,
    "auth": auth,
    "body": readers.secret_or_text,
    "proxy": proxy,
    "timeout": readers.duration,
    "max_body": readers.size,
    "encoding": encoding,
    "conditional": readers.boolean,
    "robots": readers.choice("obey", "ignore"),
    "ignore_freshness": readers.boolean,
    "forbid_redirect_to": readers.texts,
    "secret_query": readers.texts,
}
_PLAIN = RequestOptions()


def request_options(values: dict[str, Any], url: Url | None) -> RequestOptions:
    """The options of a watch out of its checked values; userinfo of its URL becomes ``auth`` (CONDUCT rule 39).

    A body without a method is posted. Raises :class:`Mistake`, about ``body``.
    """
    given = {key: value for key, value in values.items() if key in SCHEMA}
    if "body" in given and given.setdefault("method", "POST") == "GET":
        raise Mistake("a GET request has no body", 'write method = "POST", or leave body out')
    if "robots" in given:
        given["obey_robots"] = given.pop("robots") == "obey"
    if url is not None and url.user is not None and "auth" not in given:
        given["auth"] = (url.user, Secret(f"literal:{url.password or ''}"))
    return RequestOptions(**given) if given else _PLAIN
