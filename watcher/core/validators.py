"""Which conditional header to send, and what its answer teaches (RFC 9110 section 13, CONDUCT rules 3-19)."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Trust(StrEnum):
    """What we think of a watch's validators."""

    UNTESTED = "untested"
    WORKING = "working"
    CHURNING = "churning"
    NONE = "none"
    OFF = "off"


class Validators(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """ETag and Last-Modified of one stored 200, bytes as received (kept as latin-1 text), and what they earned.

    They belong to ``url`` (the effective one) and ``key`` (request headers that select the
    representation, and the field definitions); with another url or key they are not sent.
    """

    etag: str | None = None
    last_modified: str | None = None
    url: str = ""
    key: str = ""
    trust: Trust = Trust.UNTESTED
