"""The filter: live, visible while active, cleared by escape; one that cannot be followed says why."""

from __future__ import annotations

import msgspec

from tests.tui.stage import stage
from tests.tui.support import NOW, town
from watcher.core.model import Status
from watcher.engine.events import StateChanged
from watcher.tui.widgets.filterbar import FilterBar

LAMP = "shop.example/desk-lamp"


async def test_it_filters_while_typing_and_escape_clears() -> None:
    async with stage(town(), (80, 24)) as s:
        await s.press("slash", *"tag:shop")
        await s.until_it_says("2 of 14", LAMP, "shop.example/chair")
        assert "python.org" not in s.text
        await s.press("enter")
        assert "tag:shop" in s.text, "an active filter stays visible"
        await s.press("j")
        assert s.current == "shop.example/chair"
        await s.press("escape")
        await s.until_it_says("14 pages", "python.org")
        assert s.current == "shop.example/chair", "the cursor stays on its page"
        assert not s.app.screen.query_one(FilterBar).has_class("-open")


async def test_escape_while_typing_clears_at_once() -> None:
    async with stage(town(), (80, 24)) as s:
        await s.press("slash", *"zzz")
        await s.until_it_says("None of 14 pages matches zzz.", "esc clears the filter")
        await s.press("escape")
        await s.until_it_says("14 pages")
        assert s.app.focused is not None
        assert s.app.focused.id == "list"


async def test_keys_are_text_while_typing() -> None:
    async with stage(town(), (80, 24)) as s:
        await s.press("slash", *"qrd 12?")
        assert s.handle.asked == []
        assert s.app.screen.query_one(FilterBar).value == "qrd 12?"


async def test_a_filter_that_cannot_be_followed_says_why_and_the_old_one_stays() -> None:
    async with stage(town(), (80, 24)) as s:
        await s.press("slash", *"tag:shop -")
        await s.until_it_says("A lone - excludes nothing", "2 of 14")


async def test_what_comes_to_match_comes_in() -> None:
    handle = town()
    async with stage(handle, (80, 24)) as s:
        await s.press("slash", *"status:failing", "enter")
        await s.until_it_says("1 of 14")
        handle.put(msgspec.structs.replace(handle.states[LAMP], status=Status.FAILING, failures=3, seen_at=NOW))
        handle.publish(StateChanged((LAMP,)))
        await s.until_it_says("2 of 14", LAMP)
