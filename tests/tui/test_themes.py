"""Themes: every shipped one can be read, and a broken one says where and how."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from watcher import paths
from watcher.tui import themes
from watcher.tui.ink import STYLES
from watcher.tui.themes import ThemeError, contrast, inks, load_theme, load_themes, variable_defaults

SHIPPED, PROBLEMS = load_themes([paths.shipped_themes()])


def variables_of(theme: Theme) -> dict[str, str]:
    return variable_defaults(theme) | theme.to_color_system().generate() | theme.variables


def test_six_ship_two_light_one_colour_blind_safe_one_of_the_terminal_s_colours() -> None:
    assert PROBLEMS == []
    assert {"harbor", "okabe", "paper", "frost", "ember", "terminal"} <= set(SHIPPED)
    assert sum(not theme.dark for theme in SHIPPED.values()) >= 2
    assert SHIPPED["terminal"].ansi


@pytest.mark.parametrize("theme", [*SHIPPED.values(), *BUILTIN_THEMES.values()], ids=lambda theme: theme.name)
def test_every_ink_can_be_read(theme: Theme) -> None:
    """WCAG 2.2, 1.4.3: at least 4.5 on the ground it stands on. The terminal's own colours are the user's affair."""
    variables = variables_of(theme)
    found = inks(variables, theme.ansi)
    assert set(found) == {*STYLES, "cursor", "resting"}
    if theme.ansi:
        return
    ground = Color.parse(variables["background"])
    for name, style in found.items():
        if style.color is None:
            continue
        own = Color.from_rich_color(style.bgcolor) if style.bgcolor else ground
        assert contrast(Color.from_rich_color(style.color), own) >= 4.49, name


@pytest.mark.parametrize("theme", [t for t in SHIPPED.values() if not t.ansi], ids=lambda theme: theme.name)
def test_shipped_themes_are_readable_on_bars_too(theme: Theme) -> None:
    variables = variables_of(theme)
    for name in ("foreground", "ink-muted", "ink-key", "status-changed", "status-error", "status-running"):
        assert contrast(Color.parse(variables[name]), Color.parse(variables["panel"])) >= 4.0, name


def test_okabe_never_sets_red_against_green() -> None:
    added, removed = (Color.parse(SHIPPED["okabe"].variables[f"diff-{key}"]) for key in ("added", "removed"))
    assert added.b > added.r
    assert removed.r > removed.b


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('primary = "#12"', "primary = '#12' is not a colour; write one like \"#4aa3df\""),
        ("dark = true", 'the key "primary" is missing'),
        ('primary = "red"\nprimery = "red"', "unknown key 'primery'"),
        ('primary = "red"\n[status]\nchangd = "red"', "unknown key status.changd; [status] has same, changed"),
        ('primary = "red"\n[diff]\nadded = 3', "diff.added = 3 is not a colour"),
        ('primary = "red"\ndark = "yes"', "dark = 'yes' must be true or false"),
        ('primary = "red"\nstatus = 3', "status must be a table; write [status]"),
        ("primary = ", "cannot be read"),
    ],
)
def test_a_broken_theme_is_told_with_file_and_key(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ThemeError) as caught:
        load_theme(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


def test_the_user_s_own_theme_overrides_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "harbor.toml").write_text('name = "harbor"\nprimary = "#ff0000"')
    (tmp_path / "broken.toml").write_text("x")
    found, problems = load_themes([paths.shipped_themes(), tmp_path, tmp_path / "nowhere"])
    assert found["harbor"].primary == "#ff0000"
    assert len(problems) == 1


def test_legible_moves_a_colour_until_it_can_be_read() -> None:
    for ground in ("#000000", "#ffffff", "#777777"):
        moved = themes.legible(Color.parse("#777777"), Color.parse(ground))
        assert contrast(moved, Color.parse(ground)) >= 4.4
