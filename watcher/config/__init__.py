"""The configuration: TOML files -> frozen :class:`~watcher.core.settings.Settings`, all errors in one go."""

from __future__ import annotations

from watcher.config.load import load, parse
from watcher.config.problems import ConfigError, Problem

__all__ = ["ConfigError", "Problem", "load", "parse"]
