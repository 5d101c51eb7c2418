"""One entrance to every kind of case: steps, tables, and prose that we know."""

from __future__ import annotations

from pathlib import Path

from tests.replay import prose, steps, stored, tables
from tests.replay.cases import Case, NotPlayable
from tests.support.clock import FakeClock

LACKING = ("brotli", "javascript", "browser", "cookie", "http/2", "proxy", "pdf text")
"""Features a case may require that watcher does not have."""


def play(case: Case, root: Path) -> list[str]:
    """Play ``case`` in the directory ``root``, in virtual time. Returns the rules of our contract that overruled it.

    Raises:
        AssertionError: the program did otherwise.
        NotPlayable: why the case cannot be played.
    """
    for feature in case.data.get("requires", []):
        if any(word in feature.lower() for word in LACKING):
            raise NotPlayable(f"requires {feature}, which watcher does not have")
    if case.steps:
        return FakeClock().run(steps.play(case, root))
    title = case.path.stem.partition("-")[2]
    handler = tables.handler(case) or prose.PROSE.get(title) or stored.STORED.get(title)
    if handler is None:
        raise NotPlayable(f"told in prose that no machine can follow: {case.action!r}")
    played = handler(case, root)
    return played if isinstance(played, list) else FakeClock().run(played)
