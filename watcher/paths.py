"""Where the configuration, the data and the shipped themes are."""

from __future__ import annotations

import os
from pathlib import Path

NAME = "watcher"


def config_file(option: str | None = None) -> Path:
    """``config.toml``: the option, else ``WATCHER_CONFIG``, else the user's configuration directory."""
    given = option or os.environ.get("WATCHER_CONFIG")
    if given:
        return Path(given).expanduser().absolute()
    from platformdirs import user_config_path

    return user_config_path(NAME, appauthor=False) / "config.toml"


def data_dir(option: str | None = None) -> Path:
    """The directory of the store: the option, else ``WATCHER_DATA_DIR``, else the user's data directory."""
    given = option or os.environ.get("WATCHER_DATA_DIR")
    if given:
        return Path(given).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path(NAME, appauthor=False)


def own_themes(config: Path) -> Path:
    """Where the user's own themes lie: beside ``config`` (a ``config.toml``)."""
    return config.parent / "themes"


def shipped_themes() -> Path:
    """The themes that came with the program: inside the wheel, or beside the package in a checkout."""
    package = Path(__file__).parent
    inside = package / "themes"
    return inside if inside.is_dir() else package.parent / "themes"


def example_config() -> Path:
    """The commented configuration that came with the program."""
    package = Path(__file__).parent
    inside = package / "example_config.toml"
    return inside if inside.is_file() else package.parent / "example_config.toml"
