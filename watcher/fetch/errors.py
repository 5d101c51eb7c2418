"""Trouble on the network as a kind and one sentence that a person can act on. No sentence repeats a URL or a header."""

from __future__ import annotations

import errno
import socket
import ssl

from watcher.core.model import Failure
from watcher.core.urls import Url
from watcher.fetch.decode import DecodeError, TooLarge
from watcher.fetch.net import AddressRefused

_TLS = {
    9: "is not valid yet",
    10: "has expired",
    18: "is signed by itself and by nobody we trust",
    19: "comes from an issuer we do not trust",
    20: "comes from an unknown issuer",
    21: "comes from an unknown issuer",
    23: "was revoked",
    62: "is for another name",
    64: "is for another address",
}
_UNREACHABLE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.ENETDOWN)


def failure_of(error: BaseException, url: Url) -> Failure:
    """What went wrong in an exchange with ``url``'s host."""
    where = url.netloc
    if isinstance(error, AddressRefused):
        return _failed(
            "refused:address", f"{error}; a watch reaches private addresses only when its own URL names one."
        )
    if isinstance(error, TooLarge):
        return _failed("too-large", f"{_sentence(error)}; nothing of it was stored.")
    if isinstance(error, DecodeError):
        cut = "cut short" in str(error)
        return _failed("transient:cut" if cut else "broken:encoding", f"{_sentence(error)}.")
    if isinstance(error, ssl.SSLError):
        return _tls(error, where)
    if isinstance(error, TimeoutError):
        return _failed(
            "transient:timeout", f"{where} did not answer in time: {error or 'the time of the check is up'}."
        )
    if isinstance(error, (socket.gaierror, UnicodeError)):
        return _failed("transient:dns", f"The name {url.host} leads to no address (DNS).")
    if isinstance(error, ConnectionRefusedError):
        return _failed("transient:refused", f"{where} refuses connections.")
    if isinstance(error, ConnectionError):
        return _failed("transient:reset", f"{where} broke the connection off.")
    if isinstance(error, OSError):
        if error.errno in _UNREACHABLE:
            return _failed("transient:unreachable", f"{where} cannot be reached: {error.strerror or 'no route'}.")
        return _failed("transient", f"The connection to {where} failed: {error.strerror or type(error).__name__}.")
    kind = "transient:cut" if "cut short" in str(error) else "transient:protocol"
    return _failed(kind, f"{where}: {error}.")


def _tls(error: ssl.SSLError, where: str) -> Failure:
    if isinstance(error, ssl.SSLCertVerificationError):
        what = _TLS.get(error.verify_code, f"cannot be verified ({error.verify_message})")
        return _failed("tls", f"The certificate of {where} {what}.")
    if isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
        return _failed("transient:reset", f"{where} broke the connection off during TLS.")
    reason = (error.reason or "no reason given").lower().replace("_", " ")
    return _failed("tls", f"{where} and we agree on no TLS connection: {reason}.")


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]


def _failed(kind: str, message: str) -> Failure:
    return Failure(kind=kind, message=message)
