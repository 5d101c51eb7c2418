"""The town the demo watches: what moves on purpose, what is noise, and how its hosts answer."""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from watcher.config import parse
from watcher.core.model import Watch
from watcher.core.urls import parse_url
from watcher.demo import site
from watcher.extract import extract_for

SETTINGS = parse(
    (files("watcher.demo") / "config.toml").read_text(encoding="utf-8").replace("{port}", "8000"), Path("config.toml")
)
HOURS = range(0, 361, 3)
"""A minute of demo, every half second of it."""


def told(watch: Watch, hour: float, nth: int = 1) -> Any:
    """What the watch's record is at that hour, or the status when there is no page."""
    url = parse_url(watch.url)
    made = site.answer(url.host, url.target, hour, nth)
    if made.status != 200:
        return made.status
    return extract_for(watch, made.body.encode(), content_type=made.content_type, url=watch.url).fingerprint


def bodies(watch: Watch) -> list[str]:
    url = parse_url(watch.url)
    return [site.answer(url.host, url.target, hour, 1).body for hour in HOURS]


def named(name: str) -> Watch:
    return next(watch for watch in SETTINGS.watches if watch.name == name)


def test_every_watch_has_a_host_of_the_town_and_a_page_there() -> None:
    assert SETTINGS.warnings == ()
    for watch in SETTINGS.watches:
        assert parse_url(watch.url).host in site.HOSTS
        assert told(watch, 0.0) != 404, watch.name


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("Harbour Gazette", 20),
        ("Storm lantern", 5),
        ("Brass barometer", 3),
        ("Wool blanket", 0),
        ("Harbour master's notice", 3),
        ("Work in the harbour", 2),
        ("Tides at the bar", 2),
        ("New in the reading room", 0),
        ("Café Bollard", 1),
        ("Lighthouse logbook, 1911", 0),
        ("Loft above the chandlery", 2),
    ],
)
def test_how_often_a_page_moves_within_a_minute(name: str, moves: int) -> None:
    records = [told(named(name), hour) for hour in HOURS]
    assert sum(a != b for a, b in pairwise(records)) == moves


@pytest.mark.parametrize("name", ["Café Bollard", "Tides at the bar", "Wool blanket"])
def test_noise_moves_the_page_and_not_the_record(name: str) -> None:
    assert len(set(bodies(named(name)))) > len({told(named(name), hour) for hour in HOURS})


def respond(host: str, path: str, *headers: str, hour: float = 0.0, opened: float = 1_767_607_200.0) -> str:
    times = iter([opened])
    town = site.Site(lambda: next(times, opened + hour * 3_600))
    return town.respond([f"GET {path} HTTP/1.1", f"Host: {host}:8000", *headers]).decode()


def header(answer: str, name: str) -> str:
    return next(line.partition(": ")[2] for line in answer.split("\r\n") if line.startswith(f"{name}: "))


def test_validators_are_honoured() -> None:
    tag = header(respond("shop.demo", "/storm-lantern"), "ETag")
    assert respond("shop.demo", "/storm-lantern", f"If-None-Match: {tag}", hour=12).startswith("HTTP/1.1 304 ")
    assert respond("shop.demo", "/storm-lantern", f"If-None-Match: {tag}", hour=36).startswith("HTTP/1.1 200 ")
    date = header(respond("news.demo", "/"), "Last-Modified")
    assert respond("news.demo", "/", f"If-Modified-Since: {date}", hour=12).startswith("HTTP/1.1 304 ")
    assert respond("news.demo", "/", f"If-Modified-Since: {date}", hour=20).startswith("HTTP/1.1 200 ")


def test_the_plain_host_knows_nothing_of_validators() -> None:
    answer = respond("plain.demo", "/tides")
    assert "ETag" not in answer
    assert "Last-Modified" not in answer


def test_a_churning_host_never_says_the_same_tag_twice() -> None:
    town = site.Site(lambda: 0.0)
    request = ["GET /new-books HTTP/1.1", "Host: churn.demo:8000"]
    assert len({header(town.respond(request).decode(), "ETag") for _ in range(5)}) == 5


def test_a_busy_host_asks_for_half_a_day() -> None:
    town = site.Site(lambda: 0.0)
    request = ["GET /timetable.json HTTP/1.1", "Host: busy.demo:8000"]
    first, second = (town.respond(request).decode() for _ in range(2))
    assert first.startswith("HTTP/1.1 200 ")
    assert (second.split(" ")[1], header(second, "Retry-After")) == ("429", "43200")


def test_the_members_page_is_closed_to_robots() -> None:
    assert "Disallow: /members/" in respond("members.demo", "/robots.txt")


def test_an_unknown_page_is_not_there() -> None:
    assert respond("shop.demo", "/sextant").startswith("HTTP/1.1 404 ")
