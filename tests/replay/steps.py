"""Playing a case step by step: one check each, on the fake clock, against the scripted server."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from tests.replay import overrules
from tests.replay.cases import Case, NotPlayable
from tests.replay.told import ANY, Told, counts, options
from tests.replay.watches import absolute, watch_table
from tests.replay.world import World
from tests.support.clock import EPOCH
from tests.support.server import Request
from tests.support.wire import Spec, fill, seconds
from watcher.config import ConfigError
from watcher.core.model import Outcome
from watcher.core.state import UrlState
from watcher.core.urls import parse_url
from watcher.engine.events import Checked

FAILED = (Outcome.ERROR, Outcome.BLOCKED, Outcome.DEFERRED)
CONDITIONS_DROPPED = (304, 400, 412, 417, 431)
"""Statuses after which the contract drops validators without a new page (CONDUCT rules 9 and 17)."""
EVENTS = {"returned": "back", "recovered": "back"}
PLAYED = {
    "at", "response", "responses", "expect", "if_unconditional", "if_conditional", "if_cookie", "config_change",
    "restart_before", "user_action", "note", "strength", "on_target",
}  # fmt: skip
ACTIONS = {"force_check": True, "check_now": False}


class Replay:
    """One case being played. ``overruled`` collects the design rules that won over the file."""

    def __init__(self, case: Case, world: World) -> None:
        self.case = case
        self.world = world
        self.watch = copy.deepcopy(case.data["watch"])
        self.own = absolute(self.watch["url"], world.server.names)
        self.origin, self.path = self._locate(self.own)
        self.story = overrules.Story()
        self.overruled: list[str] = []

    async def run(self) -> None:
        """Play every step. Raises AssertionError naming the step that went otherwise."""
        self.others = sorted({path for step in self.case.steps for path in step.get("expect", {}).get("others", {})})
        self.world.tables = self._tables()
        try:
            await self.world.start()
        except ConfigError as error:
            outcomes = Told.of(self.case.steps[0]["expect"]).outcomes or []
            if "rejected" not in outcomes:
                raise AssertionError(f"{self.case.name}: configuration rejected: {error}") from None
            return
        for number, step in enumerate(self.case.steps, 1):
            unknown = set(step) - PLAYED
            if unknown:
                raise NotPlayable(f"step keys without a meaning here: {', '.join(sorted(unknown))}")
            await self._step(f"{self.case.name}, step {number} (at {step['at']})", step)

    def _tables(self) -> list[dict[str, Any]]:
        names = self.world.server.names
        more = [watch_table(path, path, self.watch, names) for path in self.others]
        return [watch_table("watched", self.watch["url"], self.watch, names), *more]

    def _locate(self, url: str) -> tuple[int, str]:
        parsed = parse_url(url)
        return self.world.server.ports.index(parsed.port), parsed.target

    async def _step(self, where: str, step: dict[str, Any]) -> None:
        world = self.world
        await world.clock.run_until(EPOCH + seconds(step["at"]))
        if change := step.get("config_change"):
            await self._reconfigure(where, change, Told.of(step.get("expect", {})).outcomes or [])
        if step.get("restart_before"):
            await world.restart()
        action = step.get("user_action")
        if action is not None and action not in ACTIONS:
            raise NotPlayable(f"user action {action!r}")
        world.server.script(self._answers(step))
        since, before, told_before = len(world.server.log), world.state("watched"), copy.deepcopy(self.story)
        checked = await world.check(force=action is not None and ACTIONS[action])
        if world.server.problems:
            raise NotPlayable("; ".join(world.server.problems))
        asked = world.server.log[since:]
        self._listen(asked)
        told = Told.of(step.get("expect", {}))
        overrules.apply(told, step, self.story, told_before)
        self.overruled += [rule for rule in told.overruled if rule not in self.overruled]
        self._compare(where, told, checked, asked)
        for target in (step.get("expect", {}).get("target"), step.get("on_target")):
            if target is not None:
                self._compare_target(where, target, asked, world.state("watched"))
        self._compare_others(where, step, checked, asked)
        self._kept(where, before, checked)
        world.assert_store_is_strict(where)

    async def _reconfigure(self, where: str, change: dict[str, Any], outcomes: list[str]) -> None:
        """Edit the watch as ``change`` says; a configuration that must be rejected leaves the old one in force."""
        before, tables = copy.deepcopy(self.watch), self.world.tables
        self.watch["fields"] = change.get("fields", self.watch["fields"])
        self.watch["options"] = {**self.watch.get("options", {}), **change.get("options", {})}
        self.world.tables = self._tables()
        try:
            await self.world.restart()
        except ConfigError as error:
            if "rejected" not in outcomes:
                raise AssertionError(f"{where}: configuration rejected: {error}") from None
            self.watch, self.world.tables = before, tables
            await self.world.restart()

    def _answers(self, step: dict[str, Any]) -> dict[str, Spec | list[Spec]]:
        kinds = ("if_unconditional", "if_conditional", "if_cookie")
        extra = {kind: step[kind] for kind in kinds if kind in step}
        given = step.get("responses", {})
        answers: dict[str, Any] = {}
        if "seq" in given:
            answers[self.path] = given["seq"]
        else:
            for path, spec in given.items():
                answers[path] = spec.get("seq", spec)
        own = step.get("response", answers.get(self.path, {}))
        answers[self.path] = [{**spec, **extra} for spec in own] if isinstance(own, list) else {**own, **extra}
        return {path: spec for path, spec in answers.items() if spec}

    def _listen(self, asked: Iterable[Request]) -> None:
        for request in asked:
            if (request.origin, request.target) == (self.origin, self.path):
                self.story.heard(request.answer, request.at, request.conditional)

    def _compare(self, where: str, told: Told, checked: list[Checked], asked: list[Request]) -> None:
        mine = [event for event in checked if event.check.name == "watched"]
        own = [request for request in asked if (request.origin, request.target) == (self.origin, self.path)]
        state = self.world.state("watched")
        if told.outcomes is not None:
            self._compare_outcome(where, told.outcomes, mine, own)
        if told.events is not None:
            news = mine[-1].news if mine and mine[-1].news else None
            heard = EVENTS.get(news.value, news.value) if news else "none"
            assert heard in told.events, f"{where}: event {heard!r}, expected {told.events}"
        if told.requests is not ANY:
            self._compare_requests(where, told.requests, own, asked)
        if told.headers and own:
            _compare_headers(where, told.headers, own[0], self.world.server.names)
        if told.record is not ANY:
            stored = state.record.values if state is not None and state.record is not None else None
            assert _same(told.record, stored, self.watch["fields"]), f"{where}: record {stored}, expected {told.record}"

    def _compare_outcome(self, where: str, outcomes: list[str], mine: list[Checked], own: list[Request]) -> None:
        if ("no_request" in outcomes and not own) or "rejected" in outcomes:
            return
        assert mine, f"{where}: no check was made, expected {outcomes}"
        check = mine[-1].check
        assert check.outcome.value in outcomes, f"{where}: {check.outcome.value} ({check.failure}), expected {outcomes}"

    def _compare_others(self, where: str, step: dict[str, Any], checked: list[Checked], asked: list[Request]) -> None:
        for path, expect in step.get("expect", {}).get("others", {}).items():
            told, at = Told.of(expect), f"{where}, {path}"
            overrules.apply_other(told, step, self.overruled)
            mine = [event for event in checked if event.check.name == path]
            own = [request for request in asked if request.target == path]
            if told.outcomes is not None:
                self._compare_outcome(at, told.outcomes, mine, own)
            if told.requests is not ANY:
                self._compare_requests(at, told.requests, own, asked)
            if told.record is not ANY:
                state = self.world.state(path)
                stored = state.record.values if state and state.record else None
                assert _same(told.record, stored, self.watch["fields"]), f"{at}: record {stored}"

    def _compare_requests(self, where: str, expected: Any, own: list[Request], asked: list[Request]) -> None:
        by_path = isinstance(expected, Mapping) and any(str(key).startswith(("/", "{")) for key in expected)
        for path, number in expected.items() if by_path else ():
            place = self.world.server.locate(path)
            found = sum((request.origin, request.target) == place for request in asked)
            assert counts(number)(found), f"{where}: {found} requests for {path}, expected {number}"
        assert by_path or counts(expected)(len(own)), f"{where}: {len(own)} requests, expected {expected}"

    def _compare_target(self, where: str, expected: Any, asked: list[Request], state: UrlState | None) -> None:
        """What is expected of the URL that a redirect led to: its requests and their headers, or just its name."""
        names = self.world.server.names
        if isinstance(expected, str):
            found = state.effective_url if state else None
            assert found == absolute(expected, names), f"{where}: led to {found}, expected {expected}"
            return
        own = (self.origin, self.path)
        led_to = [r for r in asked if (r.origin, r.target) != own and r.target != "/robots.txt"]
        if "requests" in expected:
            assert counts(expected["requests"])(len(led_to)), f"{where}: {len(led_to)} requests of the target"
        if "request_headers_expected" in expected and led_to:
            wanted = {name: options(value) for name, value in expected["request_headers_expected"].items()}
            _compare_headers(f"{where}, target", wanted, led_to[0], names)

    def _kept(self, where: str, before: UrlState | None, checked: list[Checked]) -> None:
        """A failed check never alters record or validators (a refusal of conditions may drop the latter)."""
        for event in checked:
            if event.check.name != "watched" or event.check.outcome not in FAILED or before is None:
                continue
            after = self.world.state("watched")
            assert after is not None
            assert after.record == before.record, f"{where}: a failed check altered the record"
            pair = (after.validators.etag, after.validators.last_modified)
            dropped = pair == (None, None) and event.check.status in CONDITIONS_DROPPED
            stored = (before.validators.etag, before.validators.last_modified)
            assert dropped or pair == stored, f"{where}: a failed check altered the validators"


def _compare_headers(
    where: str, expected: Mapping[str, list[str | None]], request: Request, names: Mapping[str, str]
) -> None:
    for name, values in expected.items():
        sent = request.header(name)
        wanted = [value if value is None else fill(value, names, request.at) for value in values]
        assert sent in wanted, f"{where}: {name} was {sent!r}, expected one of {wanted}"


def _same(expected: Any, stored: Any, fields: Mapping[str, Any]) -> bool:
    """Whether the stored record says what the case expects; declared numbers compare by value, unordered as bags."""
    if expected is None or stored is None:
        return expected is stored
    if set(expected) != set(stored):
        return False
    return all(_same_value(value, stored[name], fields.get(name, {})) for name, value in expected.items())


def _same_value(expected: Any, stored: Any, spec: Mapping[str, Any]) -> bool:
    if spec.get("type") == "number" and expected is not None:
        return bool(_number(expected) == stored)
    if spec.get("unordered") and isinstance(expected, list):
        return Counter(map(repr, expected)) == Counter(map(repr, stored))
    return bool(expected == stored)


def _number(told: Any) -> Decimal | None:
    try:
        return Decimal(str(told))
    except InvalidOperation:
        return None


async def play(case: Case, root: Path) -> list[str]:
    """Play ``case`` in the directory ``root``. Returns the design rules that overruled it.

    Raises:
        AssertionError: the program did something else than file and contract say.
        NotPlayable: the case needs what this replay or this program does not have.
    """
    if "watch" not in case.data:
        raise NotPlayable("steps without a watch")
    async with World(root) as world:
        if "[::1]" in case.data["watch"]["url"] and not world.server.ipv6:
            raise NotPlayable("this machine has no IPv6 loopback")
        replay = Replay(case, world)
        await replay.run()
        return replay.overruled
