"""Pictures of every screen: ``python scripts/shots.py FOLDER [NAME...]``; SVG, and PNG where cairosvg is installed.

``python scripts/shots.py docs readme`` makes those that README shows.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.tui.support import ListHandle, read_shelf, town
from watcher import paths
from watcher.core.settings import ScreenSettings, Settings
from watcher.tui.app import WatcherApp
from watcher.tui.options import ScreenOptions

SIZES = {"80x24": (80, 24), "140x40": (140, 40), "40x12": (40, 12)}
THEMES = {"dark": "harbor", "light": "paper", "ansi": "terminal"}
SCREENS: dict[str, Sequence[str]] = {
    "watches": ("j", "j"),
    "lamp": ("j",),
    "zoomed": ("j", "enter"),
    "marked": ("v", "v", "j"),
    "filter": ("slash", *"shop"),
    "diff": ("j", "d"),
    "side": ("j", "d", "u"),
    "numbers": ("3", "s"),
    "activity": ("4",),
    "add": ("a", *"shop.example/shelf", "enter", "down", "ctrl+t"),
    "help": ("question_mark",),
    "palette": ("ctrl+p",),
    "remove": ("j", "X"),
    "first": (),
}

README = {"main": "lamp", "diff": "diff", "numbers": "numbers"}
"""Pictures in README, and the screens they show."""


def _with(handle: ListHandle, **screen: object) -> ListHandle:
    handle.settings = Settings(watches=handle.settings.watches, screen=ScreenSettings(**screen))  # type: ignore[arg-type]
    return handle


def local(svg: str) -> str:
    """The picture without the fonts it would load from the web."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return re.sub(r"font-family: ?[^;]*;", "font-family: DejaVu Sans Mono, Menlo, Consolas, monospace;", svg)


async def picture(keys: Sequence[str], size: tuple[int, int], theme: str, handle: ListHandle) -> str:
    """The screen after ``keys``, as SVG."""
    options = ScreenOptions(
        themes=[paths.shipped_themes()],
        config_file=Path("/home/me/.config/watcher/config.toml"),
        save_watches=lambda watches: None,
        remove_watch=lambda name: None,
        try_fields=read_shelf,
    )
    app = WatcherApp(_with(handle, theme=theme), options)
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause(0.3)
        for key in keys:
            await pilot.press(key)
            await pilot.pause(0.1 if key in ("enter", "a") else 0.0)
        await pilot.pause(0.5)
        return local(app.export_screenshot(title="watcher"))


def write(path: Path, svg: str) -> None:
    """Write the picture."""
    path.write_text(svg, "utf-8")


async def shoot(name: str, keys: Sequence[str], size: str, theme: str, folder: Path, handle: ListHandle) -> None:
    """One picture, also as PNG where that can be made."""
    svg = await picture(keys, SIZES[size], theme, handle)
    path = folder / f"{name}_{size}_{theme}.svg"
    write(path, svg)
    try:
        import cairosvg
    except ImportError:
        return
    cairosvg.svg2png(bytestring=svg.encode(), write_to=str(path.with_suffix(".png")))


async def main(folder: Path, names: Sequence[str]) -> None:
    """Every screen in every size and theme, or those named ``screen[_size[_theme]]``."""
    for name, keys in SCREENS.items():
        for size in SIZES:
            for theme in THEMES.values():
                if not names or any(f"{name}_{size}_{theme}".startswith(wanted) for wanted in names):
                    await shoot(name, keys, size, theme, folder, ListHandle(Settings()) if name == "first" else town())


async def for_readme(folder: Path) -> None:
    """The pictures that README shows."""
    for name, screen in README.items():
        svg = await picture(SCREENS[screen], SIZES["140x40"], "harbor", town())
        write(folder / f"{name}.svg", svg)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(for_readme(target) if sys.argv[2:] == ["readme"] else main(target, sys.argv[2:]))
