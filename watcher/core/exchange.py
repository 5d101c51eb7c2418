"""One HTTP exchange as values: what we plan to send, what came back, what the audit trail keeps.

These cross the border between ``fetch`` and the rest, so that nobody else sees an HTTP library's objects.
"""

from __future__ import annotations

import msgspec

from watcher.core.model import Failure

Headers = tuple[tuple[bytes, bytes], ...]
"""Header field lines exactly as received, in order, names in their received case."""


class RequestPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to ask for. ``conditions`` go only to the hop whose URL is ``conditions_for`` (CONDUCT rule 21).

    ``conditional`` names the layer used: ``etag``, ``last-modified`` or ``None``. ``command`` is run instead of
    asking a host; a ``file:`` URL is read. ``identity`` asks for the bytes without a content coding (rule 5).
    """

    url: str
    command: tuple[str, ...] = ()
    conditions: Headers = ()
    conditions_for: str | None = None
    conditional: str | None = None
    no_cache: bool = False
    identity: bool = False


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A complete answer: status, raw header lines, and the body with its transfer codings removed.

    ``url`` is the effective URL (after redirects). ``body`` has its content codings removed and is
    whole: a body cut short, over the limit or in an unknown coding is a failure, not a response.
    """

    url: str
    status: int
    headers: Headers
    body: bytes
    received_at: float
    elapsed: float
    bytes_wire: int

    def lines(self, name: bytes) -> list[bytes]:
        """Every field line called ``name`` (lower case), stripped of surrounding blanks, in order."""
        return [v.strip(b" \t") for k, v in self.headers if k.lower() == name]

    def header(self, name: bytes) -> bytes | None:
        """The lines called ``name`` joined by a comma (RFC 9110 section 5.3), or None."""
        found = self.lines(name)
        return b", ".join(found) if found else None


class Exchange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the audit trail: a request that was sent and what came of it, secrets redacted.

    ``purpose`` is ``page``, ``redirect``, ``robots`` or ``probe``. Byte strings are kept as latin-1 text.
    ``charset_from`` says what named the charset; ``trust`` how the trust in the page's validators moved, if it did.
    """

    at: float
    purpose: str
    method: str
    url: str
    hop: int = 0
    status: int | None = None
    conditional: str | None = None
    sent: tuple[tuple[str, str], ...] = ()
    received: tuple[tuple[str, str], ...] = ()
    peer: str | None = None
    proxy: str | None = None
    http_version: str | None = None
    waited: float = 0.0
    dns: float | None = None
    connect: float | None = None
    first_byte: float | None = None
    total: float = 0.0
    bytes_wire: int = 0
    bytes_body: int = 0
    coding: str | None = None
    charset: str | None = None
    charset_from: str | None = None
    trust: str | None = None
    body_sha256: str | None = None
    robots: str | None = None
    flags: tuple[str, ...] = ()
    error: str | None = None


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one check exchanged with the network. Exactly one of ``response`` and ``failure`` is set.

    ``failure.kind`` says which: ``transient:*``, ``tls``, ``too-large``, ``broken:*``, ``refused:robots``,
    ``refused:robots-unreachable``, ``moved-suspect``, ``held`` ... ``permanent`` lists the hops of a chain that
    consisted of 301/308 only. ``retry_after`` is in seconds from receipt; ``not_before_at`` is set when nothing
    was sent because the host, its robots.txt or its budget has to be waited for. ``sent`` says whether the page
    itself was asked for at all, ``conditional`` what its request really carried.
    """

    exchanges: tuple[Exchange, ...]
    response: Response | None = None
    failure: Failure | None = None
    permanent: tuple[str, ...] = ()
    retry_after: float | None = None
    not_before_at: float | None = None
    sent: bool = False
    conditional: str | None = None
    private_peer: bool = False
