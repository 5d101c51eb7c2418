"""The conditional layer as a state machine: what holds after any sequence of answers (CONDUCT rules 3-19)."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from watcher.core.exchange import Response
from watcher.core.lessons import TAGS, Learned, after_200, after_304, after_error
from watcher.core.model import Detect, RequestOptions, Secret
from watcher.core.phrase import DAY
from watcher.core.validators import NOTHING, Conditions, Trust, Validators, plan_conditions, request_key, usable

TAG = st.one_of(
    st.none(),
    st.sampled_from(['"a"', '"b"', 'W/"a"', '"a-gzip"', "unquoted", '"c, d"', "", '"caf\xfc"', '"x\x01"', "y" * 1025]),
)
DATE = st.one_of(
    st.none(), st.sampled_from(["Sun, 06 Nov 1994 08:49:37 GMT", "yesterday", "Sat, 01 Jan 2050 00:00:00 GMT"])
)
NOW = 1_767_607_200.0


def answer(status: int, etag: str | None, date: str | None, body: bytes = b"", at: float = NOW) -> Response:
    pairs = ((b"ETag", etag), (b"Last-Modified", date))
    headers = tuple((name, value.encode("latin-1")) for name, value in pairs if value is not None)
    return Response(
        url="http://h.test/", status=status, headers=headers, body=body, received_at=at, elapsed=0.0, bytes_wire=0
    )


class Polling(RuleBasedStateMachine):
    """A page whose server answers anything at all."""

    def __init__(self) -> None:
        super().__init__()
        self.known = Validators()
        self.body: bytes | None = None
        self.given: set[str] = set()
        self.now = NOW
        self.off_since: float | None = None

    def _conditions(self, force: bool = False) -> Conditions:
        found = plan_conditions(self.known, key="k", now=self.now, has_body=self.body is not None, force=force)
        assert len(found.headers) <= 1, "rule 3: one validator at a time"
        for name, value in found.headers:
            assert self.body is not None, "rule 9: no condition without the body"
            text = value.decode("latin-1")
            parts = text.split(", ") if name == b"If-None-Match" and len(self.known.tags) > 1 else [text]
            stems = {tag.replace("-gzip", "") for tag in self.given}
            assert all(part in self.given or part in stems for part in parts), "only what the server gave is sent"
            assert (found.kind, found.for_url) in (("etag", "http://h.test/"), ("last-modified", "http://h.test/"))
        assert not (force and found.headers)
        return found

    def _learn(self, learned: Learned) -> None:
        self.known = learned.validators
        self.now += DAY

    @rule(etag=TAG, date=DATE, body=st.sampled_from([b"one", b"two"]), same=st.booleans(), force=st.booleans())
    def page(self, etag: str | None, date: str | None, body: bytes, same: bool, force: bool) -> None:
        conditions = self._conditions(force)
        response = answer(200, etag, date, body, self.now)
        bytes_same = None if self.body is None else body == self.body
        learned = after_200(
            self.known,
            response,
            same_bytes=bytes_same,
            same_record=None if bytes_same is None else bytes_same or same,
            conditions=conditions,
            now=self.now,
            key="k",
        )
        self.body = body
        self.given |= {value for value in (etag, date) if value}
        assert (learned.validators.etag, learned.validators.last_modified) == usable(response)[:2], "rule 12"
        assert not learned.validators.plain_next
        assert learned.verdict == ""
        self._learn(learned)

    @rule(etag=TAG, date=DATE)
    def not_modified(self, etag: str | None, date: str | None) -> None:
        conditions = self._conditions()
        learned = after_304(
            self.known, answer(304, etag, date, at=self.now), conditions=conditions, has_body=self.body is not None
        )
        if conditions.kind is None:
            assert learned.verdict == "without-body"
        self.given |= {date} if date else set()
        if learned.verdict == "same":
            assert learned.validators.etag == self.known.etag, "rule 8: the tag that worked stays"
            assert learned.validators.trust is Trust.WORKING
        else:
            assert learned.validators.plain_next
        self._learn(learned)

    @rule(status=st.sampled_from([0, 400, 403, 404, 412, 429, 500, 503]))
    def error(self, status: int) -> None:
        conditions = self._conditions()
        learned = after_error(self.known, status, conditions=conditions)
        before = (self.known.etag, self.known.last_modified)
        assert (learned.validators.etag, learned.validators.last_modified) == before, "rule 24: errors write none"
        self._learn(learned)

    @rule()
    def lose_the_body(self) -> None:
        self.body = None

    @rule(days=st.integers(1, 40))
    def wait(self, days: int) -> None:
        self.now += days * DAY

    @invariant()
    def small_and_whole(self) -> None:
        assert len(self.known.tags) <= TAGS
        packed = msgspec.json.encode(self.known)
        assert msgspec.json.decode(packed, type=Validators) == self.known
        assert plan_conditions(self.known, key="other", now=self.now, has_body=True).headers == (), "rule 19"

    @invariant()
    def off_is_off(self) -> None:
        if self.known.trust is Trust.OFF and self.now < self.known.off_until_at:
            assert plan_conditions(self.known, key="k", now=self.now, has_body=True).headers == ()

    @invariant()
    def no_trust_is_for_ever(self) -> None:
        late = self.now + 400 * DAY
        known = msgspec.structs.replace(self.known, checks=3, plain_next=False)
        found = plan_conditions(known, key="k", now=late, has_body=True)
        sendable = (known.etag or known.last_modified) is not None
        assert bool(found.headers) or found.guard or not sendable


Polling.TestCase.settings = settings(max_examples=150, stateful_step_count=25, deadline=None)
TestPolling = Polling.TestCase


@given(TAG, DATE)
def test_rule_5_byte_exact_mode_never_sends_anything_weak(etag: str | None, date: str | None) -> None:
    known = Validators(etag=etag, last_modified=date, key="k", url="u", tags=('"a"', '"b"'))
    found = plan_conditions(known, key="k", now=NOW, has_body=True, detect=Detect.BYTES)
    assert all(name == b"If-None-Match" and value.startswith(b'"') for name, value in found.headers)


def test_a_plain_page_costs_a_journal_few_bytes() -> None:
    fresh = after_200(
        Validators(),
        answer(200, '"a"', "Sun, 06 Nov 1994 08:49:37 GMT"),
        same_bytes=None,
        same_record=None,
        conditions=NOTHING,
        now=NOW,
        key="0123456789abcdef",
    ).validators
    assert len(msgspec.json.encode(fresh)) < 200


def test_request_key_tells_representations_apart_and_tells_nothing_else() -> None:
    plain = RequestOptions()
    varied: list[dict[str, Any]] = [
        {"headers": (("Accept-Language", "de"),)},
        {"cookies": (("a", "b"),)},
        {"auth": ("me", Secret("env:A"))},
        {"auth": ("me", Secret("env:B"))},
        {"method": "POST"},
    ]
    keys = [request_key(plain, "d"), request_key(plain, "e"), request_key(plain, "d", Detect.BYTES)]
    keys += [request_key(RequestOptions(**more), "d") for more in varied]
    assert len(set(keys)) == len(keys)
    assert request_key(RequestOptions(timeout=5.0, obey_robots=False), "d") == keys[0]
    assert all(len(key) == 16 for key in keys)
