"""``[watcher]``, ``[keys]``, ``[notify]`` and its rules: how the program looks, listens and tells news."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from watcher import paths
from watcher.config import readers
from watcher.config.problems import did_you_mean
from watcher.config.readers import Mistake, Schema
from watcher.config.source import Source
from watcher.config.toml import Table
from watcher.core.news import News
from watcher.core.settings import NotifyRule, NotifySettings, ScreenSettings

BUILTIN_THEMES = (
    "ansi-dark",
    "ansi-light",
    "atom-one-dark",
    "atom-one-light",
    "catppuccin-frappe",
    "catppuccin-latte",
    "catppuccin-macchiato",
    "catppuccin-mocha",
    "dracula",
    "flexoki",
    "gruvbox",
    "monokai",
    "nord",
    "rose-pine",
    "rose-pine-dawn",
    "rose-pine-moon",
    "solarized-dark",
    "solarized-light",
    "textual-dark",
    "textual-light",
    "tokyo-night",
)
"""The themes the screen's library brings; written down here so that no command but the screen imports it."""

WATCHER: Schema = {
    "contact": readers.text,
    "theme": readers.text,
    "ascii": readers.boolean,
    "mouse": readers.boolean,
    "confirm_quit": readers.boolean,
    "differ": readers.argv,
    "concurrency": readers.whole(1, 64),
    "durability": readers.choice("each", "batch", "os"),
}
_ON_SCREEN = ("theme", "ascii", "mouse", "confirm_quit", "differ")


def general(source: Source, data: Table) -> dict[str, Any]:
    """The fields of :class:`Settings` that ``[watcher]`` and ``[keys]`` hold, the screen's in ``screen``."""
    table = source.table(data, "watcher")
    values = source.values(table, "watcher", WATCHER)
    theme = values.get("theme", ScreenSettings().theme)
    if theme != ScreenSettings().theme and theme not in BUILTIN_THEMES:
        known = theme_names(paths.shipped_themes()) | theme_names(paths.own_themes(source.path))
        if theme not in known:
            advice = did_you_mean(theme, known.union(BUILTIN_THEMES))
            advice = advice or f"`watcher themes` lists them; your own go to {paths.own_themes(source.path)}"
            source.mistake(table, "watcher", "theme", Mistake(f"there is no theme {theme!r}", advice))
    on_screen = {key: values.pop(key) for key in _ON_SCREEN if key in values}
    return {**values, "screen": ScreenSettings(**on_screen, keys=_keys(source, data))}


def theme_names(folder: Path) -> set[str]:
    """The themes in ``folder``, each by the name its file says, else the file's own."""
    found = set()
    for file in folder.glob("*.toml") if folder.is_dir() else ():
        try:
            found.add(str(tomllib.loads(file.read_text("utf-8")).get("name", file.stem)))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            # Whatever is wrong inside a theme is told when it is loaded, by the one who knows colours.
            found.add(file.stem)
    return found


def _keys(source: Source, data: Table) -> dict[str, str]:
    """Action id -> keys, joined by commas."""
    table = source.table(data, "keys")
    if not table:
        return {}
    from watcher.tui.keys import BY_ID

    found: dict[str, str] = {}
    for action, value in table.items():
        keys = value if isinstance(value, list) else [value]
        if action not in BY_ID:
            advice = did_you_mean(action, BY_ID) or "the screen's ? page and README list them"
            source.mistake(table, "keys", action, Mistake("there is no such action", advice))
        elif keys and all(isinstance(key, str) and re.fullmatch(r"\S+", key) for key in keys):
            found[action] = ",".join(keys)
        else:
            source.mistake(table, "keys", action, Mistake("must be a key or a list of keys", 'write it like "ctrl+r"'))
    return found


def _match(value: Any) -> str:
    """A query of the ``/`` filter language; empty matches every watch."""
    query = readers.free_text(value).strip()
    from watcher.core.query import QueryError, parse

    try:
        parse(query)
    except QueryError as error:
        raise Mistake(str(error).rstrip(".")) from None
    return query


def _events(value: Any) -> tuple[str, ...]:
    words = readers.texts(value)
    known = [news.value for news in News]
    for word in words:
        if word not in known:
            raise Mistake(f"there is no event {word!r}", did_you_mean(word, known))
    return words


NOTIFY: Schema = {
    "bell": readers.boolean,
    "desktop": readers.boolean,
    "title": readers.boolean,
    "quiet": readers.quiet,
    "timezone": readers.zone,
    "rules": lambda value: value,
}
RULE: Schema = {
    "match": _match,
    "events": _events,
    "command": readers.argv,
    "url": readers.secret_or_text,
    "digest_after": readers.whole(1, 10_000),
}


def notify(source: Source, data: Table) -> NotifySettings:
    """``[notify]`` with its rules; a rule must say where its news goes."""
    table = source.table(data, "notify")
    values = source.values(table, "notify", NOTIFY)
    values.pop("rules", None)
    rules = []
    for rule in source.array(table, "rules", "notify.rules"):
        given = source.values(rule, "notify.rules", RULE)
        if not {"command", "url"} & rule.keys():
            advice = 'add command = ["notify-send", "..."] or url = "env:NAME"'
            source.mistake(rule, "notify.rules", "command", Mistake("a rule needs a command or a url", advice))
        rules.append(NotifyRule(**given))
    return NotifySettings(**values, rules=tuple(rules))
