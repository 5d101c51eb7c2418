"""What a request carries: our own fields, the watch's options with their secrets resolved, and to whom each may go."""

from __future__ import annotations

import base64

import msgspec

from watcher import __version__
from watcher.core.exchange import Headers
from watcher.core.model import RequestOptions
from watcher.core.urls import Url, UrlError, parse_url
from watcher.fetch.secrets import SecretError, Vault

TOKEN = "watcher"
"""The product token: what robots.txt groups are matched against."""

ACCEPT = b"text/html,application/xhtml+xml,*/*;q=0.8"
"""Short, since it is sent with every request: it is an eighth of what an unchanged page costs."""

_FOR_ANYBODY = frozenset({"accept", "accept-language", "user-agent"})
"""Request fields that may follow a redirect to another origin. All others may hold a secret or an identity."""


def agent_of(contact: str | None) -> str:
    """The User-Agent: our product token and version, and whom to write to."""
    return f"{TOKEN}/{__version__}" + (f" (+{contact})" if contact else "")


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """A watch's own part of its requests. ``owned`` goes to the configured origin only (CONDUCT rule 21)."""

    method: str = "GET"
    headers: Headers = ()
    owned: Headers = ()
    body: bytes = b""
    proxy: Url | None = None

    def to(self, own_origin: bool) -> Headers:
        """The fields for a hop, at the configured origin or elsewhere."""
        return (*self.headers, *self.owned) if own_origin else self.headers


async def asking(options: RequestOptions, agent: str, identity: bool, vault: Vault) -> Asking:
    """Everything a request of this watch carries, read at this moment. Raises SecretError with one sentence."""
    given = {name.lower(): (name, _sendable(await vault.reveal(value), name)) for name, value in options.headers}
    ours = {
        "user-agent": ("User-Agent", agent.encode("ascii", "replace")),
        "accept": ("Accept", ACCEPT),
        "accept-encoding": ("Accept-Encoding", b"identity" if identity else b"gzip"),
    }
    headers = [(name.encode("ascii"), value) for name, value in (ours | _only(given, _FOR_ANYBODY)).values()]
    owned = [(name.encode("ascii"), value) for key, (name, value) in given.items() if key not in _FOR_ANYBODY]
    if options.cookies:
        pairs = [f"{name}={await vault.reveal(value)}" for name, value in options.cookies]
        owned.append((b"Cookie", _sendable("; ".join(pairs), "Cookie")))
    if options.auth:
        user, password = [await vault.reveal(value) for value in options.auth]
        token = base64.b64encode(f"{user}:{password}".encode())
        vault.keep(token.decode("ascii"))
        owned.append((b"Authorization", b"Basic " + token))
    return Asking(
        method=options.method,
        headers=tuple(headers),
        owned=tuple(owned),
        body=(await vault.reveal(options.body)).encode() if options.body else b"",
        proxy=await _proxy(options, vault),
    )


def robots_headers(agent: str) -> Headers:
    """What a robots.txt is asked for with: nothing of the watch goes along."""
    return (
        (b"User-Agent", agent.encode("ascii", "replace")),
        (b"Accept", b"text/plain,*/*;q=0.8"),
        (b"Accept-Encoding", b"gzip"),
    )


async def _proxy(options: RequestOptions, vault: Vault) -> Url | None:
    if options.proxy is None:
        return None
    try:
        return parse_url(await vault.reveal(options.proxy))
    except UrlError as error:
        raise SecretError(f"The proxy of this watch is not usable: {error}.") from None


def _only(given: dict[str, tuple[str, bytes]], names: frozenset[str]) -> dict[str, tuple[str, bytes]]:
    return {key: value for key, value in given.items() if key in names}


def _sendable(text: str, name: str) -> bytes:
    if any(ord(c) < 0x20 or ord(c) == 0x7F for c in text):
        raise SecretError(f"The value of the request header {name} holds a line end or control character.")
    return text.strip().encode()
