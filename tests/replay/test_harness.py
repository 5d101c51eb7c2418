"""The replay's own judgement: a harness that cannot say no proves nothing."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.replay import overrules
from tests.replay.archive import ArchivedPage, Snapshot
from tests.replay.overrules import DAY, HOUR, Story
from tests.replay.tally import Tally
from tests.replay.told import Told, counts
from watcher.core.history import Check
from watcher.core.model import Outcome
from watcher.engine.events import Checked

NOWHERE = ((), ())


def test_counts() -> None:
    assert [counts(1)(n) for n in (0, 1, 2)] == [False, True, False]
    assert [counts({"min": 1, "max": 2})(n) for n in (0, 1, 2, 3)] == [False, True, True, False]
    assert [counts({"any_of": [0, 2]})(n) for n in (0, 1, 2)] == [True, False, True]


def apply(expect: dict[str, Any], answers: list[tuple[int, float]], step: dict[str, Any] | None = None) -> Told:
    """``expect`` as the contract sees it, after ``answers`` (status, instant), the last of which is this step's."""
    story, before = Story(), Story()
    for status, at in answers:
        before = copy.deepcopy(story)
        story.heard({"status": status, "body": "x"}, at, conditional=False)
    told = Told.of(expect)
    overrules.apply(told, step or {}, story, before)
    return told


GONE = {"outcome": "gone", "event": "gone"}


@pytest.mark.parametrize(
    ("answers", "outcome", "event"),
    [
        ([(404, 0.0)], "error", "none"),
        ([(404, 0.0), (404, HOUR), (404, 2 * HOUR)], "error", "none"),
        ([(404, 0.0), (404, HOUR), (404, DAY)], "gone", "gone"),
        ([(410, 0.0)], "error", "none"),
        ([(410, 0.0), (410, HOUR)], "gone", "gone"),
        ([(404, 0.0), (200, HOUR), (404, 2 * HOUR), (404, 2 * DAY)], "error", "none"),
    ],
)
def test_gone_is_what_the_contract_says(answers: list[tuple[int, float]], outcome: str, event: str) -> None:
    told = apply(GONE, answers)
    assert (told.outcomes, told.events) == ([outcome], [event])
    assert bool(told.overruled) == (outcome == "error")


def test_what_agrees_is_left_alone() -> None:
    told = apply({"outcome": "changed", "event": "changed"}, [(200, 0.0), (200, HOUR)])
    assert (told.outcomes, told.events, told.overruled) == (["changed"], ["changed"], [])


def test_a_page_that_comes_back_is_returned() -> None:
    told = apply({"outcome": "changed", "event": "changed"}, [(200, 0.0), (410, HOUR), (410, DAY), (200, 30 * DAY)])
    assert (told.outcomes, told.events, told.overruled) == (["returned"], ["back"], [overrules.RETURNED])


def test_tags_of_the_same_bytes_are_listed_then_dropped() -> None:
    story = Story()
    sent = []
    for number in range(5):
        told = Told.of({"request_headers_expected": {"If-None-Match": f'"{number}"'}})
        overrules.apply(told, {}, story, copy.deepcopy(story))
        sent.append(told.headers["If-None-Match"])
        story.heard({"headers": {"ETag": f'"{number}"'}, "body": "x"}, HOUR * number, conditional=number > 0)
    assert sent[2:] == [['"1", "0"'], ['"2", "1", "0"'], [None]]


def page(*labels: tuple[float, str, bool | None]) -> ArchivedPage:
    snapshots = tuple(Snapshot(at, body.encode(), f'"{body}"', changed, NOWHERE) for at, body, changed in labels)
    return ArchivedPage("page", "/1", snapshots)


def tally(lived: ArchivedPage, *checks: tuple[float, Outcome]) -> Tally:
    found = Tally(lived)
    for at, outcome in checks:
        found.add(Checked(check=Check(name="page", url="", at=at, outcome=outcome)))
    return found


def test_a_tally_tells_found_from_missed() -> None:
    lived = page((0, "a", None), (10, "b", True), (20, "c", True))
    found = tally(lived, (1, Outcome.FIRST), (11, Outcome.CHANGED), (21, Outcome.UNCHANGED))
    assert (found.labels, found.found, found.missed, found.unseen, found.unlabelled) == (2, 1, 1, 0, 0)


def test_a_tally_knows_what_nobody_could_see() -> None:
    lived = page((0, "a", None), (10, "b", True), (20, "a", True))
    found = tally(lived, (1, Outcome.FIRST), (2, Outcome.ERROR), (21, Outcome.NOT_MODIFIED))
    assert (found.labels, found.found, found.missed, found.unseen, found.unlabelled) == (2, 0, 0, 2, 0)


def test_a_tally_counts_what_no_label_knows() -> None:
    lived = page((0, "a", None), (10, "b", False), (20, "c", None))
    found = tally(lived, (1, Outcome.FIRST), (11, Outcome.CHANGED), (21, Outcome.CHANGED))
    assert (found.labels, found.unlabelled) == (0, 1)
