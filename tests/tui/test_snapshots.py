"""A few whole pictures, with every instant fixed. Written anew with ``pytest --snapshot-update tests/tui``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.stage import with_screen
from tests.tui.support import town
from watcher import paths
from watcher.tui.app import WatcherApp
from watcher.tui.options import ScreenOptions
from watcher.tui.widgets.lines import Lines


def settled(word: str, pane: str) -> Callable[[Pilot[int]], Any]:
    """Wait until a pane says ``word``: what is read from the journal comes when the cursor rests."""

    async def wait(pilot: Pilot[int]) -> None:
        for _ in range(300):
            shown = pilot.app.screen.query_one(pane, Lines).lines
            if any(word in ink.text for line in shown for ink in line):
                break
            await pilot.pause(0.01)
        else:
            raise AssertionError(f"{pane} never said {word!r}")

    return wait


@pytest.mark.parametrize(
    ("size", "theme", "keys", "word", "pane"),
    [
        ((140, 40), "harbor", ["j"], "outcomes", "#detail"),
        ((80, 24), "paper", ["j", "d"], "stock", "#change"),
        ((40, 12), "terminal", ["j", "enter"], "outcomes", "#detail"),
    ],
    ids=["watches-140x40-harbor", "diff-80x24-paper", "detail-40x12-terminal"],
)
def test_picture(
    snap_compare: Any, size: tuple[int, int], theme: str, keys: Sequence[str], word: str, pane: str
) -> None:
    handle = with_screen(town(), theme=theme)
    app = WatcherApp(handle, ScreenOptions(themes=[paths.shipped_themes()], tick=3600.0))

    async def play(pilot: Pilot[int]) -> None:
        await pilot.pause()
        await pilot.press(*keys)
        await settled(word, pane)(pilot)

    assert snap_compare(app, terminal_size=size, run_before=play)
