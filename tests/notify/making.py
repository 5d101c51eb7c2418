"""News and rules for the tests of the notices."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from watcher.core.history import Check
from watcher.core.model import Changes, Failure, FieldChange, Outcome, Secret, Status, Watch
from watcher.core.news import News
from watcher.core.settings import NotifyRule, NotifySettings
from watcher.core.state import Summary
from watcher.notify.message import Notice, notice_of

AT = 1_767_607_200.0
"""2026-01-05 10:00:00 UTC."""


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """A check as the engine tells it; shaped like its event, which notices do not know."""

    check: Check
    news: News | None = None
    changes: Changes = ()
    message: str = ""


PRICE = FieldChange("price", {"minor": 1999, "currency": "EUR"}, {"minor": 1799, "currency": "EUR"})


def watch(name: str = "Desk lamp", **more: Any) -> Watch:
    return Watch(name=name, **{"url": "https://shop.example/desk-lamp", **more})


def heard(
    name: str = "Desk lamp",
    news: News | None = News.CHANGED,
    *,
    at: float = AT,
    changes: Changes = (PRICE,),
    failure: Failure | None = None,
) -> Heard:
    check = Check(name=name, url="https://shop.example/desk-lamp", at=at, outcome=Outcome.CHANGED, failure=failure)
    return Heard(check=check, news=news, changes=changes)


def notice(name: str = "Desk lamp", news: News = News.CHANGED, *, at: float = AT) -> Notice:
    return notice_of(news, heard(name, news, at=at), watch(name))


def summary(**more: Any) -> Summary:
    known: dict[str, Any] = {
        "url": "https://shop.example/desk-lamp",
        "status": Status.OK,
        "outcome": Outcome.CHANGED,
        "http_status": 200,
        "check_interval": 3600.0,
        "next_check_at": AT + 3600,
        "last_fetched_at": AT,
        "last_changed_at": AT,
        "seen_at": None,
        "unchanged_streak": 0,
        "failures": 0,
        "paused": False,
    }
    return Summary(**{**known, **more})


def writing(path: Path) -> tuple[str, ...]:
    """A command that appends the JSON it is handed to ``path``."""
    return ("sh", "-c", 'cat >> "$0"', str(path))


def settings(*commands: Sequence[str], **more: Any) -> NotifySettings:
    rule = {key: more.pop(key) for key in ("digest_after", "events", "match") if key in more}
    return NotifySettings(rules=tuple(NotifyRule(command=tuple(c), **rule) for c in commands), **more)


def told(path: Path) -> list[dict[str, Any]]:
    """What a :func:`writing` command was handed so far."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def plain(value: str | Secret) -> str:
    """Reveals nothing but plain text."""
    if isinstance(value, Secret):
        raise LookupError("No secret is kept here.")
    return value


async def eventually(holds: Callable[[], bool]) -> None:
    """Return once ``holds``; fail when it does not for a long time."""
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 - what another process does sets no event
            await asyncio.sleep(0.005)
