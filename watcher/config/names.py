"""Which watches are which: no name twice, and a word about what looks like one thing written twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from watcher.config.readers import Mistake
from watcher.config.source import Source
from watcher.config.toml import Table
from watcher.core.model import Watch
from watcher.core.urls import parse_url


def check_names(watches: list[tuple[Source, Table, Watch | None]]) -> list[str]:
    """Note names used twice (they are identities); return warnings of what looks like one thing written twice."""
    named: dict[str, tuple[Source, Table]] = {}
    folded: dict[str, Watch] = {}
    pages: dict[tuple[Any, ...], Watch] = {}
    warnings = []
    for source, table, watch in watches:
        if watch is None:
            continue
        first = named.setdefault(watch.name, (source, table))
        if first[1] is not table:
            place = f"{first[0].path.name}:{first[0].document.line(first[1])}"
            key = "name" if "name" in table else "url"
            advice = "a name keeps the history of a watch: give each its own"
            source.mistake(table, "watch", key, Mistake(f"the name {watch.name!r} is used at {place} too", advice))
            continue
        like = folded.setdefault(" ".join(watch.name.casefold().split()), watch)
        if like is not watch:
            warnings.append(f"{_place(like)} and {_place(watch)}: names differ only in case and blanks")
        if watch.url.startswith("http"):
            page = parse_url(watch.url).normal
            same = pages.setdefault((page, watch.fields, watch.remove, watch.detect, watch.request), watch)
            if same is not watch and like is watch:
                warnings.append(f"{_place(same)} and {_place(watch)}: two watches of the same page and fields")
    return warnings


def _place(watch: Watch) -> str:
    return f"{watch.name!r} ({Path(watch.declared_in or '').name}:{watch.declared_line})"
