from __future__ import annotations

import pytest

from watcher.core.history import Check
from watcher.core.metrics import REMOVED, measure, trend
from watcher.core.model import Cadence, Finding, Outcome, Watch
from watcher.core.remarks import findings_beside, why_moved

HOUR, DAY = 3_600.0, 86_400.0
START, END = 1_000 * DAY, 1_010 * DAY

LAMP = Watch(name="lamp", url="https://shop.example/lamp", type="detail", tags=("shop",), cadence=Cadence(interval=DAY))
NEWS = Watch(
    name="news", url="https://news.example/", type="index", tags=("shop", "daily"), cadence=Cadence(interval=6 * HOUR)
)
WATCHES = {"lamp": LAMP, "news": NEWS}


def check(watch: Watch, day: float, outcome: Outcome, **more: object) -> Check:
    status = {Outcome.NOT_MODIFIED: 304, Outcome.ERROR: 0, Outcome.DEFERRED: 0, Outcome.BLOCKED: 0}.get(outcome, 200)
    given: dict[str, object] = {"status": status, "gap": DAY} | more
    return Check(name=watch.name, url=watch.url, at=START + day * DAY, outcome=outcome, **given)  # type: ignore[arg-type]


def journal() -> list[Check]:
    return [
        check(LAMP, 1, Outcome.NOT_MODIFIED),
        check(LAMP, 2, Outcome.NOT_MODIFIED),
        check(LAMP, 3, Outcome.CHANGED, modified_at=START + 2.75 * DAY),
        check(LAMP, 4, Outcome.UNCHANGED),
        check(LAMP, 5, Outcome.ERROR),
        check(LAMP, 6, Outcome.DEFERRED),
        check(LAMP, 7, Outcome.REDEFINED, silent=True),
        check(LAMP, 8, Outcome.CHANGED, silent=True),
        check(NEWS, 2, Outcome.FIRST, gap=None),
        check(NEWS, 3, Outcome.CHANGED, modified_at=START + 1 * DAY, gap=DAY),
        check(NEWS, 3.5, Outcome.BLOCKED, status=403),
        check(NEWS, 4, Outcome.BLOCKED),
        check(NEWS, 20, Outcome.CHANGED),
    ]


def test_the_four_numbers_by_hand() -> None:
    total = measure(journal(), WATCHES, start=START, end=END).total
    # Answered: 2 x 304; bodies: lamp 2, news 2; asked besides: the error and the 403.
    assert (total.not_modified, total.bodies, total.checks) == (2, 4, 8)
    assert total.bytes_saved == pytest.approx(2 / 6)
    assert total.downstream_saved == pytest.approx(1 / 4)
    # lamp: 10 days at one a day; news: its first look, and 8 days since then at four a day.
    assert total.expected == pytest.approx(10 + 1 + 32)
    assert total.requests_saved == pytest.approx(1 - 8 / 43)
    # Last answers: lamp on day 4, news on day 3; both changed.
    assert total.freshness == pytest.approx((6 + 7) / 2 * DAY)
    # lamp's change is dated by the server; news names an instant before the check before.
    assert (total.delay, total.delays) == (pytest.approx(0.25 * DAY), 1)
    assert (total.delay_bound, total.bounds) == (pytest.approx(DAY), 1)
    assert total.failures == 3
    assert total.counterfactual == "8 checks of 2 watches, where their seed intervals would have made 43"


def test_groups_add_up() -> None:
    report = measure(journal(), WATCHES, start=START, end=END, due=["news"])
    assert set(report.by_host) == {"shop.example", "news.example"}
    assert set(report.by_type) == {"detail", "index"}
    assert report.by_tag["shop"] == report.total
    assert report.by_tag["daily"] == report.by_host["news.example"] == report.by_type["index"]
    assert sum(part.checks for part in report.by_host.values()) == report.total.checks
    assert (report.total.due, report.by_host["shop.example"].due) == (1, 0)


def test_silent_checks_leave_every_number_alone() -> None:
    loud = [entry for entry in journal() if not entry.silent]
    assert measure(journal(), WATCHES, start=START, end=END) == measure(loud, WATCHES, start=START, end=END)


def test_the_order_of_the_journal_and_what_lies_outside_do_not_matter_to_the_counts() -> None:
    report = measure(journal(), WATCHES, start=START, end=END)
    narrow = measure(journal(), WATCHES, start=START, end=START + 2 * DAY).total
    assert narrow.checks == 3
    assert report.total.changes == 2


def test_a_page_asked_more_often_than_its_seed_saves_less_than_nothing() -> None:
    often = [check(LAMP, n / 4, Outcome.UNCHANGED) for n in range(1, 40)]
    total = measure(often, WATCHES, start=START, end=END).total
    assert total.requests_saved == pytest.approx(1 - 39 / 10)
    assert total.counterfactual == "39 checks of 1 watch, where its seed interval would have made 10"


def test_weight_moves_the_counterfactual() -> None:
    slow = Watch(name="lamp", url=LAMP.url, cadence=Cadence(interval=DAY, weight=2.0))
    total = measure([check(LAMP, 1, Outcome.UNCHANGED)], {"lamp": slow}, start=START, end=END).total
    assert total.expected == pytest.approx(5)


def test_nothing_is_none_rather_than_nought() -> None:
    total = measure([], WATCHES, start=START, end=END).total
    assert (total.bytes_saved, total.downstream_saved, total.requests_saved, total.freshness) == (None,) * 4


def test_a_removed_watch_still_counts() -> None:
    report = measure([check(LAMP, 1, Outcome.UNCHANGED)], {}, start=START, end=END)
    assert report.by_type[REMOVED].checks == 1
    assert report.by_tag == {}


def test_a_trend_is_the_same_numbers_in_parts() -> None:
    parts = trend(journal(), WATCHES, start=START, end=END, buckets=5)
    total = measure(journal(), WATCHES, start=START, end=END).total
    assert [part.checks for part in parts] == [1, 5, 2, 0, 0]
    assert sum(part.bodies for part in parts) == total.bodies


def run(days: int, per_day: int, outcomes: list[Outcome]) -> list[Check]:
    return [
        check(LAMP, (n + 1) / per_day, outcomes[n % len(outcomes)], gap=DAY / per_day) for n in range(days * per_day)
    ]


def why(before: list[Check], after: list[Check]) -> str:
    numbers = [measure(part, WATCHES, start=START, end=END).total for part in (before, after)]
    return "\n".join(why_moved(numbers[0], numbers[1]))


def test_a_site_that_stopped_validating_is_named() -> None:
    said = why(run(10, 4, [Outcome.NOT_MODIFIED]), run(10, 4, [Outcome.UNCHANGED]))
    assert "bytes saved fell from 100% to 0%: the hosts answer for unchanged pages more often with a whole body" in said


def test_a_schedule_that_drifted_is_named() -> None:
    quiet = [Outcome.NOT_MODIFIED]
    said = why(run(10, 1, quiet), run(10, 4, quiet))
    assert "requests saved fell from 0% to -300%: our scheduling drifted" in said
    assert "more often" in said


def test_pages_that_change_more_are_named() -> None:
    said = why(run(10, 4, [Outcome.NOT_MODIFIED] * 9 + [Outcome.CHANGED]), run(10, 4, [Outcome.CHANGED]))
    assert "bytes saved fell from 90% to 0%: the pages change more (" in said
    followed = why(run(10, 1, [Outcome.NOT_MODIFIED] * 9 + [Outcome.CHANGED]), run(10, 4, [Outcome.CHANGED]))
    assert "the pages change more, and the schedule followed" in followed


def test_a_number_that_stood_still_needs_no_words() -> None:
    assert why(run(10, 4, [Outcome.UNCHANGED]), run(10, 4, [Outcome.UNCHANGED])) == ""


def test_findings_explain_a_low_share_of_304() -> None:
    churn = Finding(kind="etag_churn", since_at=1_741_737_600.0, reason="a new ETag with every answer")
    low = measure(run(10, 4, [Outcome.UNCHANGED]), WATCHES, start=START, end=END).total
    high = measure(run(10, 4, [Outcome.NOT_MODIFIED]), WATCHES, start=START, end=END).total
    assert findings_beside(low, [churn]) == ["304 rate low (0%): etag_churn since 12 Mar; a new ETag with every answer"]
    assert findings_beside(high, [churn]) == ["etag_churn since 12 Mar: a new ETag with every answer"]
