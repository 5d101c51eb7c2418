"""What a notice says: one line of title, a short body of what changed, and the same for a program to read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import quote

import msgspec

from watcher.core.diff import diff_changes
from watcher.core.history import Check
from watcher.core.model import Changes, Failure, Field, Value, Watch
from watcher.core.news import SAYINGS, News
from watcher.core.render import sentence

LONGEST_TITLE = 120
LONGEST_LINE = 200
FIELDS_SHOWN = 8
WATCHES_SHOWN = 20
LARGEST_VALUES = 8_192
"""Bytes of JSON up to which a field's two values travel along; what is larger is told by its words only."""

_UNSAFE = {
    **dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000)]),
    **dict.fromkeys([0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF]),
    **dict.fromkeys([0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029], " "),
}

_encode = msgspec.json.Encoder(decimal_format="number").encode


class Told(Protocol):
    """A check that ended, as the engine tells it: the news in it, if any, and what moved."""

    @property
    def check(self) -> Check: ...
    @property
    def news(self) -> News | None: ...
    @property
    def changes(self) -> Changes: ...
    @property
    def message(self) -> str: ...


class Moved(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One changed field: in words, and by its values where they are small and not personal."""

    field: str
    text: str
    before: Value = msgspec.UNSET
    after: Value = msgspec.UNSET


class Notice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One piece of news, complete in itself: it can be delivered after a restart, or a change of configuration."""

    name: str
    url: str
    event: News
    at: float
    title: str
    lines: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    changes: tuple[Moved, ...] = ()
    error: Failure | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """What one destination is handed: for people ``title`` and ``body``, for programs ``payload`` (one JSON object).

    ``name`` and ``url`` are empty in a digest, whose ``event`` is ``digest``.
    """

    event: str
    title: str
    body: str
    payload: bytes
    name: str = ""
    url: str = ""


def clean(text: str, longest: int = LONGEST_LINE) -> str:
    """``text`` on one line of at most ``longest`` characters, with nothing in it that a terminal would obey."""
    text = " ".join(text[: 8 * longest].translate(_UNSAFE).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def notice_of(news: News, told: Told, watch: Watch) -> Notice:
    """``news`` as it will be told. Values of personal fields do not come along, nor does what a URL keeps secret."""
    changes = tuple(_moved(told.changes, _personal(watch.fields)))
    return Notice(
        name=watch.name,
        url=public_url(watch),
        event=news,
        at=told.check.at,
        title=clean(f"{watch.name} {SAYINGS[news]}", LONGEST_TITLE),
        lines=_lines(news, told, changes),
        tags=watch.tags,
        changes=changes,
        error=told.check.failure,
    )


def public_url(watch: Watch) -> str:
    """The watch's URL with the values of its secret query parameters hidden."""
    url = watch.url
    for key in watch.request.secret_query:
        url = re.sub(rf"([?&;]{re.escape(quote(key, safe=''))}=)[^&;#]*", r"\g<1>***", url)
    return url


def single(notice: Notice) -> Message:
    """One piece of news as a message of its own."""
    return Message(
        event=notice.event.value,
        title=notice.title,
        body="\n".join([*notice.lines, clean(notice.url, 2_000)]),
        payload=_encode(_object(notice)),
        name=notice.name,
        url=notice.url,
    )


def digest(notices: Sequence[Notice]) -> Message:
    """Several pieces of news in one message, a line for each watch; the payload holds all of them."""
    by_name: dict[str, list[Notice]] = {}
    for notice in notices:
        by_name.setdefault(notice.name, []).append(notice)
    title = f"{_plural(len(notices), 'piece')} of news from {_plural(len(by_name), 'page')}"
    lines = [_summed_up(name, news) for name, news in list(by_name.items())[:WATCHES_SHOWN]]
    if len(by_name) > WATCHES_SHOWN:
        lines.append(f"and {_plural(len(by_name) - WATCHES_SHOWN, 'page')} more")
    body = "\n".join(lines)
    payload = {"event": "digest", "title": title, "message": body, "news": [_object(notice) for notice in notices]}
    return Message(event="digest", title=title, body=body, payload=_encode(payload))


def message_of(notices: Sequence[Notice]) -> Message:
    """One notice as itself, several as a digest."""
    return single(notices[0]) if len(notices) == 1 else digest(notices)


def _personal(fields: Iterable[Field]) -> frozenset[str]:
    return frozenset(field.name for field in fields if field.personal or _personal(field.each))


def _moved(changes: Changes, personal: frozenset[str]) -> Iterable[Moved]:
    for change in changes:
        if change.field in personal:
            yield Moved(field=change.field, text=clean(f"{change.field}: changed (personal)"))
            continue
        text = "; ".join(sentence(diff, LONGEST_LINE) for diff in diff_changes([change]))
        small = len(_encode((change.before, change.after))) <= LARGEST_VALUES
        values = {"before": change.before, "after": change.after} if small else {}
        yield Moved(field=change.field, text=clean(text or f"{change.field}: changed"), **values)


def _lines(news: News, told: Told, changes: tuple[Moved, ...]) -> tuple[str, ...]:
    lines = [moved.text for moved in changes[:FIELDS_SHOWN]]
    if len(changes) > FIELDS_SHOWN:
        lines.append(f"and {_plural(len(changes) - FIELDS_SHOWN, 'field')} more")
    why = told.check.failure.message if told.check.failure else told.message
    if news in (News.FAILING, News.BLOCKED, News.GONE) and why:
        lines.append(clean(why))
    return tuple(lines)


def _object(notice: Notice) -> dict[str, Any]:
    """The notice as programs read it; keys shared with ``watcher check --json`` mean the same."""
    return {
        "event": notice.event.value,
        "name": notice.name,
        "url": notice.url,
        "at": datetime.fromtimestamp(notice.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "title": notice.title,
        "message": "\n".join(notice.lines),
        "tags": notice.tags,
        "changes": notice.changes,
        "error": notice.error,
    }


def _summed_up(name: str, news: Sequence[Notice]) -> str:
    counts = Counter(notice.event for notice in news)
    sayings = [SAYINGS[event] + (f" ({count} times)" if count > 1 else "") for event, count in counts.items()]
    last = next(iter(news[-1].lines), "")
    return clean(f"{name} {', '.join(sayings)}{': ' if last else ''}{last}")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
