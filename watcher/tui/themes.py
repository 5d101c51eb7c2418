"""Colours from TOML files: one file a theme, every mistake told with file and key. What a theme leaves out is derived
so that it stays readable."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.style import Style
from textual.color import Color, ColorParseError
from textual.theme import Theme

from watcher.tui.ink import STYLES

FALLBACK = "harbor"
COLOURS = (
    "primary",
    "secondary",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
    "boost",
    "warning",
    "error",
    "success",
)
TABLES = {
    "status": ("same", "changed", "new", "error", "backoff", "paused", "gone", "running"),
    "diff": ("added", "removed"),
    "ink": ("muted", "key", "rule"),
    "cursor": ("foreground", "background"),
}
LEGIBLE = 4.5
"""The least contrast of text (WCAG 2.2, 1.4.3)."""

_ATTRIBUTES = {
    "strong": "bold",
    "head": "bold",
    "key": "bold",
    "changed": "bold",
    "error": "bold",
    "added-word": "bold underline",
    "removed-word": "bold underline",
}
_DIM_IN_ANSI = ("muted", "paused", "same", "gone")


class ThemeError(ValueError):
    """A theme file that cannot be used; ``str()`` names the file, the key and what to write instead."""


def load_theme(path: Path) -> Theme:
    """The theme in ``path``, named by its ``name`` or the file. Raises :class:`ThemeError`."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ThemeError(f"{path}: cannot be read: {error}") from None
    known = {*COLOURS, *TABLES, "name", "dark", "ansi", "variables"}
    for key in sorted(set(data) - known):
        raise ThemeError(f"{path}: unknown key {key!r}; a theme has {', '.join(COLOURS)} and {', '.join(TABLES)}")
    if "primary" not in data:
        raise ThemeError(f'{path}: the key "primary" is missing; write primary = "#4aa3df"')
    base: dict[str, Any] = {key: _colour(path, key, data[key]) for key in COLOURS if key in data}
    variables: dict[str, str] = {}
    for table, keys in TABLES.items():
        given = _table(path, table, data)
        for key in sorted(set(given) - set(keys)):
            raise ThemeError(f"{path}: unknown key {table}.{key}; [{table}] has {', '.join(keys)}")
        variables |= {f"{table}-{key}": _colour(path, f"{table}.{key}", value) for key, value in given.items()}
    variables |= {key: str(value) for key, value in _table(path, "variables", data).items()}
    return Theme(
        name=str(data.get("name", path.stem)),
        dark=_flag(path, "dark", data, True),
        ansi=_flag(path, "ansi", data, False),
        variables=variables,
        **base,
    )


def load_themes(folders: Iterable[Path]) -> tuple[dict[str, Theme], list[str]]:
    """Themes by name, later folders overriding earlier ones, and one sentence for each file that is no theme."""
    good: dict[str, Theme] = {}
    bad: list[str] = []
    for path in theme_files(folders):
        try:
            theme = load_theme(path)
        except ThemeError as error:
            bad.append(str(error))
        else:
            good[theme.name] = theme
    return good, bad


def theme_files(folders: Iterable[Path]) -> list[Path]:
    """The theme files in ``folders``; a folder that is not there has none."""
    return [path for folder in folders for path in sorted(folder.glob("*.toml"))]


def stamps(folders: Iterable[Path]) -> dict[Path, float]:
    """When each theme file was last written, for noticing that one was."""
    found = {}
    for path in theme_files(folders):
        try:
            found[path] = path.stat().st_mtime
        except FileNotFoundError:
            continue
    return found


def _colour(path: Path, key: str, value: Any) -> str:
    try:
        Color.parse(str(value))
    except ColorParseError:
        raise ThemeError(f'{path}: {key} = {value!r} is not a colour; write one like "#4aa3df" or "teal"') from None
    return str(value)


def _table(path: Path, key: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
    table = data.get(key, {})
    if not isinstance(table, dict):
        raise ThemeError(f"{path}: {key} must be a table; write [{key}]")
    return table


def _flag(path: Path, key: str, data: Mapping[str, Any], default: bool) -> bool:
    value = data.get(key, default)
    if not isinstance(value, bool):
        raise ThemeError(f"{path}: {key} = {value!r} must be true or false")
    return value


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    def linear(channel: int) -> float:
        share = channel / 255
        return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

    return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b)


def legible(colour: Color, ground: Color, least: float = LEGIBLE) -> Color:
    """``colour`` moved towards black or white until it can be read on ``ground``."""
    goal = Color(255, 255, 255) if _luminance(ground) < 0.18 else Color(0, 0, 0)
    for step in range(21):
        moved = colour.blend(goal, step / 20, alpha=1.0)
        if contrast(moved, ground) >= least:
            return moved
    return goal


def variable_defaults(theme: Theme) -> dict[str, str]:
    """What ``theme`` does not say of our own variables, derived from what it says."""
    return _ansi_defaults(theme) if theme.ansi else _rgb_defaults(theme)


def _ansi_defaults(theme: Theme) -> dict[str, str]:
    plain, warning, error = "ansi_default", theme.warning or "ansi_yellow", theme.error or "ansi_red"
    status = {
        "same": plain,
        "changed": warning,
        "new": theme.secondary or "ansi_cyan",
        "error": error,
        "backoff": theme.accent or "ansi_magenta",
        "paused": plain,
        "gone": plain,
        "running": theme.primary,
    }
    diff = {"diff-added": theme.success or "ansi_green", "diff-removed": error}
    text = {
        "ink-muted": plain,
        "ink-key": theme.primary,
        "ink-rule": plain,
        "cursor-foreground": plain,
        "cursor-background": plain,
    }
    # Textual's own widgets ask ansi themes for these two.
    ground = {"ansi-background": "ansi_default", "ansi-foreground": "ansi_default"}
    return {f"status-{key}": value for key, value in status.items()} | diff | text | ground


def _rgb_defaults(theme: Theme) -> dict[str, str]:
    ground, front = _grounds(theme)
    primary = Color.parse(theme.primary)
    error = Color.parse(theme.error) if theme.error else Color.parse("#d9616b")
    warning = Color.parse(theme.warning) if theme.warning else primary
    muted = legible(front.blend(ground, 0.35, alpha=1.0), ground)
    status = {
        "same": muted,
        "changed": legible(warning, ground),
        "new": legible(primary, ground),
        "error": legible(error, ground),
        "backoff": legible(Color.parse(theme.accent or theme.primary), ground),
        "paused": muted,
        "gone": muted,
        "running": legible(primary, ground),
    }
    cursor = ground.blend(primary, 0.35, alpha=1.0)
    rest = {
        "diff-added": legible(Color.parse(theme.success or theme.primary), ground),
        "diff-removed": legible(error, ground),
        "ink-muted": muted,
        "ink-key": legible(primary, ground),
        "ink-rule": ground.blend(front, 0.25, alpha=1.0),
        "cursor-background": cursor,
        "cursor-foreground": legible(front, cursor),
    }
    return {f"status-{key}": value.hex for key, value in status.items()} | {k: v.hex for k, v in rest.items()}


def _grounds(theme: Theme) -> tuple[Color, Color]:
    """Background and foreground, with Textual's own where the theme has none."""
    ground = Color.parse(theme.background or ("#121212" if theme.dark else "#efefef"))
    return ground, Color.parse(theme.foreground) if theme.foreground else ground.inverse


def inks(variables: Mapping[str, str], ansi: bool) -> dict[str, Style]:
    """The style of every ink, of the cursor row (``cursor``) and of the cursor row without focus (``resting``)."""
    found = {name: _ink(name, variables, ansi) for name in STYLES}
    if ansi:
        # Reverse video is the one cursor that no palette of 16 colours can make unreadable.
        return found | {"cursor": Style(bold=True, reverse=True), "resting": Style(bold=True, underline=True)}
    front, ground = (Color.parse(variables[f"cursor-{key}"]) for key in ("foreground", "background"))
    below = Color.parse(variables["background"])
    resting = below.blend(ground, 0.5, alpha=1.0)
    return found | {
        "cursor": Style(color=front.rich_color, bgcolor=ground.rich_color, bold=True),
        "resting": Style(color=legible(front, resting).rich_color, bgcolor=resting.rich_color),
    }


def _ink(name: str, variables: Mapping[str, str], ansi: bool) -> Style:
    attributes = Style.parse(_ATTRIBUTES.get(name, "") or "none")
    if ansi and name in _DIM_IN_ANSI:
        attributes += Style(dim=True)
    if name == "strong":
        return attributes
    if name.startswith("heat-"):
        return attributes + _heat(int(name[-1]), variables, ansi)
    if name.endswith("-word") and not ansi:
        colour, ground = Color.parse(variables[f"diff-{name[:-5]}"]), Color.parse(variables["background"])
        back = ground.blend(colour, 0.25, alpha=1.0)
        return attributes + Style(color=legible(colour, back).rich_color, bgcolor=back.rich_color)
    return attributes + Style(color=Color.parse(variables[_SOURCES.get(name, f"status-{name}")]).rich_color)


_SOURCES = {
    "muted": "ink-muted",
    "head": "ink-muted",
    "key": "ink-key",
    "accent": "ink-key",
    "added": "diff-added",
    "removed": "diff-removed",
    "added-word": "diff-added",
    "removed-word": "diff-removed",
}


def _heat(step: int, variables: Mapping[str, str], ansi: bool) -> Style:
    hot = Color.parse(variables["status-changed"])
    if ansi:
        return Style(color=hot.rich_color)
    cold = Color.parse(variables["ink-muted"])
    return Style(color=cold.blend(hot, step / 4, alpha=1.0).rich_color)
