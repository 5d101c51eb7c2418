"""URLs as browsers read them (WHATWG URL standard), for http and https; compared by RFC 3986 section 6.2.2 only.

Everything a URL can be wrong about is said here, once, when the configuration or a redirect is read.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address
from urllib.parse import unquote

import idna
import msgspec

PORTS = {"http": 80, "https": 443}

_PLAIN = re.compile(
    r"(https?)://([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*\.[a-z][a-z0-9-]{0,62})(?::([1-9]\d{0,3}))?"
    r"(/[A-Za-z0-9_~!$&()*+,;=:@/-]*(?:\.[A-Za-z0-9_~-]+)?)(?:\?([A-Za-z0-9_.~!$&()*+,;=:@/?-]*))?"
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_AUTHORITY = re.compile(r"([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_PERCENT = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_FORBIDDEN_HOST = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")
_IN_PATH = re.compile(r"[^!$%&'()*+,\-./0-9:;=@A-Z\[\]_a-z|~]")
_IN_QUERY = re.compile(r"[^!$%&()*+,\-./0-9:;=?@A-Z\[\]^_`a-z{|}~]")
_EDGES = "".join(map(chr, range(0x21)))


class UrlError(ValueError):
    """A text that is no usable http(s) URL; ``str()`` is one sentence that never repeats a password."""


class Url(msgspec.Struct, frozen=True, kw_only=True):
    """An absolute http(s) URL, encoded once. ``str()`` is what goes on the wire: no fragment, no userinfo.

    ``host`` is as used for DNS and the Host header (punycode, IPv6 in brackets); ``port`` is always set.
    """

    scheme: str
    host: str
    port: int
    path: str = "/"
    query: str | None = None
    fragment: str | None = None
    user: str | None = None
    password: str | None = None

    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.target}"

    def __repr__(self) -> str:
        return f"Url({str(self)!r})"

    @property
    def netloc(self) -> str:
        """The Host header: the port only where it is not the scheme's own (RFC 9110 section 7.2)."""
        return self.host if self.port == PORTS[self.scheme] else f"{self.host}:{self.port}"

    @property
    def target(self) -> str:
        """Path and query, as in the request line."""
        return self.path if self.query is None else f"{self.path}?{self.query}"

    @property
    def origin(self) -> str:
        """``scheme://host:port``, the key of a host's queue, robots.txt and state."""
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def full(self) -> str:
        """With the fragment, without userinfo: what a watch keeps and a browser opens."""
        return str(self) if self.fragment is None else f"{self}#{self.fragment}"

    @property
    def normal(self) -> str:
        """Equal for two spellings of one resource (RFC 3986 section 6.2.2): for finding duplicates only."""
        query = "" if self.query is None else "?" + _normal_percent(self.query)
        return f"{self.origin}{_without_dots(_normal_percent(self.path))}{query}"


def parse_url(text: str) -> Url:
    """Read an http(s) URL. Raises :class:`UrlError`."""
    plain = _PLAIN.fullmatch(text)
    if plain:
        scheme, host, port, path, query = plain.groups()
        if "xn--" not in host and len(host) < 250:
            return Url(scheme=scheme, host=host, port=int(port) if port else PORTS[scheme], path=path, query=query)
    text = re.sub(r"[\t\r\n]", "", text.strip(_EDGES))
    scheme, rest = _split_scheme(text)
    parts = _AUTHORITY.fullmatch(rest)
    assert parts is not None
    authority, path, query, fragment = parts.groups()
    if "\\" in authority + path:
        raise UrlError("a backslash has no place in a URL; write /")
    userinfo, _, hostport = authority.rpartition("@")
    user, _, password = userinfo.partition(":")
    host, port = _host_and_port(hostport, PORTS[scheme])
    return Url(
        scheme=scheme,
        host=host,
        port=port,
        path=_without_dots(_IN_PATH.sub(_encode, path) or "/"),
        query=None if query is None else _IN_QUERY.sub(_encode, query),
        fragment=fragment,
        user=unquote(user) if userinfo else None,
        password=unquote(password) if password else None,
    )


def _split_scheme(text: str) -> tuple[str, str]:
    if not text:
        raise UrlError("the URL is empty")
    found = _SCHEME.match(text)
    # "h.test:80/x" looks like a scheme to the grammar; nobody means it.
    if found is None or (found[1].lower() not in PORTS and not text.startswith("//", found.end())):
        raise UrlError("scheme missing: a URL begins with https:// or http://")
    scheme = found[1].lower()
    if scheme not in PORTS:
        raise UrlError(f"scheme {scheme}: is not supported; use https:// or http://")
    if not text.startswith("//", found.end()):
        raise UrlError(f"two slashes belong after {scheme}:")
    return scheme, text[found.end() + 2 :]


def _host_and_port(text: str, default: int) -> tuple[str, int]:
    found = re.fullmatch(r"(\[[^\]]*\]|[^:\[]*)(?::(.*))?", text, re.DOTALL)
    if found is None:
        raise UrlError("the host is not readable (an IPv6 address needs [ ])")
    host, port = found[1], found[2]
    if not host:
        raise UrlError("the host is missing")
    if not port:
        return _host(host), default
    if not re.fullmatch(r"[0-9]+", port):
        raise UrlError("the port is not a number")
    if len(port) > 20 or not 0 < int(port) <= 65535:
        raise UrlError("the port is outside 1 to 65535")
    return _host(host), int(port)


def _host(text: str) -> str:
    """Domain to ASCII as browsers do: UTS 46, not transitional, no STD3 rules (``_`` and ☃ pass)."""
    if text.startswith("["):
        try:
            return f"[{IPv6Address(text[1:-1]).compressed}]" if "%" not in text else _refuse(text)
        except AddressValueError:
            _refuse(text)
    try:
        name = idna.uts46_remap(unquote(text), std3_rules=False, transitional=False)
    except (idna.IDNAError, UnicodeError):
        _refuse(text)
    labels = [_label(label) for label in name.split(".")]
    host = ".".join(labels)
    if any(not label for label in (labels[:-1] or labels)) or _FORBIDDEN_HOST.search(host):
        _refuse(text)
    if len(host.rstrip(".")) > 253 or any(len(label) > 63 for label in labels):
        raise UrlError("the host name is too long for DNS")
    return _ipv4(labels) or host


def _label(label: str) -> str:
    return label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")


def _refuse(host: str) -> str:
    raise UrlError(f"the host {host!r} is not a valid name or address")


def _ipv4(labels: list[str]) -> str | None:
    """The dotted address where the last label is a number (``127.1``, ``0x7f000001``), else None."""
    parts = labels[:-1] if labels[-1] == "" else labels
    if not re.fullmatch(r"[0-9]+|0x[0-9a-f]*", parts[-1]):
        return None
    shown = ".".join(labels)
    if len(parts) > 4 or any(len(part) > 40 for part in parts):
        return _refuse(shown)
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:
        return _refuse(shown)
    if any(n > 255 for n in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(numbers)):
        return _refuse(shown)
    value = numbers[-1] + sum(n << 8 * (3 - i) for i, n in enumerate(numbers[:-1]))
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _number(part: str) -> int:
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8 if len(part) > 1 and part[0] == "0" else 10)


def _encode(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))


def _normal_percent(text: str) -> str:
    def fold(found: re.Match[str]) -> str:
        byte = int(found[1], 16)
        return chr(byte) if byte in _UNRESERVED else found[0].upper()

    return _PERCENT.sub(fold, text)


def _without_dots(path: str) -> str:
    """RFC 3986 section 5.2.4, ``%2e`` being a dot as in browsers."""
    if "." not in path and "%2" not in path:
        return path
    segments = path.split("/")[1:]
    kept: list[str] = []
    for place, segment in enumerate(segments):
        plain = segment.lower().replace("%2e", ".")
        last = place == len(segments) - 1
        if plain == "..":
            del kept[-1:]
        if plain not in (".", ".."):
            kept.append(segment)
        elif last:
            kept.append("")
    return "/" + "/".join(kept)
