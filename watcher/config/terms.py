"""A host's own terms page as a watch: what a host asks of its visitors is read again, however little it changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from watcher.core.model import Cadence, Policy, Watch
from watcher.core.settings import HostSettings

WEEK = 7 * 86_400.0

EVERY = Cadence(policy=Policy.FIXED, interval=WEEK, minimum=WEEK, maximum=WEEK)
"""Terms give notice of weeks; a fixed week is soon enough, and no streak of unchanged checks stretches it."""


def terms_watches(hosts: Mapping[str, HostSettings], watches: Iterable[Watch]) -> tuple[Watch, ...]:
    """One watch for each ``[hosts."NAME"] terms``, called ``terms of NAME``; none for a page that is watched anyway."""
    watches = tuple(watches)
    urls, names = {watch.url for watch in watches}, {watch.name for watch in watches}
    found = []
    for host, settings in hosts.items():
        name = f"terms of {host}"
        if settings.terms is not None and settings.terms not in urls and name not in names:
            found.append(Watch(name=name, url=settings.terms, type="archive", tags=("terms",), cadence=EVERY))
    return tuple(found)
