"""How the screen begins, lives and ends: first run, events, failure, quitting, small terminals, no colours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.color import Color

from tests.tui.stage import stage, with_screen
from tests.tui.support import NOW, ListHandle, change_of_lamp, state, town, watch
from watcher.core.model import Failure, Outcome
from watcher.core.news import News
from watcher.core.settings import NotifySettings, Settings
from watcher.engine.events import Checked, EngineFailed, Reloaded, Started
from watcher.tui import editor
from watcher.tui.bridge import collect

LAMP = "shop.example/desk-lamp"


# -- beginnings


async def test_a_first_run_leads_by_the_hand_and_writes_nothing(tmp_path: Path) -> None:
    config = tmp_path / "conf" / "config.toml"
    async with stage(ListHandle(Settings()), (100, 30), config_file=config) as s:
        await s.until_it_says("No pages yet", "a  add a page", "E  write a commented configuration", str(tmp_path))
        await s.until_it_says("Nothing is written until you ask for it.")
        await s.press("r", "space", "m", "d", "n", "enter", "y", "o", "X", "s", "v", "V", "F", "2", "e")
        assert s.screen_name == "WatchesScreen"
    assert os.listdir(tmp_path) == []


async def test_a_viewer_of_nothing_says_where_pages_are_added() -> None:
    async with stage(ListHandle(Settings(), read_only=True)) as s:
        await s.until_it_says("Another watcher has this data open")


async def test_the_first_page_takes_the_place_of_the_welcome() -> None:
    handle = ListHandle(Settings())
    async with stage(handle) as s:
        await s.until_it_says("No pages yet")
        handle.watches["a.example"] = watch("a.example")
        handle.put(state("a.example", None))
        handle.publish(Reloaded(added=("a.example",), edited=("b.example", "c.example")))
        await s.until_it_says("a.example", "never", "1 page")
        assert any("1 added, 2 edited" in toast for toast in s.toasts)


# -- events


async def test_a_check_is_seen_running_and_its_change_told() -> None:
    handle = town()
    async with stage(handle, (120, 30)) as s:
        handle.start(LAMP)
        await s.until_it_says("checking 1")
        await s.until(lambda: any(LAMP in line and "checking" in line for line in s.lines))
        after, made, changes = change_of_lamp(handle)
        handle.finish(after, made, news=News.CHANGED, changes=changes)
        await s.until_it_says("changed · HTTP 200 · 83 ms · price")
        told = [f"{LAMP} changed: price: 17.50 EUR → 14.90 EUR (-14.9 %)"]
        await s.until(lambda: s.toasts == told)


async def test_a_burst_of_news_is_one_toast() -> None:
    handle = town()
    async with stage(handle) as s:
        _, made, changes = change_of_lamp(handle)
        for _ in range(9):
            handle.publish(Checked(check=made, news=News.CHANGED, changes=changes))
        await s.until(lambda: s.toasts == [f"9 pieces of news: {LAMP}"])


async def test_toasts_never_pile_up_over_the_list() -> None:
    handle = town()
    async with stage(handle) as s:
        _, made, changes = change_of_lamp(handle)
        for turn in range(6):
            handle.publish(Checked(check=made, news=News.CHANGED, changes=changes, message=str(turn)))
            await s.until(lambda: not handle.waiting())
        assert 1 <= len(s.toasts) <= 2


async def test_the_title_counts_what_is_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage(town()) as s:
        written: list[str] = []
        monkeypatch.setattr(s.app.notices, "_write", written.append)
        await s.press("j", "m")
        await s.until(lambda: "\x1b]2;watcher (1)\x07" in written)


@pytest.mark.parametrize(
    ("focused", "quiet", "expected"), [(False, None, True), (True, None, False), (False, "13:00-15:00", False)]
)
async def test_bell_and_desktop_only_unfocused_and_not_in_quiet_hours(
    focused: bool, quiet: str | None, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = town()
    notify = NotifySettings(bell=True, desktop=True, quiet=quiet, timezone="UTC")
    handle.settings = Settings(watches=handle.settings.watches, notify=notify)
    async with stage(handle) as s:
        written: list[str] = []
        monkeypatch.setattr(s.app.notices, "_write", written.append)
        monkeypatch.setattr(s.app, "bell", lambda: written.append("bell"))
        s.app.app_focus = focused
        after, made, changes = change_of_lamp(handle)
        handle.finish(after, made, news=News.CHANGED, changes=changes)
        await s.until(lambda: bool(s.toasts))
        assert (f"\x1b]9;watcher: {LAMP} changed\x07" in written and "bell" in written) is expected


def test_events_collect_into_one_batch() -> None:
    made = change_of_lamp(town())[1]
    batch = collect([Started("a"), Checked(check=made), EngineFailed(Failure(kind="store", message="full"))])
    assert batch.moved == {"a", LAMP}
    assert [event.check.name for event in batch.checked] == [LAMP]
    assert batch.failure is not None


async def test_a_broken_configuration_keeps_the_old_one_and_says_why() -> None:
    handle = town()
    async with stage(handle) as s:
        handle.publish(Reloaded(errors=("config.toml, line 3: there is no key `watchs`.",)))
        await s.until(lambda: any("The old configuration stays in force" in toast for toast in s.toasts))


# -- failure


async def test_a_failed_engine_is_a_banner_with_a_key() -> None:
    handle, restarted = town(), []
    async with stage(handle, restart=lambda: restarted.append(1)) as s:
        handle.publish(EngineFailed(Failure(kind="store", message="The disk is full. Make room.")))
        await s.until_it_says("The engine stopped: The disk is full. Make room. ctrl+r starts it again.", "stopped")
        await s.press("ctrl+r")
        await s.until(lambda: "The engine stopped" not in s.text)
        assert restarted == [1]
        await s.press("ctrl+r")
        assert restarted == [1], "nothing to restart"


# -- endings


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
async def test_quitting_asks_the_engine_to_finish(key: str) -> None:
    async with stage(town()) as s:
        await s.press(key)
        await s.until(lambda: s.app._exit)
        assert s.handle.asked == [("stop", False)]
        assert s.app.return_value == 0


async def test_quitting_waits_visibly_and_a_second_press_forces() -> None:
    handle = town()
    handle.busy.update({LAMP, "blog.example/feed"})
    handle.hold_stop.clear()
    async with stage(handle) as s:
        await s.press("q")
        await s.until_it_says("finishing 2 checks… q again: at once")
        assert not s.app._exit
        await s.press("q")
        await s.until(lambda: s.app._exit)
        assert handle.asked == [("stop", False), ("stop", True)]


async def test_quitting_can_be_asked_first() -> None:
    async with stage(with_screen(town(), confirm_quit=True)) as s:
        await s.press("q")
        await s.until_it_says("Quit watcher?")
        await s.press("n")
        assert not s.app._exit
        await s.press("q", "y")
        await s.until(lambda: s.app._exit)


async def test_ctrl_c_quits_from_every_screen() -> None:
    async with stage(town()) as s:
        await s.press("3", "ctrl+c")
        await s.until(lambda: s.app._exit)


# -- small and strange terminals


async def test_everything_can_be_used_at_40_by_12() -> None:
    async with stage(town(), (40, 12)) as s:
        await s.until_it_says("python.org/downlo", "same", "12m", "◆ 2", "✗ 2", "? help")
        await s.press("j", "enter")
        await s.until_it_says("shop.example/desk-lamp", "next in 3m")
        await s.press("escape", "d")
        await s.until_it_says("price", "17.50 EUR")
        for key in ("3", "4", "1", "a", "escape", "question_mark", "escape"):
            await s.press(key)
        assert s.screen_name == "WatchesScreen"


async def test_resizing_keeps_the_cursor_in_view() -> None:
    async with stage(town(), (80, 40)) as s:
        await s.press("G")
        for size in ((40, 12), (140, 40), (30, 8), (200, 60)):
            await s.pilot.resize_terminal(*size)
            await s.until(lambda: any("日本.example" in line for line in s.lines))


async def test_panes_stand_side_by_side_stacked_or_away() -> None:
    for size, shown in (((140, 40), True), ((80, 24), True), ((40, 12), False)):
        async with stage(town(), size) as s:
            detail = s.app.screen.query_one("#detail")
            assert detail.display is shown
            assert (detail.region.y < 3) is (size[0] == 140) or not shown


async def test_ascii_is_ascii_everywhere() -> None:
    handle = with_screen(town(), ascii=True)
    del handle.watches["日本.example/ニュース"]
    async with stage(handle, (140, 40)) as s:
        for keys in (["j"], ["d"], ["u"], ["3"], ["4"], ["question_mark"]):
            await s.press(*keys)
            await s.until(lambda: bool(s.text.strip()))
            strange = {char for char in s.text if not char.isascii()}
            assert not strange, (keys, strange)


async def test_no_color_leaves_only_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with stage(town(), (80, 24)) as s:
        assert s.app.theme == "terminal"
        assert os.environ["NO_COLOR"] == "1", "children must see it too"
        colours = set()
        for strip in s.app.screen._compositor.render_strips(s.app.size):
            for segment in strip.apply_filter(s.app._filters[-1], s.app.screen.background_colors[1]):
                colours |= {c.name for c in (segment.style.color, segment.style.bgcolor) if segment.style and c}
        assert colours <= {"default"}


async def test_an_empty_no_color_asks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    async with stage(town(), (80, 24)) as s:
        assert s.app.theme == "harbor"
        assert s.app.no_color is False
        assert os.environ["NO_COLOR"] == ""


async def test_a_theme_that_is_not_there_is_told_and_replaced() -> None:
    async with stage(with_screen(town(), theme="nosuch")) as s:
        assert s.app.theme == "harbor"
        assert any("'nosuch'" in toast for toast in s.toasts)


async def test_every_line_takes_on_a_new_theme() -> None:
    async with stage(town(), (80, 24)) as s:
        for name in ("paper", "okabe", "frost"):
            s.app.theme = name
            wanted = Color.parse(s.app.available_themes[name].background or "").rich_color.triplet

            def grounds() -> set[object]:
                lines = s.app.screen._compositor.render_strips(s.app.size)
                styles = (segment.style for strip in lines[2:6] for segment in strip if segment.text.strip())
                return {style.bgcolor.triplet for style in styles if style and style.bgcolor}

            await s.until(lambda wanted=wanted: wanted in grounds() and len(grounds()) == 2)


async def test_the_user_s_theme_is_worn_anew_when_its_file_is_written(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('primary = "#ff0000"')
    async with stage(with_screen(town(), theme="mine"), themes=[tmp_path]) as s:
        assert s.app.theme == "mine"
        mine.write_text('primary = "#00ff00"')
        os.utime(mine, (NOW, NOW))
        s.app._tick()
        await s.until(lambda: s.app.current_theme.primary == "#00ff00")
        mine.write_text("primary = 3")
        os.utime(mine, (NOW + 9, NOW + 9))
        s.app._tick()
        await s.until(lambda: any("primary = 3 is not a colour" in toast for toast in s.toasts))


# -- the editor's command line


@pytest.mark.parametrize(
    ("environ", "line", "expected"),
    [
        ({}, None, ["vi", "f"]),
        ({"EDITOR": "nano"}, 7, ["nano", "+7", "f"]),
        ({"VISUAL": "nvim -p", "EDITOR": "nano"}, 7, ["nvim", "-p", "+7", "f"]),
        ({"VISUAL": "/usr/bin/code --wait"}, 7, ["/usr/bin/code", "--wait", "--goto", "f:7"]),
        ({"EDITOR": "hx"}, 7, ["hx", "f:7"]),
        ({"EDITOR": "ed"}, 7, ["ed", "f"]),
        ({"VISUAL": "", "EDITOR": ""}, None, ["vi", "f"]),
    ],
)
def test_editors_are_told_the_line_their_own_way(
    environ: dict[str, str], line: int | None, expected: list[str]
) -> None:
    assert editor.editor_command(environ, Path("f"), line) == expected


def test_the_pager_is_the_user_s() -> None:
    assert editor.pager_command({"PAGER": "most -w"}) == ["most", "-w"]
    assert editor.pager_command({}) == ["less", "-R"]


def test_unseen_news_of_every_kind_has_a_heading() -> None:
    from watcher.tui.notices import heading, told

    made = change_of_lamp(town())[1]
    for news in News:
        assert heading(Checked(check=made, news=news)).startswith(LAMP)
        told(Checked(check=made, news=news, message="It was so."))
    assert Outcome(made.outcome) is Outcome.CHANGED
