"""example_config.toml holds every key the loader knows, and loads as it is and with every key in force."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from watcher.config import cadence, load, parse, request, screen, tables, watches
from watcher.core.model import Field
from watcher.core.settings import Settings

EXAMPLE = Path(__file__).parents[2] / "example_config.toml"
_COMMENTED = re.compile(r"^# (?=\[\[[\w.]+\]\]|[\w-]+ = )", re.MULTILINE)

TABLES = {
    "[watcher]": screen.WATCHER,
    "[schedule]": cadence.GLOBAL.keys() - {"cron"},
    "[page_types.archive]": tables.TYPE.keys() - {"cron"},
    "[hosts.default]": {"min_gap", "checks_per_day"},
    '[hosts."shop.example"]': tables.HOST.keys() - {"cron"},
    "[tags.morning]": cadence.LEVEL,
    "[retention.personal]": tables.RETENTION,
    "[notify]": screen.NOTIFY.keys() - {"rules"},
    "[[notify.rules]]": screen.RULE,
}


def in_force() -> str:
    return _COMMENTED.sub("", EXAMPLE.read_text("utf-8"))


def sections() -> dict[str, set[str]]:
    """The keys that stand under each head of the example, commented or not."""
    found: dict[str, set[str]] = {}
    keys: set[str] = set()
    for line in in_force().splitlines():
        if head := re.match(r"\[.*?\]+", line):
            keys = found.setdefault(head[0], set())
        elif key := re.match(r"([\w-]+) = ", line):
            keys.add(key[1])
    return found


def test_it_loads_as_it_is() -> None:
    settings = load(EXAMPLE)
    assert len(settings.watches) == 4
    assert settings.warnings == ()
    plain = Settings()
    assert (settings.screen, settings.host_default) == (plain.screen, plain.host_default)


def test_it_loads_with_every_key_in_force() -> None:
    settings = parse(in_force(), EXAMPLE)
    assert settings.contact == "https://example.org/me"
    assert len(settings.notify.rules) == 1
    assert settings.warnings == ()


@pytest.mark.parametrize("head", TABLES)
def test_every_key_stands_in_its_table(head: str) -> None:
    assert set(TABLES[head]) <= sections()[head]


def test_every_key_of_a_watch_and_of_a_field_stands_there() -> None:
    found = sections()
    assert watches.SCHEMA.keys() <= found["[[watch]]"] | {"fields"}
    assert request.SCHEMA.keys() <= found["[[watch]]"]
    fields = in_force().split("[watch.fields]")[1].split("[[watch]]")[0]
    for key in Field.__struct_fields__:
        assert key == "name" or re.search(rf"\b{key} = ", fields), key


def test_commented_values_that_claim_to_be_defaults_are() -> None:
    settings = parse(in_force(), EXAMPLE)
    assert (settings.concurrency, settings.durability) == (Settings().concurrency, Settings().durability)
    assert settings.host_default == Settings().host_default
    assert settings.page_types["archive"].interval == cadence.SHIPPED["archive"].interval
