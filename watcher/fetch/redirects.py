"""Where a redirect leads, and whether we go there (CONDUCT rules 21-23). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urljoin

from watcher.core.exchange import Response
from watcher.core.model import Failure
from watcher.core.urls import Url, UrlError, parse_url

HOPS = 5
FOLLOWED = frozenset({301, 302, 303, 307, 308})
PERMANENT = frozenset({301, 308})

_LOGIN = re.compile(
    r"(?:^|[/._-])(?:log[_-]?in|sign[_-]?in|signon|sso|captcha|consent|sorry)(?:[/._-]|$)", re.IGNORECASE
)
_FRONT = re.compile(r"/?(?:(?:index|default|home)\.\w+)?/?", re.IGNORECASE)


class RedirectRefused(Exception):
    """A redirect we do not follow; ``str()`` is one sentence."""


def next_hop(url: Url, response: Response) -> Url:
    """The target of a redirect from ``url``. Raises RedirectRefused."""
    lines = set(response.lines(b"location"))
    if len(lines) != 1:
        raise RedirectRefused(f"The server answers {response.status} without a usable Location.")
    location = _text(lines.pop())
    try:
        target = parse_url(urljoin(str(url), location))
    except (UrlError, ValueError) as error:
        reason = str(error) if isinstance(error, UrlError) else "it cannot be read"
        raise RedirectRefused(f"The page redirects to a place that cannot be asked: {reason}.") from None
    if target.user is not None:
        raise RedirectRefused("The page redirects to a URL with a user name in it, which is not followed.")
    if url.scheme == "https" and target.scheme == "http":
        raise RedirectRefused(f"The page redirects from https to plain http at {target.netloc}, which is not followed.")
    return target


def suspect(source: Url, target: Url, forbidden: Iterable[str]) -> Failure | None:
    """Why the page at the end of a redirect is hardly the one that was asked for, or None.

    ``forbidden`` are the watch's own words for such places: parts of a path.
    """
    if any(word in target.target for word in forbidden):
        why = f"The page redirects to {target.netloc}{target.path}, where this watch forbids to go."
        return Failure(kind="moved-suspect", message=why)
    deep = not _FRONT.fullmatch(source.path)
    if deep and _FRONT.fullmatch(target.path) and not target.query:
        why = f"The page redirects to the front page of {target.netloc}: it is probably no longer there."
        return Failure(kind="moved-suspect", message=why)
    if _LOGIN.search(target.path) and not _LOGIN.search(source.path):
        why = f"The page redirects to {target.netloc}{target.path}, which looks like a login or a wall."
        return Failure(kind="moved-suspect", message=why)
    return None


def _text(location: bytes) -> str:
    try:
        return location.decode("utf-8")
    except UnicodeDecodeError:
        return location.decode("latin-1")
