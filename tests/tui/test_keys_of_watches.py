"""Every key of the main screen does what the table says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.tui.stage import stage, with_screen
from tests.tui.support import NOW, ListHandle, town
from watcher.tui import keys
from watcher.tui.screens.confirm import Confirm
from watcher.tui.widgets.lines import Lines

LAMP, FEED, FIRST = "shop.example/desk-lamp", "blog.example/feed", "python.org/downloads"


async def test_the_list_shows_every_page_with_its_state() -> None:
    async with stage(town(), (80, 34)) as s:
        await s.until_it_says(FIRST, LAMP, "HTTP 503", "waiting", "paused", "gone", "never", "14 pages", "2 changed")
        row = next(line for line in s.lines if FIRST in line)
        assert row.split() == ["·", FIRST, "1h", "+42", "–", "same", "12m"]


@pytest.mark.parametrize(
    ("pressed", "expected"),
    [
        (["down", "j"], 2),
        (["j", "j", "k", "up"], 0),
        (["G"], 13),
        (["end", "home"], 0),
        (["G", "g"], 0),
        (["pagedown"], 10),
        (["ctrl+d", "ctrl+u"], 0),
        (["G", "pageup"], 3),
        (["k"], 0),
        (["G", "j"], 13),
    ],
)
async def test_moving(pressed: list[str], expected: int) -> None:
    async with stage(town(), (80, 24)) as s:
        await s.until_it_says(FIRST)
        await s.press(*pressed)
        assert s.current == s.handle.names()[expected]


@pytest.mark.parametrize(
    ("key", "asked"),
    [
        ("r", ("check", [LAMP])),
        ("F", ("force", [LAMP])),
        ("R", ("due", None)),
        ("space", ("paused", [LAMP])),
        ("m", ("seen_at", [LAMP])),
    ],
)
async def test_deeds_are_asked_of_the_engine(key: str, asked: tuple[str, Any]) -> None:
    async with stage(town()) as s:
        await s.press("j", key)
        assert s.handle.asked == [asked]


async def test_space_pauses_and_resumes() -> None:
    async with stage(town()) as s:
        await s.press("space")
        await s.until_it_says("2 paused")
        await s.press("space")
        await s.until_it_says("1 paused")


async def test_m_marks_seen_and_unseen_again() -> None:
    async with stage(town()) as s:
        await s.press("j", "m")
        await s.until_it_says("1 changed")
        await s.press("m")
        await s.until_it_says("2 changed")


async def test_n_and_shift_n_go_round_the_unseen() -> None:
    async with stage(town()) as s:
        found = []
        for key in ("n", "n", "n", "N"):
            await s.press(key)
            found.append(s.current)
        assert found == [LAMP, FEED, LAMP, FEED]


async def test_n_says_when_there_is_nothing_unseen() -> None:
    handle = town()
    for name in (LAMP, FEED):
        handle.put(msgspec.structs.replace(handle.states[name], seen_at=NOW))
    async with stage(handle) as s:
        await s.press("n")
        await s.until_it_says("no change that you have not seen")


async def test_marks_widen_every_deed_and_escape_lets_go() -> None:
    async with stage(town()) as s:
        await s.press("v", "v", "r")
        assert s.handle.asked == [("check", [FIRST, LAMP])]
        await s.until_it_says("2 marked")
        await s.press("escape")
        assert not s.app.desk.board.marked
        await s.press("V")
        assert len(s.app.desk.board.marked) == 14
        await s.press("V")
        assert not s.app.desk.board.marked


async def test_enter_and_plus_give_the_detail_the_screen_and_back() -> None:
    for key in ("enter", "plus"):
        async with stage(town(), (80, 24)) as s:
            await s.press("j", key)
            await s.until(lambda: FIRST not in s.text)
            await s.until_it_says("19.90 EUR → 17.50 EUR", "HOST")
            await s.press("escape")
            await s.until_it_says(FIRST)
            assert s.app.focused is not None
            assert s.app.focused.id == "list"


async def test_the_detail_tells_the_whole_story() -> None:
    async with stage(town(), (140, 50)) as s:
        await s.press("j")
        await s.until_it_says(
            "halved to 15 min after a change",
            "19.90 EUR → 17.50 EUR  -12.1 %",
            "- 12 in stock",
            "outcomes",
            "interval",
            "asked to wait 0:42 more: Retry-After",
            "214 of 2,000",
            "etag_churn: its ETag moves although",
            "first byte 61 ms",
        )


async def test_shift_j_and_k_scroll_the_detail() -> None:
    async with stage(town(), (80, 24)) as s:
        await s.press("j")
        detail = s.app.screen.query_one("#detail", Lines)
        await s.until(lambda: detail.max_scroll_y > 0)
        await s.press("J")
        assert detail.scroll_offset.y == 3
        await s.press("K")
        assert detail.scroll_offset.y == 0


async def test_d_opens_the_diff_and_the_change_counts_as_seen() -> None:
    async with stage(town()) as s:
        await s.press("j", "d")
        await s.until(lambda: s.screen_name == "DiffScreen")
        assert s.handle.asked == [("seen_at", [LAMP])]
        assert s.handle.summaries[LAMP].unseen is False


async def test_a_opens_the_add_screen() -> None:
    async with stage(town()) as s:
        await s.press("a")
        await s.until(lambda: s.screen_name == "AddScreen")


@pytest.mark.parametrize(("pressed", "file", "line"), [(["e"], "own.toml", 7), (["E"], "config.toml", None)])
async def test_e_and_shift_e_run_the_editor(
    pressed: list[str], file: str, line: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The headless terminal cannot be handed over; that is said, and nothing else happens."""
    handle = town()
    own = tmp_path / "own.toml"
    config = tmp_path / "config.toml"
    config.touch()
    handle.watches[FIRST] = msgspec.structs.replace(handle.watches[FIRST], declared_in=str(own), declared_line=7)
    asked: list[tuple[Path, int | None]] = []
    monkeypatch.setenv("VISUAL", sys.executable)
    async with stage(handle, config_file=config) as s:
        monkeypatch.setattr(type(s.app.screen), "edit", lambda self, path, at: asked.append((path, at)))
        await s.press(*pressed)
    assert asked == [(tmp_path / file, line)]


async def test_the_editor_that_cannot_have_the_terminal_is_told(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.touch()
    async with stage(town(), config_file=config) as s:
        await s.press("E")
        await s.until(lambda: any("cannot be handed" in toast for toast in s.toasts))


async def test_shift_e_without_a_configuration_asks_before_it_writes(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    async with stage(town(), config_file=config, init_config=lambda: config.write_text("# hello\n")) as s:
        await s.press("E")
        assert isinstance(s.app.screen, Confirm)
        await s.press("n")
        assert not config.exists()
        await s.press("E", "y")
        await s.until(config.exists)


async def test_o_opens_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage(town()) as s:
        opened: list[str] = []
        monkeypatch.setattr(s.app, "open_url", opened.append)
        await s.press("j", "o")
        assert opened == [f"https://{LAMP}"]


async def test_y_copies_the_url() -> None:
    async with stage(town()) as s:
        await s.press("j", "y")
        assert s.app.clipboard == f"https://{LAMP}"
        await s.until_it_says(f"copied https://{LAMP}")


async def test_x_asks_and_removes_what_the_screen_added() -> None:
    handle, removed = town(), []
    handle.watches[FIRST] = msgspec.structs.replace(handle.watches[FIRST], declared_in="/c/watches.toml")
    async with stage(handle, watches_file=Path("/c/watches.toml"), remove_watch=removed.append) as s:
        await s.press("X", "escape")
        assert removed == []
        await s.press("X", "y")
        assert removed == [FIRST]


async def test_x_of_the_user_s_own_watch_leads_to_its_line() -> None:
    handle, removed = town(), []
    async with stage(handle, watches_file=Path("/c/watches.toml"), remove_watch=removed.append) as s:
        await s.press("X")
        assert any("your own configuration" in toast for toast in s.toasts)
        assert removed == []


async def test_s_sorts_by_every_order_and_shift_s_turns_it_round() -> None:
    async with stage(town()) as s:
        await s.press("s")
        assert s.app.desk.board.name(0) == "old.example/status"
        assert s.current == FIRST, "the cursor stays on its page"
        await s.press("s")
        assert s.app.desk.board.name(0) == LAMP
        await s.press("S")
        assert s.app.desk.board.name(13) == LAMP
        await s.press(*["s"] * 5)
        assert list(s.app.desk.board.shown()) == s.handle.names()


async def test_the_keys_of_the_configuration_win() -> None:
    async with stage(with_screen(town(), keys={"check": "c", "down": "t"})) as s:
        await s.press("t", "r")
        assert s.handle.asked == []
        await s.press("c")
        assert s.handle.asked == [("check", [LAMP])]
        assert "c check" in s.lines[-1]


async def test_the_footer_and_the_help_say_the_same() -> None:
    async with stage(town(), (200, 100)) as s:
        await s.press("question_mark")
        await s.until_it_says("WATCHES", "EVERYWHERE")
        for key in keys.TABLE:
            if key.scope in (keys.WATCHES, keys.PANE, keys.ROWS, keys.ALL):
                assert key.help in s.text


async def test_a_viewer_says_so_and_asks_for_nothing() -> None:
    handle = town()
    handle.read_only = True
    async with stage(handle) as s:
        await s.until_it_says("viewer, read-only")
        await s.press("r", "R", "F", "space", "m", "X", "a")
        assert handle.asked == []
        assert all("This is a viewer" in toast for toast in s.toasts)
        await s.press("q")
        assert s.app.return_value == 0


def test_every_key_of_the_table_has_its_action() -> None:
    from watcher.tui.app import WatcherApp
    from watcher.tui.screens.activity import ActivityScreen
    from watcher.tui.screens.add import AddScreen
    from watcher.tui.screens.diff import DiffScreen
    from watcher.tui.screens.numbers import NumbersScreen
    from watcher.tui.screens.watches import WatchesScreen
    from watcher.tui.widgets.rowlist import RowList

    places: dict[str, list[type]] = {
        keys.WATCHES: [WatchesScreen],
        keys.DIFF: [DiffScreen],
        keys.PANE: [WatchesScreen, DiffScreen],
        keys.NUMBERS: [NumbersScreen],
        keys.ACTIVITY: [ActivityScreen],
        keys.ADD: [AddScreen],
        keys.ROWS: [RowList, Lines],
        keys.ALL: [WatcherApp],
    }
    for key in keys.TABLE:
        for place in places[key.scope]:
            assert hasattr(place, "action_" + key.action.partition("(")[0]), (key.id, place)


def test_the_sample_is_whole() -> None:
    handle: ListHandle = town()
    assert len(handle.names()) == 14
    assert all(handle.summary(name) for name in handle.names())
