"""Replay a policy whose due pages compete for a budget, as :func:`watcher.core.revisit.select_revisits` lets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from watcher.core.model import Cadence
from watcher.core.phrase import DAY
from watcher.core.revisit import DueQueue, RevisitCandidate, select_revisits
from watcher.core.simulate.replay import Watched
from watcher.core.simulate.traces import Page

TICK = 900.0
ONE_HOST = "all"
"""The budget is one for all pages: equal shares per host would cost 16 to 60 % more staleness (SCHEDULE section 5)."""


def replay_budgeted(
    pages: Sequence[Page], cadence: Cadence, seeds: Mapping[str, float], checks_per_day: float, seed: int = 0
) -> list[list[float]]:
    """The checks made of each page when every quarter of an hour the best of the due ones spend what has come in.

    Unspent checks are kept for a day at most. Windows are laid side by side from their starts.
    """
    watched = [Watched(page, cadence, seeds) for page in pages]
    queue = DueQueue()
    for number, one in enumerate(watched):
        queue.push(str(number), one.first_due(seed) - one.page.start)
    income = checks_per_day * len(pages) * TICK / DAY
    purse, waiting = 0.0, set[int]()
    for tick in range(1, int(max(page.end - page.start for page in pages) / TICK)):
        now = tick * TICK
        purse = min(purse + income, max(income * DAY / TICK, 8.0))
        waiting.update(map(int, queue.pop_due(now)))
        if not waiting or purse < 1:
            continue
        candidates = [_candidate(number, watched[number]) for number in waiting]
        for pick in select_revisits(candidates, {ONE_HOST: int(purse)}, now):
            number = int(pick.name)
            one = watched[number]
            waiting.discard(number)
            purse -= 1
            if one.page.start + now < one.page.end:
                queue.push(pick.name, one.look(one.page.start + now) - one.page.start)
    return [one.checks for one in watched]


def _candidate(number: int, one: Watched) -> RevisitCandidate:
    return RevisitCandidate(
        name=str(number),
        host=ONE_HOST,
        due_at=one.planned.due_at - one.page.start,
        interval=one.planned.interval,
        unchanged_streak=one.streak,
        last_fetched_at=one.at - one.page.start,
    )
