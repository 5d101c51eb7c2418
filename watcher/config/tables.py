"""``[schedule]``, ``[page_types.*]``, ``[hosts.*]``, ``[tags.*]``, ``[retention.*]``: what surrounds the watches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from watcher.config import cadence, readers
from watcher.config.cadence import Level
from watcher.config.problems import did_you_mean
from watcher.config.readers import Mistake, Schema
from watcher.config.source import Source
from watcher.config.toml import Table
from watcher.core.model import Cadence, Field, PageType
from watcher.core.settings import HostSettings
from watcher.core.urls import UrlError, parse_url

_HOST_OWN: Schema = {
    "min_gap": readers.pause,
    "checks_per_day": readers.whole(1, 10_000_000),
    "terms": readers.url,
    "private": readers.boolean,
}
HOST: Schema = {**_HOST_OWN, **cadence.LEVEL}
TYPE: Schema = {**cadence.LEVEL, "retention": readers.text}
RETENTION: Schema = {"keep": readers.keep}


class Surroundings(msgspec.Struct, kw_only=True):
    """What the rest of the configuration means for watches: levels by tag, host and type, and the names that exist.

    The two caches give equal watches one value.
    """

    schedule: Level
    types: Mapping[str, Level]
    tags: Mapping[str, Level]
    hosts: Mapping[str, Level]
    retention: Mapping[str, float | None]
    cadences: dict[tuple[Any, ...], Cadence] = {}
    fields: dict[str, tuple[Field, ...]] = {}

    def retention_of(self, kind: str) -> str:
        """The retention class that watches of the page type ``kind`` are in, unless they say otherwise."""
        return str(self.types.get(kind, {}).get("retention", "default"))

    def cadence(self, own: Level, tags: tuple[str, ...], host: str, kind: str) -> Cadence:
        """The cadence of a watch; watches without schedule keys of their own share one value a kind."""
        tags = tuple(tag for tag in tags if tag in self.tags)
        host = host if host in self.hosts else "default"
        key = (tags, host, kind)
        if not own and key in self.cadences:
            return self.cadences[key]
        shipped = cadence.SHIPPED.get(kind)
        longest: Level = {"max_interval": shipped.max_interval} if shipped and shipped.max_interval else {}
        seed: Level = {"interval": shipped.interval if shipped else cadence.SEED}
        found = cadence.resolve(
            [
                own,
                *(self.tags[tag] for tag in tags),
                self.hosts.get(host, {}),
                self.hosts.get("default", {}),
                {**longest, **self.types.get(kind, {})},
                self.schedule,
                seed,
            ]
        )
        if not own:
            self.cadences[key] = found
        return found


def surroundings(source: Source, data: Table) -> Surroundings:
    """Read every table that is not a watch's own; what is wrong is noted."""
    table = source.table(data, "schedule")
    schedule = cadence.with_cron(source.values(table, "schedule", cadence.GLOBAL))
    check(source, table, "schedule", schedule, None)
    lowest = schedule.get("min_interval", Cadence().minimum)
    found = Surroundings(
        schedule=schedule,
        types={**{name: {} for name in cadence.SHIPPED}, **levels(source, data, "page_types", TYPE, lowest)},
        tags=levels(source, data, "tags", cadence.LEVEL, lowest),
        hosts=host_levels(source, data, lowest),
        retention=read_retention(source, data),
    )
    for name in found.types:
        kept = found.retention_of(name)
        if kept not in found.retention:
            wrong = Mistake(
                f"there is no retention class {kept!r}", did_you_mean(kept, found.retention, f"[retention.{kept}]")
            )
            source.mistake(data["page_types"][name], f"page_types.{name}", "retention", wrong)
    return found


def check(source: Source, table: Table, where: str, level: Level, lowest: float | None) -> None:
    for key, mistake in cadence.check_level(level, lowest):
        source.mistake(table, where, key, mistake)


def levels(source: Source, data: Table, section: str, schema: Schema, lowest: float) -> dict[str, Level]:
    found: dict[str, Level] = {}
    for name, table in source.tables(data, section):
        level = cadence.with_cron(source.values(table, f"{section}.{name}", schema))
        check(source, table, f"{section}.{name}", level, lowest)
        found[name] = level
    return found


def host_levels(source: Source, data: Table, lowest: float) -> dict[str, Level]:
    """Host tables by the name hosts are asked for; ``default`` is everybody's."""
    section = source.table(data, "hosts")
    found: dict[str, Level] = {}
    for written, level in levels(source, data, "hosts", HOST, lowest).items():
        try:
            name = written if written == "default" else parse_url(f"http://{written}/").netloc
        except UrlError as error:
            source.mistake(section, "hosts", written, Mistake(str(error), 'write a host name: [hosts."shop.example"]'))
            continue
        if (":" in name and not name.startswith("[")) or "/" in written:
            source.mistake(
                section, "hosts", written, Mistake("must be a host name alone, without scheme, port or path")
            )
        elif name in found:
            source.mistake(section, "hosts", written, Mistake(f"{name} has a table already", "keep one"))
        found[name] = level
    return found


def host_settings(level: Level, default: HostSettings) -> HostSettings:
    """A host's settings: its own over everybody's, but for the terms page, which is its own or none."""
    own = {"terms": None, **{key: level[key] for key in _HOST_OWN if key in level}}
    return msgspec.structs.replace(default, **own)


def page_types(levels: Mapping[str, Level]) -> dict[str, PageType]:
    found = dict(cadence.SHIPPED)
    for name, level in levels.items():
        shipped = found.get(name, PageType(name=name, interval=cadence.SEED))
        keys = [key for key in PageType.__struct_fields__ if key in level]
        found[name] = msgspec.structs.replace(shipped, **{key: level[key] for key in keys})
    return found


def read_retention(source: Source, data: Table) -> dict[str, float | None]:
    found: dict[str, float | None] = {"default": None}
    for name, table in source.tables(data, "retention"):
        values = source.values(table, f"retention.{name}", RETENTION)
        if "keep" not in table:
            source.mistake(table, f"retention.{name}", "keep", Mistake("is missing", 'add keep = "30d" or "forever"'))
        found[name] = values.get("keep")
    return found
