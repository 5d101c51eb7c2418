"""Diff and history, numbers, activity, add, help and the palette, by their keys."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events

from tests.tui.stage import Stage, stage, with_screen
from tests.tui.support import DAY, NOW, SHELF, change_of_lamp, check, town
from watcher.core.model import Outcome
from watcher.engine.events import Checked
from watcher.tui.screens.add import UrlInput
from watcher.tui.screens.diff import instant

LAMP = "shop.example/desk-lamp"


async def opened(s: Stage, *keys: str) -> None:
    await s.press("j", *keys)


# -- diff and history


async def test_the_diff_shows_words_and_the_history_beside_it() -> None:
    async with stage(town(), (100, 30)) as s:
        await opened(s, "d")
        await s.until_it_says(
            "changed 1 of 4", "13:59 ↔ Tue 14:02", "19.90 EUR → 17.50 EUR  -12.1 %", "- 12 in stock", "+ 4 in stock"
        )


async def test_older_and_newer_walk_through_history_and_seams_are_drawn() -> None:
    async with stage(town(), (100, 30)) as s:
        await opened(s, "d", "left_square_bracket")
        await s.until_it_says("changed 2 of 4", "21.50 EUR → 19.90 EUR")
        await s.press("left_square_bracket")
        await s.until_it_says("the fields were defined anew here", "RECORD OF 2026-03-03")
        await s.press("G")
        await s.until_it_says("first look: nothing to compare with", "3 in stock")
        await s.press("right_square_bracket")
        await s.until_it_says("redefined 3 of 4")


async def test_any_two_versions_can_be_compared() -> None:
    async with stage(town(), (100, 30)) as s:
        await opened(s, "d", "G", "b", "g")
        await s.until_it_says("21.50 EUR → 17.50 EUR")
        await s.press("escape")
        await s.until_it_says("19.90 EUR → 17.50 EUR")


async def test_side_by_side_and_wrap() -> None:
    async with stage(town(), (100, 30)) as s:
        await opened(s, "d", "u")
        await s.until(lambda: any("- 12 in stock" in line and "+ 4 in stock" in line for line in s.lines))
        await s.press("w")
        await s.until(lambda: any("…" in line for line in s.lines if "Orbit" in line))


async def test_as_of_shows_what_was_known_then() -> None:
    async with stage(town(), (100, 30)) as s:
        await opened(s, "d", "t", *"2026-03-05 12:00", "enter")
        await s.until_it_says("redefined 3 of 4", "RECORD OF 2026-03-03")
        await s.press("t", *"2020-01-01", "enter")
        await s.until(lambda: any("Nothing was known of this page" in toast for toast in s.toasts))
        await s.press("t")
        await s.press(*"soon", "enter")
        await s.until(lambda: any("is not a time" in toast for toast in s.toasts))


async def test_the_change_is_copied_as_text() -> None:
    async with stage(town(), (100, 30)) as s:
        await opened(s, "d", "y")
        await s.until(lambda: "- 12 in stock" in s.app.clipboard)


async def test_pager_and_differ_say_what_stands_in_their_way() -> None:
    async with stage(town(), (100, 30)) as s:
        await opened(s, "d", "p")
        await s.until(lambda: any("cannot be handed" in toast for toast in s.toasts))
        await s.press("D")
        await s.until(lambda: any("No program is named for this" in toast for toast in s.toasts))


async def test_a_page_without_history_says_what_to_do() -> None:
    async with stage(town(), (100, 30)) as s:
        await s.press("d")
        await s.until_it_says("No version of python.org/downloads is stored yet")
        await s.press("q")
        assert s.screen_name == "WatchesScreen", "q goes back everywhere but on the list"


async def test_a_new_version_arrives_while_looking() -> None:
    handle = town()
    async with stage(handle, (100, 30)) as s:
        await opened(s, "d")
        after, made, changes = change_of_lamp(handle)
        newest = handle.versions[LAMP][0]
        fresh = type(newest)(name=LAMP, at=NOW, outcome=Outcome.CHANGED, record=after.record, seq=5)
        handle.versions[LAMP].insert(0, fresh)
        handle.finish(after, made, changes=changes)
        await s.until_it_says("changed 2 of 5")


@pytest.mark.parametrize(
    ("text", "at"),
    [("2026-03-12 14:02:11", NOW), ("2026-03-12T14:02:11", NOW), (" 2026-03-12 14:02 ", NOW - 11), ("noon", None)],
)
def test_times_are_read_as_people_write_them(text: str, at: float | None) -> None:
    assert instant(text) == at


def test_a_day_means_its_end() -> None:
    assert instant("2026-03-12") == NOW - NOW % DAY + DAY - 1


# -- numbers


async def test_the_numbers_count_what_is_stored() -> None:
    async with stage(town(), (120, 50)) as s:
        await s.press("3")
        await s.until_it_says("NUMBERS · last 30 days · 40 checks", "5 changes", "2.5% errors", "p50 83 ms")
        await s.until_it_says(
            "bytes saved", "87%", "downstream saved", "requests saved", "freshness", "THE FOUR NUMBERS"
        )
        await s.until_it_says("MOST CHANGED", "MOST FAILED", "CHANGES BY HOUR AND WEEKDAY", "shop.example")
        await s.press("h")
        await s.until_it_says("PAGE TYPE", "detail")


async def test_another_window_of_time() -> None:
    async with stage(town(), (120, 50)) as s:
        await s.press("3", "w")
        await s.until_it_says("everything stored")
        await s.press("w")
        await s.until_it_says("last day", "30 checks")


async def test_no_check_in_a_window_says_so() -> None:
    handle = town()
    handle.journal.clear()
    async with stage(handle, (120, 50)) as s:
        await s.press("3")
        await s.until_it_says("No check is stored for this time")


async def test_policies_are_replayed_on_the_history() -> None:
    async with stage(town(), (120, 60)) as s:
        await s.press("3", "s")
        await s.until_it_says("POLICY", "adaptive", "estimated", "fixed", "Replayed on 1 page")


# -- activity


async def test_the_audit_trail_follows_what_happens() -> None:
    handle = town()
    async with stage(handle, (120, 30)) as s:
        await s.press("4")
        await s.until_it_says("ACTIVITY · 40 lines", "following", "not modified", "503")
        made = check("new.example/press", NOW, Outcome.UNCHANGED)
        handle.publish(Checked(check=made))
        await s.until_it_says("41 lines", "new.example/press")
        await s.press("k")
        await s.until_it_says("held: f follows")
        handle.publish(Checked(check=made))
        await s.until_it_says("42 lines", "held")
        await s.press("f")
        await s.until_it_says("following")


async def test_the_trail_is_filtered_and_leads_to_the_page() -> None:
    handle = town()
    handle.publish(Checked(check=check("new.example/press", NOW, Outcome.UNCHANGED)))
    async with stage(handle, (120, 30)) as s:
        await s.press("4", "slash", *"503", "enter")
        await s.until_it_says("1 line ", "only '503'")
        await s.press("enter")
        await s.until(lambda: s.screen_name == "WatchesScreen")
        assert s.current == LAMP


async def test_escape_clears_the_filter_of_the_trail_first() -> None:
    async with stage(town(), (120, 30)) as s:
        await s.press("4", "slash", *"zzz", "enter")
        await s.until_it_says("No line contains zzz.")
        await s.press("escape")
        await s.until_it_says("40 lines")
        await s.press("escape")
        assert s.screen_name == "WatchesScreen"


# -- add


async def test_adding_a_page_with_one_of_its_fields() -> None:
    saved: list[Any] = []
    async with stage(town(), (90, 24), save_watches=saved.extend) as s:
        await s.press("a", *"shop.example/shelf", "enter")
        await s.until_it_says("[x] everything the page says: title, price, stock", "[ ] price", "89.00 EUR")
        assert s.handle.asked == [("preview", SHELF)]
        assert saved == []
        await s.press("G", "ctrl+t")
        await s.until_it_says("[x] price", "[ ] everything")
        await s.press("ctrl+s")
        await s.until(lambda: s.screen_name == "WatchesScreen")
        price = {"css": ".price, [itemprop=price]", "type": "price"}
        assert saved == [{"url": SHELF, "type": "detail", "fields": {"price": price}}]
        assert s.handle.asked[-1] == ("due", None)


async def test_a_typed_selector_is_tried_live() -> None:
    saved: list[Any] = []
    async with stage(town(), (90, 24), save_watches=saved.extend) as s:
        await s.press("a", *"shop.example/shelf", "enter")
        await s.until_it_says("everything the page says")
        s.app.screen.query_one("#field").focus()
        await s.press(*"head = h9")
        await s.until_it_says("head: 0 matches")
        await s.press("backspace", "1")
        await s.until_it_says("head  Oak shelf")
        await s.press("enter")
        await s.until_it_says("[x] head")
        s.app.screen.query_one("#every").focus()
        await s.press(*"6h", "tab", *"shop, new", "ctrl+s")
        await s.until(lambda: bool(saved))
        wanted = {"url": SHELF, "type": "detail", "interval": "6h", "tags": ["shop", "new"], "fields": {"head": "h1"}}
        assert saved == [wanted]


async def test_pasting_many_adds_many() -> None:
    saved: list[Any] = []
    async with stage(town(), (90, 24), save_watches=saved.extend) as s:
        await s.press("a")
        box = s.app.screen.query_one(UrlInput)
        box.post_message(events.Paste("https://a.example/\nhttps://b.example/\nnonsense://x\nhttps://a.example/\n"))
        await s.until_it_says("2 pages to add", "https://b.example/", "nonsense://x")
        await s.press("ctrl+s")
        await s.until(lambda: bool(saved))
        assert [watch["url"] for watch in saved] == ["https://a.example/", "https://b.example/"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [("https://nowhere.example", "the host does not answer"), ("http://[", "http://[")],
)
async def test_a_url_that_leads_nowhere_says_so(typed: str, said: str) -> None:
    async with stage(town(), (90, 24)) as s:
        await s.press("a", *typed, "enter")
        await s.until_it_says(said)


async def test_what_cannot_be_saved_is_told_and_kept() -> None:
    def refuse(watches: object) -> None:
        raise ValueError("watches.toml: there is already a watch of this name.")

    async with stage(town(), (90, 24), save_watches=refuse) as s:
        await s.press("a", *"shop.example/shelf", "ctrl+s")
        await s.until_it_says("Not saved: watches.toml: there is already a watch", "shop.example/shelf")
        s.app.screen.query_one("#every").focus()
        await s.press(*"often", "ctrl+s")
        await s.until_it_says("'often' is no interval")
        await s.press("escape")
        assert s.screen_name == "WatchesScreen"


# -- between screens


async def test_numbers_lead_to_screens_and_escape_back() -> None:
    async with stage(town()) as s:
        for key, name in (("2", "DiffScreen"), ("3", "NumbersScreen"), ("4", "ActivityScreen"), ("1", "WatchesScreen")):
            await s.press(key)
            await s.until(lambda name=name: s.screen_name == name)
            assert len(s.app.screen_stack) <= 2
        await s.press("3", "f1")
        assert s.screen_name == "HelpScreen"
        await s.until_it_says("NUMBERS", "Another window of time")
        await s.press("escape", "escape")
        assert s.screen_name == "WatchesScreen"


@pytest.mark.parametrize("key", ["ctrl+p", "colon"])
async def test_the_palette_has_every_action_with_its_key(key: str) -> None:
    async with stage(town(), (90, 40)) as s:
        await s.press(key, *"what changed")
        await s.until_it_says("What changed, and the history", "key d")


async def test_the_palette_leads_to_a_page() -> None:
    async with stage(town(), (90, 40)) as s:
        await s.press("ctrl+p", *"museum")
        await s.until_it_says("go to this page")
        await s.press("enter")
        await s.until(lambda: s.current == "museum.example/hours")


async def test_the_palette_does_what_the_key_does() -> None:
    async with stage(town(), (90, 40)) as s:
        await s.press("ctrl+p", *"everything that is due")
        await s.until_it_says("Check everything that is due")
        await s.press("enter")
        await s.until(lambda: s.handle.asked == [("due", None)])


async def test_the_palette_wears_themes_live() -> None:
    async with stage(with_screen(town(), theme="harbor"), (90, 40)) as s:
        await s.press("ctrl+p", *"theme okabe")
        await s.until_it_says("Theme okabe")
        await s.press("enter")
        await s.until(lambda: s.app.theme == "okabe")
