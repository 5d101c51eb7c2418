"""When a watch is checked: the first of watch, tags, host, page type and global that says so, key by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from watcher.config import readers
from watcher.config.readers import Mistake, Schema
from watcher.config.units import format_duration
from watcher.core.model import Cadence, PageType, Policy
from watcher.core.phrase import DAY

Level: TypeAlias = Mapping[str, Any]
"""The checked schedule keys of one table; only those that stand in it."""


SHIPPED = {
    "index": PageType(name="index", interval=6 * 3_600.0),
    "listing": PageType(name="listing", interval=DAY),
    "detail": PageType(name="detail", interval=3 * DAY),
    "archive": PageType(name="archive", interval=30 * DAY, max_interval=30 * DAY),
}
"""The seeds of SCHEDULE.md section 0."""

SEED = DAY
"""Where a page type of the user's own starts, unless it says so itself (seconds)."""


def cron(value: Any) -> str:
    """Five cron fields that name a time, as the library that runs them reads them."""
    from watcher.core.cron import CronError, next_time

    found = readers.text(value)
    try:
        next_time(found, 0.0)
    except CronError as error:
        raise Mistake(str(error).rstrip("."), 'write it like "0 8 * * 1-5": minute hour day month weekday') from None
    return found


GLOBAL: Schema = {
    "policy": lambda value: Policy(readers.choice(*(policy.value for policy in Policy))(value)),
    "min_interval": readers.duration,
    "max_interval": readers.duration,
    "force_check_after": readers.duration,
    "price": readers.duration,
    "rhythm": readers.boolean,
    "cron": cron,
    "timezone": readers.zone,
}
"""The keys of ``[schedule]``."""

LEVEL: Schema = {**GLOBAL, "interval": readers.duration, "weight": readers.positive}
"""The schedule keys of a watch, tag, host and page type."""


def check_level(level: Level, lowest: float | None) -> list[tuple[str, Mistake]]:
    """What contradicts itself in one table: ``(key, mistake)`` pairs.

    ``lowest`` is the global least interval (seconds), which only a watch's own key may undercut (CONDUCT rule 43):
    None for a watch and for the global table itself.
    """
    found: list[tuple[str, Mistake]] = []
    least, most, seed = (level.get(key) for key in ("min_interval", "max_interval", "interval"))
    if least is not None and most is not None and least > most:
        found.append(("max_interval", Mistake(f"is under min_interval, {format_duration(least)}")))
    if seed is not None and least is not None and seed < least:
        found.append(("interval", Mistake(f"is under min_interval, {format_duration(least)}")))
    if seed is not None and most is not None and seed > most:
        found.append(("interval", Mistake(f"is over max_interval, {format_duration(most)}")))
    for key, value in (("min_interval", least), ("max_interval", most), ("interval", seed)):
        if lowest is not None and value is not None and value < lowest:
            advice = "only a watch's own key may go lower"
            found.append((key, Mistake(f"is under [schedule] min_interval, {format_duration(lowest)}", advice)))
    if level.get("policy") is Policy.CRON and "cron" not in level:
        found.append(("policy", Mistake("is cron, but cron is missing", 'add cron = "0 8 * * 1-5"')))
    if "cron" in level and level.get("policy", Policy.CRON) is not Policy.CRON:
        found.append(("cron", Mistake(f"has no effect under policy {level['policy'].value}", "remove one of the two")))
    return found


def with_cron(level: Level) -> Level:
    """A table that gives ``cron`` and no policy means cron."""
    return {"policy": Policy.CRON, **level} if "cron" in level else level


def resolve(levels: Sequence[Level]) -> Cadence:
    """The cadence of a watch out of its tables, most specific first: its own, its tags', ... the global, the seeds."""

    def first(key: str, default: Any) -> tuple[Any, int]:
        return next(((level[key], rank) for rank, level in enumerate(levels) if key in level), (default, len(levels)))

    policy = first("policy", Policy.ADAPTIVE)[0]
    force_after = first("force_check_after", Cadence().force_after)[0]
    # SCHEDULE.md section 5: the estimate needs no bound but the floor that forces a check.
    longest = force_after if policy is Policy.ESTIMATED else Cadence().maximum
    interval, said = first("interval", Cadence().interval)
    least = first("min_interval", Cadence().minimum)[0]
    most, most_said = first("max_interval", longest)
    # A more specific seed moves a more general bound; otherwise the bound holds.
    if interval < least and said == 0:
        least = interval
    if interval > most and said < most_said:
        most = interval
    if least > most:
        least, most = (most, most) if most_said == 0 else (least, least)
    return Cadence(
        policy=policy,
        interval=min(max(interval, least), most),
        minimum=least,
        maximum=most,
        weight=first("weight", 1.0)[0],
        force_after=force_after,
        price=first("price", Cadence().price)[0],
        rhythm=first("rhythm", True)[0],
        cron=first("cron", None)[0] if policy is Policy.CRON else None,
        timezone=first("timezone", None)[0],
    )
