"""What the screen is told by whoever opens it: everything it cannot know through the engine's handle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from watcher.core.model import Field
from watcher.engine.handle import Preview


@dataclass(frozen=True, kw_only=True)
class ScreenOptions:
    """Paths and deeds handed in by the command line. A deed that is None is not offered.

    ``save_watches`` adds tables of ``[[watch]]`` to watches.toml, ``remove_watch`` takes one out by name,
    ``init_config`` writes a commented configuration; they raise an exception whose text is one sentence.
    ``try_fields`` reads a page already fetched with other fields. ``restart`` runs a failed engine again.
    ``themes`` are folders, the later ones overriding the earlier. ``banner`` stands at the right of the
    title for as long as the screen is open (``demo``, ``read-only``).
    """

    config_file: Path | None = None
    watches_file: Path | None = None
    themes: Sequence[Path] = ()
    save_watches: Callable[[Sequence[Mapping[str, Any]]], object] | None = None
    remove_watch: Callable[[str], None] | None = None
    init_config: Callable[[], None] | None = None
    try_fields: Callable[[Preview, Sequence[Field]], Preview] | None = None
    restart: Callable[[], None] | None = None
    banner: str = ""
    tick: float = 1.0
    """Seconds between two looks at the clock."""
