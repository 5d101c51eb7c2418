"""The ``/`` filter language, the same on the screen, on the command line and in notification rules.

Terms stand side by side and must all hold; ``-`` before a term turns it round; ``a,b`` means either::

    status:failing,blocked  tag:shop  changed:<2d  every:<1h  host:example.org  type:detail  "desk lamp"  -tag:old

Bare words and quoted text are looked for in name, URL and tags.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from typing import TypeAlias

from watcher.core.model import Outcome, Status, Watch
from watcher.core.state import Summary

Test: TypeAlias = Callable[[Watch, Summary | None, float], bool]

STATES = tuple(dict.fromkeys([*Status, *Outcome, "paused", "unseen"]))
_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_TERM = re.compile(r'(?P<not>-?)(?:(?P<key>[A-Za-z]+):(?!//))?(?P<value>(?:"[^"]*"|[^\s"])*)(?P<open>"?)')
_LENGTH = re.compile(r"(?P<sign><=|>=|<|>|=)?(?P<length>(?:\d+(?:\.\d+)?[smhdw])+)")
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")


class QueryError(ValueError):
    """A filter nobody can follow. ``str()`` is one sentence; ``position`` counts characters from 0."""

    def __init__(self, problem: str, position: int, suggestion: str = "") -> None:
        self.position = position
        self.suggestion = suggestion
        super().__init__(f"{problem} at character {position + 1}{f'; {suggestion}' if suggestion else ''}.")


class Query:
    """A filter that was understood. Two of the same text are equal."""

    __slots__ = ("_tests", "text")

    def __init__(self, text: str, tests: tuple[Test, ...]) -> None:
        self.text = text
        self._tests = tests

    def matches(self, watch: Watch, summary: Summary | None, now: float) -> bool:
        """Whether every term holds. A term about the state of a watch without one does not."""
        for test in self._tests:  # noqa: SIM110 - all() of a generator costs as much as the tests
            if not test(watch, summary, now):
                return False
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Query({self.text!r})"


def parse(text: str) -> Query:
    """Understand ``text``; an empty one matches everything. Raises :class:`QueryError`."""
    tests: list[Test] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found = _TERM.match(text, at)
        assert found is not None  # the pattern matches the empty string
        if found["open"]:
            raise QueryError("A quotation mark is never closed", found.start("open"), 'write it as "two words"')
        tests.append(_term(found))
        at = found.end()
    return Query(text.strip(), tuple(tests))


def _term(found: re.Match[str]) -> Test:
    key, value = found["key"], found["value"].replace('"', "")
    if key is None:
        if not value:
            raise QueryError("A lone - excludes nothing", found.start(), "write -word or -tag:name")
        test = _words(value)
    else:
        name = key.casefold()
        make = KEYS.get(name)
        if make is None:
            near = get_close_matches(name, KEYS, n=1)
            advice = f"did you mean {near[0]}:?" if near else f"there are {', '.join(KEYS)}"
            raise QueryError(f'"{key}:" is no filter', found.start("key"), advice)
        values = [part for part in value.split(",") if part]
        if not values:
            raise QueryError(f'"{key}:" needs a value', found.start("value"), EXAMPLES[name])
        test = make(values, found.start("value"))
    if not found["not"]:
        return test
    return lambda watch, summary, now: not test(watch, summary, now)


def _words(value: str) -> Test:
    needle = value.casefold()

    def test(watch: Watch, summary: Summary | None, now: float) -> bool:
        if needle in watch.name.casefold() or needle in watch.url.casefold():
            return True
        return any(needle in tag.casefold() for tag in watch.tags)

    return test


def _status(values: list[str], position: int) -> Test:
    wanted = [value.casefold() for value in values]
    for value in wanted:
        if value not in STATES:
            near = get_close_matches(value, STATES, n=1)
            advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(STATES)}"
            raise QueryError(f'"{value}" is no status', position, advice)
    statuses = frozenset(wanted)
    paused, unseen = "paused" in statuses, bool(statuses & {"unseen", "changed"})

    def test(watch: Watch, summary: Summary | None, now: float) -> bool:
        if summary is None:
            return False
        return (
            summary.status in statuses
            or summary.outcome in statuses
            or (paused and summary.paused)
            or (unseen and summary.unseen)
        )

    return test


def _tag(values: list[str], position: int) -> Test:
    wanted = frozenset(value.casefold() for value in values)
    return lambda watch, summary, now: any(tag.casefold() in wanted for tag in watch.tags)


def _type(values: list[str], position: int) -> Test:
    wanted = frozenset(value.casefold() for value in values)
    return lambda watch, summary, now: watch.type.casefold() in wanted


def _host(values: list[str], position: int) -> Test:
    names = "|".join(re.escape(value.casefold().rstrip(".")) for value in values)
    pattern = re.compile(rf"^[^:/?#]*://(?:[^/?#@]*@)?(?:[^/?#:]*\.)?(?:{names})\.?(?:[:/?#]|$)")
    return lambda watch, summary, now: pattern.match(watch.url.casefold()) is not None


def _name(values: list[str], position: int) -> Test:
    needles = [value.casefold() for value in values]
    return lambda watch, summary, now: any(needle in watch.name.casefold() for needle in needles)


def _url(values: list[str], position: int) -> Test:
    needles = [value.casefold() for value in values]
    return lambda watch, summary, now: any(needle in watch.url.casefold() for needle in needles)


def _changed(values: list[str], position: int) -> Test:
    return _timed(values, position, "changed", lambda s, now: _age(s.last_changed_at, now))


def _checked(values: list[str], position: int) -> Test:
    return _timed(values, position, "checked", lambda s, now: _age(s.last_fetched_at, now))


def _due(values: list[str], position: int) -> Test:
    return _timed(values, position, "due", lambda s, now: None if s.next_check_at is None else s.next_check_at - now)


def _every(values: list[str], position: int) -> Test:
    return _timed(values, position, "every", lambda s, now: s.check_interval, plain="=")


def _age(at: float | None, now: float) -> float | None:
    return None if at is None else now - at


def _timed(
    values: list[str],
    position: int,
    key: str,
    measure: Callable[[Summary, float], float | None],
    plain: str = "<",
) -> Test:
    """A duration to compare with: ``2d`` alone means within it. What never happened is longer ago than anything."""
    if values == ["never"] and plain == "<":
        return lambda watch, summary, now: summary is not None and measure(summary, now) is None
    limits = [_limit(value, position, key, plain) for value in values]

    def test(watch: Watch, summary: Summary | None, now: float) -> bool:
        if summary is None:
            return False
        length = measure(summary, now)
        for holds, limit in limits:  # noqa: SIM110 - as above
            if holds(math.inf if length is None else length, limit):
                return True
        return False

    return test


def _limit(value: str, position: int, key: str, plain: str) -> tuple[Callable[[float, float], bool], float]:
    found = _LENGTH.fullmatch(value.casefold())
    if found is None:
        raise QueryError(f'"{value}" is no duration for {key}:', position, EXAMPLES[key])
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(found["length"]))
    return _COMPARE[found["sign"] or plain], seconds


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": partial(math.isclose, rel_tol=0.01),
}


KEYS: dict[str, Callable[[list[str], int], Test]] = {
    "status": _status,
    "tag": _tag,
    "type": _type,
    "host": _host,
    "name": _name,
    "url": _url,
    "changed": _changed,
    "checked": _checked,
    "due": _due,
    "every": _every,
}

EXAMPLES = {
    "status": "write status:failing",
    "tag": "write tag:shop",
    "type": "write type:detail",
    "host": "write host:example.org",
    "name": "write name:lamp",
    "url": "write url:/news/",
    "changed": "write changed:<2d or changed:never",
    "checked": "write checked:>1d or checked:never",
    "due": "write due:<1h or due:never",
    "every": "write every:<1h",
}
