"""``[hosts."x"] terms``: the page is watched on its own fixed schedule, once."""

from __future__ import annotations

from pathlib import Path

from watcher.config import parse
from watcher.core.model import Policy, Watch

WEEK = 7 * 86_400.0


def watches(text: str) -> dict[str, Watch]:
    return {watch.name: watch for watch in parse(text, Path("config.toml")).watches}


def test_a_terms_page_is_a_watch_of_its_own() -> None:
    found = watches('[hosts."shop.test"]\nterms = "https://shop.test/terms"\n[[watch]]\nurl = "https://shop.test/x"\n')
    terms = found["terms of shop.test"]
    assert list(found) == ["https://shop.test/x", "terms of shop.test"]
    assert (terms.url, terms.fields) == ("https://shop.test/terms", ())
    cadence = terms.cadence
    assert (cadence.policy, cadence.interval, cadence.minimum, cadence.maximum) == (Policy.FIXED, WEEK, WEEK, WEEK)


def test_a_page_that_is_watched_already_is_not_watched_twice() -> None:
    text = '[hosts."shop.test"]\nterms = "https://shop.test/t"\n[[watch]]\nname = "own"\nurl = "https://shop.test/t"\n'
    assert list(watches(text)) == ["own"]


def test_everybodys_terms_are_nobodys() -> None:
    assert watches('[hosts.default]\nterms = "https://shop.test/t"\n[hosts."a.test"]\nmin_gap = "9s"\n') == {}
