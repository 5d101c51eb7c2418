"""CPU of one tick with 100,000 watches of which 50 are due: ``python tests/bench/schedule_tick.py [WATCHES] [DUE]``.

A tick takes what is due off the queue, ranks it under the hosts' budgets, plans each check's successor and puts it
back. Prints the median and the worst of 200 ticks in milliseconds of CPU, and the same with a tenth of the watches.
"""

from __future__ import annotations

import gc
import sys
import time
from statistics import median

from watcher.core.evidence import Evidence
from watcher.core.model import Cadence, Policy
from watcher.core.revisit import DueQueue, RevisitCandidate, select_revisits
from watcher.core.schedule import plan

NOW = 1_800_000_000.0
HOUR = 3_600.0
TICKS = 200


def tick(queue: DueQueue, now: float, cadence: Cadence) -> int:
    """One tick at ``now``; returns how many watches it took."""
    due = [
        RevisitCandidate(name=name, host=f"h{len(name)}", due_at=now, interval=HOUR, last_fetched_at=now - HOUR)
        for name in queue.pop_due(now)
    ]
    chosen = select_revisits(due, {candidate.host: 1_000 for candidate in due}, now)
    for candidate in chosen:
        known = Evidence(changes=2.0, hours=300.0)
        found = plan(cadence, at=now, interval=HOUR, evidence=known, changed=False, gap=HOUR)
        queue.push(candidate.name, found.due_at)
    queue.next_at()
    return len(chosen)


def measure(watches: int, due: int, cadence: Cadence) -> tuple[float, float]:
    """Median and worst milliseconds of CPU a tick."""
    queue = DueQueue()
    for number in range(watches):
        queue.push(f"watch {number}", NOW + number / due)
    gc.collect()
    gc.freeze()
    spent = []
    for second in range(min(TICKS, watches // due)):
        started = time.process_time()
        took = tick(queue, NOW + second + 0.999, cadence)
        spent.append((time.process_time() - started) * 1_000)
        assert took == due
    return median(spent), max(spent)


def main() -> None:
    """Measure and print."""
    given = [int(text) for text in sys.argv[1:]]
    watches, due = (given + [100_000, 50][len(given) :])[:2]
    for policy in (Policy.ADAPTIVE, Policy.ESTIMATED):
        cadence = Cadence(policy=policy, interval=HOUR)
        for count in (watches // 10, watches):
            middle, worst = measure(count, due, cadence)
            print(f"{policy:9}  {count:>7} watches, {due} due: median {middle:.2f} ms, worst {worst:.2f} ms CPU a tick")


if __name__ == "__main__":
    main()
