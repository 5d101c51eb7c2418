"""The values everything else speaks in: watches, fields, records, outcomes, observations.

All instants are unix seconds in UTC (``float``) and end in ``_at``; all durations are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeAlias

import msgspec

Value: TypeAlias = Any
"""An extracted value: ``None``, ``bool``, ``int``, ``Decimal``, ``str``, or a list or mapping of these.

Binary floats never appear: a number read from a page is exact or it is text. A price is
``{"minor": 1999, "currency": "EUR"}`` (integer minor units, ISO 4217).
"""

EXACT = (bool, int, Decimal, str)


class Outcome(StrEnum):
    """What one check of one watch came to."""

    FIRST = "first"
    NOT_MODIFIED = "not_modified"
    UNCHANGED = "unchanged"
    CHANGED = "changed"
    GONE = "gone"
    RETURNED = "returned"
    REDEFINED = "redefined"
    ERROR = "error"
    BLOCKED = "blocked"
    DEFERRED = "deferred"


class Status(StrEnum):
    """The lasting state of a watch, which single outcomes move it between."""

    NEW = "new"
    OK = "ok"
    FAILING = "failing"
    BLOCKED = "blocked"
    DEFERRED = "deferred"
    GONE = "gone"


class FieldType(StrEnum):
    """What a picked value is read as."""

    TEXT = "text"
    CONTENT = "content"
    NUMBER = "number"
    PRICE = "price"
    DATE = "date"
    LIST = "list"
    HTML = "html"


class Detect(StrEnum):
    """What decides whether a page changed: its extracted fields or its exact bytes."""

    FIELDS = "fields"
    BYTES = "bytes"


class Field(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One named thing to extract. Exactly one of ``css``, ``xpath``, ``json`` picks; ``regex`` picks alone or refines.

    ``attr`` names the attribute to read instead of the text; ``remove`` drops nodes first,
    ``replace`` rewrites the text afterwards; ``each`` extracts one row per picked node.
    """

    name: str
    css: str | None = None
    xpath: str | None = None
    json: str | None = None
    regex: str | None = None
    attr: str | None = None
    type: FieldType = FieldType.TEXT
    all: bool = False
    unordered: bool = False
    optional: bool = False
    track: bool = True
    personal: bool = False
    remove: tuple[str, ...] = ()
    replace: tuple[tuple[str, str], ...] = ()
    each: tuple[Field, ...] = ()
    currency: str | None = None
    decimal: str | None = None
    grouping: str | None = None
    timezone: str | None = None


class PageType(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of page: the interval it starts at, its bounds (seconds), its weight and retention class.

    ``weight`` multiplies every computed interval and its floor: 0.5 asks twice as often.
    """

    name: str
    interval: float
    min_interval: float | None = None
    max_interval: float | None = None
    weight: float = 1.0
    retention: str = "default"


class Policy(StrEnum):
    """How the next check is planned."""

    ADAPTIVE = "adaptive"
    ESTIMATED = "estimated"
    FIXED = "fixed"
    CRON = "cron"


class Cadence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the schedule needs to know of one watch, resolved from watch > tag > host > type > global.

    ``interval`` is the seed (adaptive), the interval itself (fixed), and unused by cron.
    ``price`` is the value of a check in seconds of fresh copy below which ``estimated`` waits.
    """

    policy: Policy = Policy.ADAPTIVE
    interval: float = 86_400.0
    minimum: float = 3_600.0
    maximum: float = 259_200.0
    weight: float = 1.0
    force_after: float = 2_592_000.0
    price: float = 4_320.0
    rhythm: bool = True
    cron: str | None = None
    timezone: str | None = None


class RequestOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a watch's page is asked for. Secrets are held as :class:`Secret` references, never as text."""

    method: str = "GET"
    headers: tuple[tuple[str, str | Secret], ...] = ()
    cookies: tuple[tuple[str, str | Secret], ...] = ()
    auth: tuple[str | Secret, str | Secret] | None = None
    body: str | Secret | None = None
    proxy: str | Secret | None = None
    timeout: float = 60.0
    max_body: int = 10 * 1024 * 1024
    encoding: str | None = None
    conditional: bool = True
    obey_robots: bool = True
    ignore_freshness: bool = False
    forbid_redirect_to: tuple[str, ...] = ()
    secret_query: tuple[str, ...] = ()


class Secret(msgspec.Struct, frozen=True, tag=True):
    """A secret by reference: ``env:NAME`` or ``command:...``. Its text is read at the moment of use only.

    ``literal:TEXT`` is what a URL's own userinfo becomes: nothing prints it.
    """

    source: str

    def __str__(self) -> str:
        return f"<secret {self.source.split(':', 1)[0]}>"

    __repr__ = __str__


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for. ``name`` is its identity; several watches may share a URL.

    ``url`` is http(s); ``command`` (argv) and ``file:`` URLs are the other sources. ``origin``
    says where the watch is declared (file and line), for editing and for messages. ``ignore`` holds texts: blocks of
    content that read so are left out.
    """

    name: str
    url: str
    command: tuple[str, ...] = ()
    type: str = "listing"
    tags: tuple[str, ...] = ()
    priority: float = 1.0
    fields: tuple[Field, ...] = ()
    remove: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    detect: Detect = Detect.FIELDS
    cadence: Cadence = Cadence()
    request: RequestOptions = RequestOptions()
    retention: str = "default"
    notify_when: str | None = None
    disabled_rules: tuple[str, ...] = ()
    declared_in: str | None = None
    declared_line: int | None = None


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a page said: field name -> value, and the versions of the rules that read it.

    ``definition`` identifies the field definitions and extraction rules; another one than the
    stored one means ``redefined``, never ``changed``. ``untracked`` and ``personal`` name the
    fields left out of the fingerprint and out of history.
    """

    values: dict[str, Value]
    fingerprint: str = ""
    definition: str = ""
    untracked: tuple[str, ...] = ()
    personal: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def tracked(self) -> dict[str, Value]:
        """The values whose movement is a change."""
        return {k: v for k, v in self.values.items() if k not in self.untracked}

    def public(self) -> dict[str, Value]:
        """The values that may stand in history: everything not ``personal``."""
        return {k: v for k, v in self.values.items() if k not in self.personal}


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a check failed: a stable ``kind`` (``transient``, ``tls``, ``broken:encoding`` ...) and one sentence."""

    kind: str
    message: str


class FieldChange(msgspec.Struct, frozen=True):
    """One field's value before and after a change; ``None`` on a side where the field was absent."""

    field: str
    before: Value
    after: Value


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was learned about a host or a watch, so that nobody investigates it twice (``etag_churn`` ...)."""

    kind: str
    since_at: float
    reason: str
    evidence: str = ""
    until_at: float | None = None


Changes: TypeAlias = tuple[FieldChange, ...]
Values: TypeAlias = Mapping[str, Value]
