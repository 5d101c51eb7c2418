"""The configuration: TOML files -> frozen :class:`~watcher.core.settings.Settings`, all errors in one go."""

from __future__ import annotations

from watcher.config.added import add_watches, remove_watch, write_config
from watcher.config.load import ADDED, load, parse
from watcher.config.problems import ConfigError, Problem
from watcher.config.reload import Reloader

__all__ = [
    "ADDED",
    "ConfigError",
    "Problem",
    "Reloader",
    "add_watches",
    "load",
    "parse",
    "remove_watch",
    "write_config",
]
