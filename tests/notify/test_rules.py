"""Which destinations news goes to."""

from __future__ import annotations

import pytest

from tests.notify.making import AT, summary, watch
from watcher.core.model import Secret
from watcher.core.news import News
from watcher.core.settings import NotifyRule
from watcher.notify.rules import Destination, Rules

MAIL = NotifyRule(command=("mail", "me"))
PUSH = NotifyRule(url=Secret("env:PUSH"), events=("failing", "blocked"))


def commands(rules: Rules, news: News, name: str = "Lamp", **more: object) -> list[str]:
    found = rules.destinations_for(news, watch(name, **more), summary(), AT)
    return [str(rules.destinations[to]) for to in found]


@pytest.mark.parametrize(
    ("news", "expected"),
    [
        (News.FIRST, []),
        (News.CHANGED, ["the command 'mail'"]),
        (News.GONE, ["the command 'mail'"]),
        (News.RETURNED, ["the command 'mail'"]),
        (News.RECOVERED, ["the command 'mail'"]),
        (News.FAILING, ["the command 'mail'", "the notification service given by env:"]),
        (News.BLOCKED, ["the notification service given by env:"]),
    ],
)
def test_each_kind_of_news_goes_where_a_rule_wants_it(news: News, expected: list[str]) -> None:
    assert commands(Rules([MAIL, PUSH]), news) == expected


def test_without_rules_news_goes_nowhere() -> None:
    assert commands(Rules([]), News.CHANGED) == []


def test_a_rule_with_a_query_takes_the_watches_it_matches() -> None:
    rules = Rules([NotifyRule(match="tag:shop", command=("shop",)), NotifyRule(match="lamp", command=("lamp",))])
    assert commands(rules, News.CHANGED, "Desk lamp", tags=("shop",)) == ["the command 'shop'", "the command 'lamp'"]
    assert commands(rules, News.CHANGED, "Desk lamp") == ["the command 'lamp'"]
    assert commands(rules, News.CHANGED, "Chair", tags=("shop",), url="https://a.example/") == ["the command 'shop'"]
    assert commands(rules, News.CHANGED, "Chair", url="https://a.example/") == []


def test_two_rules_to_one_place_send_once() -> None:
    again = NotifyRule(command=("mail", "me"), digest_after=2)
    rules = Rules([MAIL, again])
    assert commands(rules, News.CHANGED) == ["the command 'mail'"]
    assert [destination.digest_after for destination in rules.destinations.values()] == [5]


def test_a_rule_may_name_a_command_and_a_service() -> None:
    both = NotifyRule(command=("mail",), url="ntfy://topic")
    assert commands(Rules([both]), News.CHANGED) == ["the command 'mail'", "the notification service ntfy:"]


def test_a_destination_is_known_again_after_its_rule_was_edited() -> None:
    before, after = Rules([MAIL]), Rules([PUSH, NotifyRule(command=("mail", "me"), events=("gone",))])
    assert set(before.destinations) < set(after.destinations)


def test_names_on_disk_and_in_messages_give_no_address_away() -> None:
    rules = Rules([NotifyRule(url="tgram://123:token/456")])
    ((name, destination),) = rules.destinations.items()
    assert isinstance(destination, Destination)
    assert "token" not in f"{name} {destination}"
