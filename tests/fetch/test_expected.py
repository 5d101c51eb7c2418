"""The conditional layer against a reference poller's answers, check by check, over real sockets.

The reference sends both validators at once, where rule 3 has one; every other check at which we differ stands here with
the rule that makes it so. What is not listed must agree to the byte.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.fetch.net import DAY, Net, Poller, virtual

SHARED = Path(os.environ.get("WATCHER_SHARED", Path(__file__).parents[2].parent / "shared"))
EXPECTED = SHARED / "reference" / "http" / "expected_cond.json"
BUMPED = ("strong", "weak", "lm", "both", "unquoted", "obs-text", "comma-etag")

DEVIATIONS: dict[str, tuple[dict[str, list[int]], str]] = {
    "lie304": (
        {"state": [0, 1, 2, 3, 4, 5]},
        "rule 14 knows no state 'new': a page without a 200 so far is 'untested'",
    ),
    "same-tag-new-body": (
        {"state": [4, 5]},
        "rule 13: a tag that lied is unused for 30 days, but it is there; the reference counts it as missing",
    ),
    "stuck304": (
        {"sent": [22, 23, 24], "status": [22, 23, 24], "state": [21, 22, 23, 24]},
        "rule 11: other bytes under the same tag put the validators off for 30 days; the reference goes on sending",
    ),
}
"""Scenario to the days on which we differ, and the rule that causes it. Rule 3 itself is applied to the reference's
rows: where it sent both validators, the ETag alone is expected."""


def expected() -> dict[str, list[dict[str, Any]]]:
    if not EXPECTED.exists():
        return {}
    found: dict[str, list[dict[str, Any]]] = json.loads(EXPECTED.read_text())
    return found


def test_the_reference_is_there() -> None:
    if not EXPECTED.exists():
        pytest.skip(f"no reference at {EXPECTED}: set WATCHER_SHARED")
    assert sum(map(len, expected().values())) == 259


@pytest.mark.parametrize("name", expected())
@virtual
async def test_against_the_reference(net: Net, name: str) -> None:
    poller = Poller(net, f"/cond/{name}")
    started_at = net.clock.now()
    differences: dict[str, list[int]] = {"sent": [], "status": [], "state": []}
    for row in expected()[name]:
        await net.clock.run_until(started_at + row["day"] * DAY)
        if row["day"] == 4 and name in BUMPED:
            net.server.bump(name)
        await poller.check()
        sent, told = poller.sent(), dict(row["sent"])
        wanted = {key.lower(): value for key, value in told.items() if key != "Cache-Control"}
        if len(wanted) == 2:
            del wanted["if-modified-since"]  # rule 3
        if sent != wanted:
            differences["sent"].append(row["day"])
        if net.seen(poller.path)[-1].status != row["status"]:
            differences["status"].append(row["day"])
        if poller.known.trust != row["state"]:
            differences["state"].append(row["day"])
    found = {what: days for what, days in differences.items() if days}
    assert found == DEVIATIONS.get(name, ({}, ""))[0]
