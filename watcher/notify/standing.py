"""How the telling of news stands, for a look from outside the process that tells it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from watcher.core.phrase import span
from watcher.core.settings import NotifySettings
from watcher.notify.deliveries import Deliveries, Waiting
from watcher.notify.rules import Rules


def troubles(settings: NotifySettings, root: Path, now: float) -> tuple[str, ...]:
    """What keeps news under the data directory ``root`` from being told, one sentence each. Writes nothing."""
    deliveries = Deliveries(root)
    try:
        deliveries.read()
    except OSError as error:
        return (f"No news can be told, as {deliveries.path} cannot be read: {error.strerror or error}.",)
    found = []
    if deliveries.damaged:
        found.append(f"{deliveries.path} has damaged lines, which are left out: {deliveries.damaged}.")
    refused: defaultdict[str, list[Waiting]] = defaultdict(list)
    for delivery in deliveries.waiting():
        if delivery.tries:
            refused[delivery.to].append(delivery)
    destinations = Rules(settings.rules).destinations
    for to, line in refused.items():
        if to in destinations:
            latest = max(line, key=lambda delivery: delivery.due_at)
            count = "A notice waits" if len(line) == 1 else f"{len(line)} notices wait"
            later = f" Tried again in {span(latest.due_at - now)}." if latest.due_at > now else ""
            found.append(f"{count} for {destinations[to]}: {latest.why}{later}")
    return tuple(found)
