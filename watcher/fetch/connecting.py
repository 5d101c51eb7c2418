"""From a place to an open connection: names, the address guard, proxies and TLS (CONDUCT rules 39 to 41)."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Sequence
from ipaddress import ip_address

import msgspec

from watcher.core.urls import Url
from watcher.fetch.http1 import Http1
from watcher.fetch.message import Timing
from watcher.fetch.net import (
    AddressRefused,
    ProtocolError,
    Resolver,
    SystemResolver,
    Wire,
    connect,
    is_private,
    literal,
)


class Place(msgspec.Struct, frozen=True):
    """Where a connection leads. Requests to equal places may share one: the address guard allows both the same.

    ``host`` is as for DNS, an IPv6 address without brackets.
    """

    secure: bool
    host: str
    port: int
    proxy: Url | None = None
    private: bool = False


class Connector:
    """Opens connections. ``guard`` False takes the resolver's word for every address, private ones included."""

    def __init__(self, resolver: Resolver | None, tls: ssl.SSLContext | None, *, guard: bool) -> None:
        self._resolver = resolver
        self._tls = tls
        self._guard = guard

    async def open(self, place: Place, timing: Timing, idle: float) -> Wire:
        """A connection to ``place``; ``timing`` is filled in. ``idle`` bounds a proxy's silence, in seconds.

        Raises AddressRefused, ssl.SSLError or another OSError; ProtocolError when the proxy gives no tunnel.
        """
        loop = asyncio.get_running_loop()
        began, proxy = loop.time(), place.proxy
        tls = self._context() if place.secure else None
        first, port = (place.host, place.port) if proxy is None else (proxy.host.strip("[]"), proxy.port)
        addresses = await self._addresses(first, port)
        if literal(first) is None:
            timing.dns = loop.time() - began
        if proxy is None:
            wire = await connect(self._permitted(place, addresses), port, tls, place.host)
        else:
            own = literal(place.host)
            if own is not None:
                self._permitted(place, [str(own)])
            wire = await self._through(proxy, addresses, place, tls, idle)
        timing.connect = loop.time() - began - (timing.dns or 0.0)
        return wire

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        address = literal(host)
        if address is not None:
            return [str(address)]
        if self._resolver is None:
            self._resolver = SystemResolver()
        return await self._resolver(host, port)

    def _permitted(self, place: Place, addresses: Sequence[str]) -> Sequence[str]:
        """The addresses this request may go to (CONDUCT rule 40). Raises AddressRefused when none is left."""
        if place.private or not self._guard:
            return addresses
        kept = [text for text in addresses if not is_private(ip_address(text.partition("%")[0]))]
        if not kept:
            raise AddressRefused(f"{place.host} leads to the private address {addresses[0]}")
        return kept

    async def _through(
        self, proxy: Url, addresses: Sequence[str], place: Place, tls: ssl.SSLContext | None, idle: float
    ) -> Wire:
        outer = self._context() if proxy.scheme == "https" else None
        wire = await connect(addresses, proxy.port, outer, proxy.host.strip("[]"))
        if tls is None:
            return wire
        try:
            host = f"[{place.host}]" if ":" in place.host else place.host
            authority = f"{host}:{place.port}".encode("ascii")
            tunnel = Http1(wire, idle)
            status, _, _ = await tunnel.ask(
                b"CONNECT", authority, [(b"Host", authority), *proxy_authorization(proxy)], b""
            )
            if not 200 <= status < 300:
                raise ProtocolError(f"the proxy answers {status} to the request for a tunnel")
            inner = Wire()
            transport = await asyncio.get_running_loop().start_tls(
                wire.transport, inner, tls, server_hostname=place.host
            )
            assert transport is not None
            inner.connection_made(transport)
            inner.secured = True
            return inner
        except BaseException:
            wire.close()
            raise

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = trusted_context()
        return self._tls


def trusted_context() -> ssl.SSLContext:
    """A context that trusts the system's authorities, or certifi's where Python finds no system store."""
    context = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    if not (context.cert_store_stats()["x509_ca"] or paths.cafile or paths.capath):
        import certifi

        context.load_verify_locations(certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


def proxy_authorization(proxy: Url) -> list[tuple[bytes, bytes]]:
    """The field that says to ``proxy`` who we are, if its URL does."""
    if proxy.user is None:
        return []
    token = base64.b64encode(f"{proxy.user}:{proxy.password or ''}".encode())
    return [(b"Proxy-Authorization", b"Basic " + token)]
