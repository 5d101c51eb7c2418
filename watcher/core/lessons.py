"""What an answer teaches about a page's validators: CONDUCT rules 4-19 as pure functions from one state to the next.

Three 200s in a row with the very bytes we had make the trust ``churning``; before that the tags seen with these bytes
are listed together (two back ends), and the date is tried alone. Only whole pages and 304s ever write validators.
"""

from __future__ import annotations

import re

import msgspec

from watcher.core.exchange import Response
from watcher.core.freshness import max_age
from watcher.core.model import Finding
from watcher.core.phrase import DAY
from watcher.core.validators import QUOTED, Conditions, Trust, Validators, usable

TAGS = 4
OFF_FOR = 30 * DAY
REFUSALS = frozenset({400, 412, 417, 431})

_SUFFIX = re.compile(r"(?:-gzip|;gzip|-br|-zstd|-df)(?=\"?$)")


class Learned(msgspec.Struct, frozen=True, kw_only=True):
    """The validators from now on, and what to tell: audit ``flags`` and ``findings`` that nobody need repeat.

    ``verdict`` is set for a 304: ``same`` (the record is confirmed), ``unproven`` (nothing changes, nothing is
    confirmed) or ``without-body`` (it answers no condition of ours, or there is no record behind it).
    """

    validators: Validators
    flags: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    verdict: str = ""


def _opaque(tag: str) -> str:
    """The tag without weakness and without what servers add for a coding: equal for one page, however it was sent."""
    return _SUFFIX.sub("", tag.removeprefix("W/").removeprefix("w/"))


def after_200(
    known: Validators,
    response: Response,
    *,
    same_bytes: bool | None,
    same_record: bool | None,
    conditions: Conditions,
    now: float,
    key: str,
    counts: bool = True,
) -> Learned:
    """A whole page came. ``same_bytes`` and ``same_record`` compare it with the stored one (None: there is none).

    ``conditions`` are those really sent. ``counts`` is False for a response served stale with leave (rule 29).
    """
    etag, date, notes = usable(response)
    mine = known.key == key and known.url == response.url and same_bytes is not None
    before = known if mine else _elsewhere(known, response.url)
    tale = _Tale(before, now, list(notes))
    fresh = {
        "etag": etag,
        "last_modified": date,
        "max_age": max_age(response),
        "url": response.url,
        "key": key,
        "full_at": now,
        "hits": 0,
        "plain_next": False,
        "no_cache": False,
        "broke": 0,
        "tags": () if etag is None else (etag,),
    }
    tale.set(**fresh)
    if before.trust is Trust.OFF and now >= before.off_until_at:
        tale.set(trust=Trust.UNTESTED)
    if known.broke >= 2 and known.plain_next:
        tale.off("conditionals_break", "a request without conditions works where one with them fails")
    if not mine:
        tale.set(trust=tale.now.trust if tale.now.trust is Trust.OFF else Trust.UNTESTED)
    elif same_bytes:
        _same_bytes(tale, before, conditions, counts)
    elif same_record:
        _same_record(tale, before, conditions, counts)
    else:
        _moved(tale)
    if mine and not same_bytes:
        _honesty(tale, before, conditions, bool(same_record))
    _without_validators(tale, before)
    return tale.told()


def _elsewhere(known: Validators, url: str) -> Validators:
    """What still holds when there is nothing to compare with: a new address is a new start, lost bytes are not."""
    if known.url and known.url != url:
        return Validators()
    return Validators(unproven=known.unproven, off_until_at=known.off_until_at, trust=known.trust)


class _Tale:
    """Validators on their way through one answer, with the flags and findings it gives rise to."""

    def __init__(self, before: Validators, at: float, flags: list[str]) -> None:
        self.now = before
        self._at = at
        self._flags = flags
        self._findings: list[Finding] = []

    def set(self, **fields: object) -> None:
        self.now = msgspec.structs.replace(self.now, **fields)

    def find(self, kind: str, reason: str, evidence: str = "", until_at: float | None = None) -> None:
        self._flags.append(kind)
        found = Finding(kind=kind, since_at=self._at, reason=reason, evidence=evidence[:200], until_at=until_at)
        self._findings.append(found)

    def flag(self, flag: str) -> None:
        self._flags.append(flag)

    def off(self, kind: str, reason: str, evidence: str = "") -> None:
        until = self._at + OFF_FOR
        self.set(trust=Trust.OFF, off_until_at=until, reason=kind, since_at=self._at)
        self.find(kind, reason, evidence, until)

    def churn(self, kind: str, evidence: str) -> None:
        again = self.now.trust is Trust.CHURNING
        tries = self.now.tries + 1 if again else 0
        self.set(trust=Trust.CHURNING, reason=kind, since_at=self._at, checks=0, tries=tries, plain_repeats=0)
        if not again:
            self.find(kind, _CHURN[kind], evidence)

    def told(self, verdict: str = "") -> Learned:
        return Learned(validators=self.now, flags=tuple(self._flags), findings=tuple(self._findings), verdict=verdict)


_CHURN = {
    "etag_churn": "the ETag differs at every response although the page does not",
    "lm_churn": "Last-Modified differs at every response although the page does not",
    "ignores_conditionals": "the server sends the page again although its validator is the one we sent",
}


def _same_bytes(tale: _Tale, before: Validators, conditions: Conditions, counts: bool) -> None:
    """Rules 14-16: the server sent what we have. Once is chance, twice tries the date, three times is its nature."""
    etag, date = tale.now.etag, tale.now.last_modified
    if etag is not None:
        tags = (etag, *(tag for tag in before.tags if tag != etag))[:TAGS]
        tale.set(tags=tags if all(map(QUOTED.fullmatch, tags)) else (etag,))
    if conditions.kind is None:
        if before.trust is Trust.CHURNING:
            repeated = etag is not None and etag == before.etag
            tale.set(checks=before.checks + 1, plain_repeats=before.plain_repeats + 1 if repeated else 0)
        return
    if not counts:
        return
    repeats = before.repeats + 1
    tale.set(repeats=repeats, rewrites=0)
    if repeats == 1 and etag is not None and etag == before.etag and _opaque(etag) != etag.removeprefix("W/"):
        tale.set(tags=(etag, _SUFFIX.sub("", etag)))
    churned = etag is not None and before.etag is not None and _opaque(etag) != _opaque(before.etag)
    if repeats >= 2 and churned and date is not None and date == before.last_modified:
        tale.set(date_only=True)
    if repeats >= 3:
        _churning(tale, before, f"{repeats} full answers in a row with the bytes we had")


def _same_record(tale: _Tale, before: Validators, conditions: Conditions, counts: bool) -> None:
    tale.set(repeats=0, date_only=False, plain_repeats=0)
    if before.trust is Trust.CHURNING:
        tale.set(checks=before.checks + 1)
    elif before.trust is Trust.WORKING:
        tale.set(trust=Trust.UNTESTED)
    if conditions.kind is None or not counts:
        return
    tale.set(rewrites=before.rewrites + 1)
    if tale.now.rewrites >= 5:
        _churning(tale, before, f"{tale.now.rewrites} full answers in a row with the record we had")


def _churning(tale: _Tale, before: Validators, evidence: str) -> None:
    etag, date = tale.now.etag, tale.now.last_modified
    if etag != before.etag:
        kind = "etag_churn"
    else:
        kind = "lm_churn" if etag is None and date != before.last_modified else "ignores_conditionals"
    tale.churn(kind, f"{evidence}; {before.etag or before.last_modified or ''} then {etag or date or ''}")


def _moved(tale: _Tale) -> None:
    """The page changed: what its validators earned so far says nothing against the new ones."""
    tale.set(repeats=0, rewrites=0, plain_repeats=0, date_only=False)
    if tale.now.trust is Trust.WORKING:
        tale.set(trust=Trust.UNTESTED)
    elif tale.now.trust is Trust.CHURNING:
        tale.set(checks=tale.now.checks + 1)


def _honesty(tale: _Tale, before: Validators, conditions: Conditions, same_record: bool) -> None:
    """Rules 11 and 13: a tag that stayed while the page moved. A weak one may stay over a rewritten page."""
    etag = tale.now.etag
    if etag is None or etag != before.etag:
        if conditions.guard and etag is None and before.last_modified == tale.now.last_modified and not same_record:
            tale.off("stuck_304", "the server answered 304 although the page had changed", before.last_modified or "")
        return
    if conditions.guard:
        tale.off("stuck_304", "the server answered 304 although the page had changed", etag)
    elif not (etag.startswith("W/") and same_record):
        tale.set(lies=before.lies + 1)
        tale.flag("etag_lies")
        if tale.now.lies >= 2 and tale.now.full_at >= before.etag_off_until_at:
            tale.set(etag_off_until_at=tale.now.full_at + OFF_FOR)
            tale.find("etag_lies", "the ETag stayed while the page changed", etag, tale.now.etag_off_until_at)


def _without_validators(tale: _Tale, before: Validators) -> None:
    if tale.now.etag is not None or tale.now.last_modified is not None:
        tale.set(bare=0, trust=Trust.UNTESTED if tale.now.trust is Trust.NONE else tale.now.trust)
        return
    tale.set(bare=before.bare + 1)
    if tale.now.bare >= 3 and tale.now.trust in (Trust.UNTESTED, Trust.WORKING):
        tale.set(trust=Trust.NONE)
        tale.find("no_validators", "three full answers in a row came without a usable ETag or Last-Modified")


def after_304(known: Validators, response: Response, *, conditions: Conditions, has_body: bool) -> Learned:
    """A 304 came. ``conditions`` are those really sent. The record itself is never touched by one (rules 6-9)."""
    now = response.received_at
    if conditions.kind is None or not has_body:
        lost = msgspec.structs.replace(known, plain_next=True, no_cache=True)
        return Learned(validators=lost, flags=("lies_with_304",), verdict="without-body")
    etag, date, _ = usable(response)
    tale = _Tale(known, now, [])
    if conditions.kind == "etag" and etag is not None:
        ours = {_opaque(tag) for tag in (known.etag, *known.tags) if tag is not None}
        if _opaque(etag) not in ours:
            tale.set(etag=None, last_modified=None, tags=(), plain_next=True, unproven=known.unproven + 1)
            tale.flag("foreign_304")
            if tale.now.unproven >= 2:
                tale.off("foreign_304", "304s come with an ETag that is not ours", etag)
            return tale.told("unproven")
    tale.set(trust=Trust.WORKING, hits=known.hits + 1, repeats=0, rewrites=0, plain_repeats=0, broke=0, unproven=0)
    tale.set(reason="", since_at=0.0, tries=0, checks=0)
    if date is not None:
        tale.set(last_modified=date)
    if response.lines(b"cache-control"):
        tale.set(max_age=max_age(response))
    return tale.told("same")


def after_error(known: Validators, status: int, *, conditions: Conditions) -> Learned:
    """A status that is neither 200 nor 304 came (0: none did). Validators survive; conditions may rest (rule 17)."""
    if conditions.kind is None:
        return Learned(validators=known)
    if status in REFUSALS:
        return Learned(
            validators=msgspec.structs.replace(known, plain_next=True, broke=2), flags=("conditions_refused",)
        )
    if status < 500:
        return Learned(validators=known)
    broke = known.broke + 1
    return Learned(validators=msgspec.structs.replace(known, broke=broke, plain_next=broke >= 2))
