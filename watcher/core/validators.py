"""Which conditional header to send, and what its answer teaches (RFC 9110 section 13, CONDUCT rules 3-19).

A pure state machine over :class:`Validators`, which is journaled with every page. Its :class:`Trust` moves so:

===========  =====================================================================  ===============================
trust        what is sent                                                           left for
===========  =====================================================================  ===============================
untested     the ETag if it is usable, else the date; never both (rule 3)           working, churning, none, off
working      the same; after 20 answers 304 in 7 days once nothing (rule 11)        untested (200), off
churning     nothing, but for one try after 7, 14, 30 days (rule 14)                working (304)
none         nothing: three 200s without a usable validator                         untested (validators appear)
off          nothing for 30 days: 304s were wrong, or conditions break the site     untested (time)
===========  =====================================================================  ===============================

Every move between them is made by :mod:`watcher.core.lessons`.
"""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum

import msgspec

from watcher.core.exchange import Headers, Response
from watcher.core.freshness import http_date
from watcher.core.model import Detect, RequestOptions
from watcher.core.phrase import DAY

LONGEST = 1024
"""Bytes above which a validator is not sent back: servers refuse long request headers (431)."""

STUCK_HITS, STUCK_FOR = 20, 7 * DAY
RETRIES = (7 * DAY, 14 * DAY, 30 * DAY)

QUOTED = re.compile(r'(?:W/)?"[^"\x00-\x20\x7f,]*"')
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


class Trust(StrEnum):
    """What we think of a watch's validators."""

    UNTESTED = "untested"
    WORKING = "working"
    CHURNING = "churning"
    NONE = "none"
    OFF = "off"


class Validators(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """ETag and Last-Modified of one stored 200, bytes as received (kept as latin-1 text), and what they earned.

    They belong to ``url`` (the effective one) and ``key`` (see :func:`request_key`); under another key they are not
    sent. ``tags`` are those seen with the stored bytes, newest first. Counters run since the last contrary answer:
    ``hits`` 304s, ``repeats`` conditional 200s with the stored bytes, ``rewrites`` with the stored record,
    ``plain_repeats`` unconditional ones with the stored bytes and tag, ``bare`` 200s without a validator, ``broke``
    conditional requests that failed, ``lies`` tags that stayed while bytes moved, ``unproven`` foreign 304s.
    ``max_age`` is what Cache-Control said last, in a 200 or a 304.
    """

    etag: str | None = None
    last_modified: str | None = None
    max_age: float | None = None
    url: str = ""
    key: str = ""
    trust: Trust = Trust.UNTESTED
    tags: tuple[str, ...] = ()
    date_only: bool = False
    plain_next: bool = False
    no_cache: bool = False
    full_at: float = 0.0
    hits: int = 0
    repeats: int = 0
    rewrites: int = 0
    plain_repeats: int = 0
    bare: int = 0
    broke: int = 0
    lies: int = 0
    unproven: int = 0
    reason: str = ""
    since_at: float = 0.0
    tries: int = 0
    checks: int = 0
    off_until_at: float = 0.0
    etag_off_until_at: float = 0.0


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """The one conditional field to send, to the hop ``for_url`` only. ``kind`` is ``etag``, ``last-modified`` or None.

    ``no_cache`` asks caches on the way to step aside; ``guard`` marks the unconditional check of rule 11.
    """

    headers: Headers = ()
    kind: str | None = None
    for_url: str | None = None
    no_cache: bool = False
    guard: bool = False


NOTHING = Conditions()


def request_key(options: RequestOptions, definition: str, detect: Detect = Detect.FIELDS) -> str:
    """What selects the representation and its reading: the request's own headers, and the field definitions.

    Secrets enter by reference, so the key gives nothing away. With another key a 304 would answer for another
    page, or hide an edit of the fields.
    """
    parts = (options.method, options.headers, options.cookies, options.auth, options.body, str(detect), definition)
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:16]


def plan_conditions(
    known: Validators,
    *,
    key: str,
    now: float,
    has_body: bool,
    force: bool = False,
    detect: Detect = Detect.FIELDS,
) -> Conditions:
    """What to send with the next request. ``has_body`` says that the stored page is really there (rule 9).

    ``force`` is the user's; ``detect`` bytes allows strong tags only (rule 5).
    """
    if known.plain_next or force:
        return Conditions(no_cache=known.no_cache)
    if not has_body or known.key != key or now < known.off_until_at or known.trust is Trust.NONE:
        return NOTHING
    if known.trust is Trust.CHURNING and not _may_try(known, now):
        return NOTHING
    if known.hits >= STUCK_HITS and now - known.full_at >= STUCK_FOR:
        return Conditions(no_cache=True, guard=True)
    etag, date = known.etag, known.last_modified
    if now < known.etag_off_until_at or (known.date_only and date is not None):
        etag = None
    if detect is Detect.BYTES:
        etag, date = (etag if etag and etag.startswith('"') else None), None
    if etag is not None:
        tags = known.tags if len(known.tags) > 1 and detect is not Detect.BYTES else (etag,)
        value = ", ".join(tags).encode("latin-1")
        return Conditions(headers=((b"If-None-Match", value),), kind="etag", for_url=known.url)
    if date is not None:
        headers = ((b"If-Modified-Since", date.encode("latin-1")),)
        return Conditions(headers=headers, kind="last-modified", for_url=known.url)
    return NOTHING


def _may_try(known: Validators, now: float) -> bool:
    if known.reason == "etag_churn" and known.plain_repeats >= 3:
        return True
    wait = RETRIES[min(known.tries, len(RETRIES) - 1)]
    return now - known.since_at >= wait and known.checks >= 3


def usable(response: Response) -> tuple[str | None, str | None, tuple[str, ...]]:
    """ETag and Last-Modified of a response as they may be sent back, and why one may not (rule 4)."""
    etag, why_etag = _single(response, b"etag")
    date, why_date = _single(response, b"last-modified")
    if date is not None:
        lines = response.lines(b"date")
        said = http_date(lines[0], response.received_at) if lines else None
        sent_at = response.received_at if said is None else said
        modified_at = http_date(date.encode("latin-1"), response.received_at)
        if modified_at is not None and modified_at > sent_at:
            date, why_date = None, "later than Date"
        elif modified_at is not None and etag is None and sent_at - modified_at < 1:
            date, why_date = None, "as young as the response"
    if b"*" in response.lines(b"vary"):
        return None, None, ("validators unusable: Vary *",)
    notes = [f"{name} unusable: {why}" for name, why in (("etag", why_etag), ("last-modified", why_date)) if why]
    return etag, date, tuple(notes)


def _single(response: Response, name: bytes) -> tuple[str | None, str]:
    lines = list(dict.fromkeys(response.lines(name)))
    if not lines:
        return None, ""
    if len(lines) > 1:
        return None, "several lines differ"
    value = lines[0]
    if not value or len(value) > LONGEST or _CONTROL.search(value):
        return None, "over 1 KiB" if len(value) > LONGEST else "control byte" if value else "empty"
    return value.decode("latin-1"), ""
