"""The whole configuration: ``config.toml`` and the ``watches.toml`` beside it -> :class:`Settings`."""

from __future__ import annotations

from pathlib import Path

from watcher.config import screen, tables
from watcher.config.cadence import GLOBAL
from watcher.config.names import check_names
from watcher.config.problems import ConfigError, Problem, did_you_mean
from watcher.config.readers import Mistake
from watcher.config.source import Source
from watcher.config.terms import terms_watches
from watcher.config.toml import Table
from watcher.config.watches import SCHEMA as WATCH
from watcher.config.watches import read_watch
from watcher.core.settings import HostSettings, Settings

ADDED = "watches.toml"
"""The file beside the configuration that the program itself writes."""

TOP = ("watcher", "schedule", "page_types", "hosts", "tags", "retention", "notify", "keys", "watch")


def load(path: Path, *, required: bool = True, added: bytes | None = None) -> Settings:
    """Read ``path`` and the ``watches.toml`` beside it. Nothing is written, nothing remembered.

    A missing ``path`` is a problem where it is ``required``; a missing ``watches.toml`` never is.
    ``added`` stands for the bytes of ``watches.toml`` before they are written.
    Raises :class:`ConfigError` with every problem of both files.
    """
    problems: list[Problem] = []
    own, more = Source(path, problems), Source(path.with_name(ADDED), problems)
    data = own.read()
    if data is None and required:
        own.problem("no such file", suggestion=_where(path))
    return _settings(own, data or {}, more, (more.read() if added is None else more.parse(added)) or {})


def parse(text: str, path: Path) -> Settings:
    """Like :func:`load`, of one text at hand; ``path`` is what messages call it and where themes are looked for."""
    problems: list[Problem] = []
    own = Source(path, problems)
    return _settings(own, own.parse(text.encode()), Source(path.with_name(ADDED), problems), {})


def _where(path: Path) -> str:
    if not path.parent.is_dir():
        return f"the directory {path.parent} does not exist either"
    return f"`watcher --config {path} init` writes a commented one"


def _settings(own: Source, data: Table, added: Source, more: Table) -> Settings:
    for key in data:
        if key not in TOP:
            own.mistake(data, "", key, Mistake("unknown key", _top_advice(key)))
    for key in more:
        if key != "watch":
            added.mistake(more, "", key, Mistake("only [[watch]] stands in this file", f"move it to {own.path.name}"))
    around = tables.surroundings(own, data)
    watches = [
        (source, table, read_watch(source, table, around))
        for source, file in ((own, data), (added, more))
        for table in source.array(file, "watch", "watch")
    ]
    warnings = check_names(watches)
    default = tables.host_settings(around.hosts.get("default", {}), HostSettings())
    hosts = {host: tables.host_settings(level, default) for host, level in around.hosts.items() if host != "default"}
    wanted = tuple(watch for _, _, watch in watches if watch is not None)
    settings = Settings(
        watches=wanted + terms_watches(hosts, wanted),
        page_types=tables.page_types(around.types),
        host_default=default,
        hosts=hosts,
        retention=dict(around.retention),
        notify=screen.notify(own, data),
        warnings=tuple(warnings),
        **screen.general(own, data),
    )
    if own.problems:
        order = {own.path: 0, added.path: 1}
        raise ConfigError(sorted(own.problems, key=lambda one: (order[one.file], one.line or 0)))
    return settings


def _top_advice(key: str) -> str | None:
    """Keys that lost their table head are the commonest slip."""
    homes = (("[watcher]", screen.WATCHER), ("[[watch]]", WATCH), ("[schedule]", GLOBAL), ("[notify]", screen.NOTIFY))
    home = next((head for head, schema in homes if key in schema), None)
    return f"it belongs under {home}" if home else did_you_mean(key, TOP)
