"""A whole configuration: values, defaults, the order of watch > tag > host > page type > global."""

from __future__ import annotations

from pathlib import Path

import pytest

from watcher.config import load, parse
from watcher.core.model import Cadence, Detect, Field, FieldType, Policy, RequestOptions, Secret, Watch
from watcher.core.settings import HostSettings, ScreenSettings, Settings

DAY, HOUR = 86_400.0, 3_600.0


def read(text: str) -> Settings:
    return parse(text, Path("config.toml"))


def one(lines: str, before: str = "") -> Watch:
    (watch,) = read(f'{before}\n[[watch]]\nurl = "https://shop.test/x"\n{lines}\n').watches
    return watch


def test_nothing_configured_is_fine() -> None:
    settings = read("")
    assert settings.watches == ()
    assert (settings.host_default, settings.screen) == (HostSettings(), ScreenSettings())
    assert set(settings.page_types) == {"index", "listing", "detail", "archive"}
    assert settings.retention == {"default": None}


def test_a_watch_needs_only_a_url() -> None:
    watch = one("")
    assert (watch.name, watch.url, watch.type) == ("https://shop.test/x", "https://shop.test/x", "listing")
    assert (watch.declared_in, watch.declared_line) == ("config.toml", 2)
    assert watch.request == RequestOptions()


def test_the_config_of_the_design_page() -> None:
    settings = read(
        """
[watcher]
contact = "https://example.org/me"
[schedule]
policy = "adaptive"
min_interval = "1h"
max_interval = "3d"
force_check_after = "30d"
[page_types.archive]
interval = "30d"
max_interval = "30d"
weight = 2.0
retention = "default"
[hosts.default]
min_gap = "5s"
checks_per_day = 2000
[retention.personal]
keep = "30d"
[[watch]]
name = "Desk lamp"
url = "https://shop.example/desk-lamp"
type = "detail"
priority = 2.0
tags = ["shop"]
[watch.fields]
title = "h1"
price = { css = ".price", type = "price" }
sku   = { json = "product.sku", optional = true }
views = { css = ".views", track = false }
buyer = { css = ".buyer", personal = true }
"""
    )
    (watch,) = settings.watches
    assert watch.fields == (
        Field(name="title", css="h1"),
        Field(name="price", css=".price", type=FieldType.PRICE),
        Field(name="sku", json="product.sku", optional=True),
        Field(name="views", css=".views", track=False),
        Field(name="buyer", css=".buyer", personal=True),
    )
    assert watch.cadence == Cadence(interval=3 * DAY, minimum=HOUR, maximum=3 * DAY, force_after=30 * DAY)
    assert settings.retention == {"default": None, "personal": 30 * DAY}
    assert settings.contact == "https://example.org/me"
    assert settings.page_types["archive"].weight == 2.0


@pytest.mark.parametrize(
    ("kind", "interval", "maximum"),
    [
        ("index", 6 * HOUR, 3 * DAY),
        ("listing", DAY, 3 * DAY),
        ("detail", 3 * DAY, 3 * DAY),
        ("archive", 30 * DAY, 30 * DAY),
    ],
)
def test_shipped_seeds(kind: str, interval: float, maximum: float) -> None:
    cadence = one(f'type = "{kind}"').cadence
    assert (cadence.interval, cadence.minimum, cadence.maximum) == (interval, HOUR, maximum)


LEVELS = [
    ("schedule", '[schedule]\npolicy = "estimated"\nprice = "1h"\n', Policy.ESTIMATED),
    ("page type", '[page_types.listing]\npolicy = "fixed"\n', Policy.FIXED),
    ("host", '[hosts."SHOP.test"]\npolicy = "adaptive"\n', Policy.ADAPTIVE),
    ("tag", '[tags.a]\ncron = "0 8 * * *"\n', Policy.CRON),
]


@pytest.mark.parametrize("count", range(1, len(LEVELS) + 1))
def test_the_more_specific_level_decides(count: int) -> None:
    before = "".join(text for _, text, _ in LEVELS[:count])
    cadence = one('tags = ["a"]', before).cadence
    assert cadence.policy is LEVELS[count - 1][2]
    assert cadence.price == HOUR
    assert cadence.cron == ("0 8 * * *" if cadence.policy is Policy.CRON else None)
    assert one('tags = ["a"]\npolicy = "fixed"', before).cadence.policy is Policy.FIXED


def test_a_host_falls_back_to_the_default_host_key_by_key() -> None:
    before = '[hosts.default]\nmin_gap = "9s"\nweight = 2\n[hosts."shop.test"]\nchecks_per_day = 7\n'
    settings = read(before)
    assert settings.host("shop.test") == HostSettings(min_gap=9.0, checks_per_day=7)
    assert settings.host("other.test") == HostSettings(min_gap=9.0)
    assert one("", before).cadence.weight == 2.0


def test_the_first_tag_that_says_so_counts() -> None:
    before = '[tags.a]\nweight = 2\n[tags.b]\nweight = 3\nmax_interval = "2d"\n'
    cadence = one('tags = ["a", "b"]', before).cadence
    assert (cadence.weight, cadence.maximum) == (2.0, 2 * DAY)


@pytest.mark.parametrize(
    ("lines", "before", "bounds"),
    [
        # its own key may go below the global least, and a seed of its own widens the bounds of others
        ('interval = "10m"', "", (600.0, 600.0, 3 * DAY)),
        ('min_interval = "5m"', "", (DAY, 300.0, 3 * DAY)),
        ('interval = "7d"', "", (7 * DAY, HOUR, 7 * DAY)),
        ('max_interval = "30m"', "", (1800.0, 1800.0, 1800.0)),
        ('min_interval = "7d"', "", (7 * DAY, 7 * DAY, 7 * DAY)),
        # a bound that is as specific as the seed, or more, holds
        ("", '[schedule]\nmax_interval = "6h"\n', (6 * HOUR, HOUR, 6 * HOUR)),
        ('max_interval = "2d"', '[page_types.listing]\ninterval = "5d"\n', (2 * DAY, HOUR, 2 * DAY)),
        ("", '[page_types.listing]\ninterval = "5d"\n', (5 * DAY, HOUR, 5 * DAY)),
        # an estimate needs no upper bound but the forced check
        ('policy = "estimated"', "", (DAY, HOUR, 30 * DAY)),
        ('policy = "estimated"\nmax_interval = "4d"', "", (DAY, HOUR, 4 * DAY)),
    ],
)
def test_bounds_and_seeds_meet(lines: str, before: str, bounds: tuple[float, float, float]) -> None:
    cadence = one(lines, before).cadence
    assert (cadence.interval, cadence.minimum, cadence.maximum) == bounds


def test_an_archive_keeps_its_own_maximum_beside_a_global_one() -> None:
    assert one('type = "archive"', '[schedule]\nmax_interval = "2d"\n').cadence.maximum == 30 * DAY


def test_request_options() -> None:
    watch = one(
        """
method = "post"
body = "q=1"
headers = { Accept-Language = "de", X-Api-Key = "env:KEY" }
cookies = { consent = "yes", sid = "command:pass show sid" }
auth = { user = "me", password = "env:PW" }
proxy = "http://proxy.test:3128/"
timeout = "30s"
max_body = "5MiB"
encoding = "shift_jis"
conditional = false
robots = "ignore"
ignore_freshness = true
forbid_redirect_to = ["/login"]
secret_query = ["key"]
detect = "bytes"
"""
    )
    assert watch.detect is Detect.BYTES
    assert watch.request == RequestOptions(
        method="POST",
        body="q=1",
        headers=(("Accept-Language", "de"), ("X-Api-Key", Secret("env:KEY"))),
        cookies=(("consent", "yes"), ("sid", Secret("command:pass show sid"))),
        auth=("me", Secret("env:PW")),
        proxy="http://proxy.test:3128",
        timeout=30.0,
        max_body=5 * 1024**2,
        encoding="shift_jis",
        conditional=False,
        obey_robots=False,
        ignore_freshness=True,
        forbid_redirect_to=("/login",),
        secret_query=("key",),
    )


def test_userinfo_of_a_url_becomes_auth_and_stands_nowhere_else() -> None:
    (watch,) = read('[[watch]]\nurl = "https://me:hush@h.test/x"\n').watches
    assert (watch.name, watch.url) == ("https://h.test/x", "https://h.test/x")
    assert watch.request.auth == ("me", Secret("literal:hush"))
    assert "hush" not in repr(watch)


def test_a_body_alone_is_posted() -> None:
    assert one('body = "env:FORM"').request.method == "POST"


def test_other_sources() -> None:
    command, file = read(
        '[[watch]]\nname = "log"\ncommand = ["git", "log", "-1 x"]\n[[watch]]\nurl = "file:///srv/a%20b.html"\n'
    ).watches
    assert (command.command, command.url) == (("git", "log", "-1 x"), "command:git log '-1 x'")
    assert (file.name, file.url) == ("file:///srv/a%20b.html", "file:///srv/a%20b.html")


def test_a_page_type_gives_its_retention_class() -> None:
    before = '[retention.brief]\nkeep = "2w"\n[page_types.offer]\nretention = "brief"\n'
    assert one('type = "offer"', before).retention == "brief"
    assert one('type = "offer"\nretention = "default"', before).retention == "default"
    assert one('type = "offer"', before).cadence.interval == DAY


def test_screen_and_notices() -> None:
    settings = read(
        """
[watcher]
theme = "nord"
ascii = true
mouse = false
differ = ["delta"]
concurrency = 8
durability = "each"
[keys]
quit = ["q", "ctrl+q"]
[notify]
bell = true
quiet = "22:00-07:00"
[[notify.rules]]
events = ["changed", "first"]
url = "env:NOTIFY"
command = ["notify-send", "x"]
"""
    )
    assert settings.screen == ScreenSettings(
        theme="nord", ascii=True, mouse=False, differ=("delta",), keys={"quit": "q,ctrl+q"}
    )
    assert (settings.concurrency, settings.durability) == (8, "each")
    assert (settings.notify.bell, settings.notify.quiet) == (True, "22:00-07:00")
    (rule,) = settings.notify.rules
    assert (rule.events, rule.url, rule.command) == (("changed", "first"), Secret("env:NOTIFY"), ("notify-send", "x"))


def test_a_theme_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[watcher]\ntheme = "mine"\n')
    (tmp_path / "themes").mkdir()
    (tmp_path / "themes" / "file.toml").write_text('name = "mine"\n')
    (tmp_path / "themes" / "broken.toml").write_text("name = \n")
    assert load(path).screen.theme == "mine"


def test_builtin_themes_are_those_of_the_screen_library() -> None:
    from textual.theme import BUILTIN_THEMES

    from watcher.config import screen

    assert set(screen.BUILTIN_THEMES) == set(BUILTIN_THEMES)


def test_what_looks_like_a_slip_is_a_warning() -> None:
    same = '[[watch]]\nname = "k"\nurl = "http://h.test/a"\n[[watch]]\nname = "l"\nurl = "http://H.test:80/./a#x"\n'
    (warning,) = read(same).warnings
    assert warning == "'k' (config.toml:1) and 'l' (config.toml:4): two watches of the same page and fields"
    assert len(read(same).watches) == 2
    assert read(same + '[watch.fields]\nt = "h1"\n').warnings == ()
    (case,) = read(
        '[[watch]]\nname="kettle"\nurl="http://h.test/"\n[[watch]]\nname=" Kettle "\nurl="http://h.test/"\n'
    ).warnings
    assert "names differ only in case and blanks" in case


def test_loading_reads_both_files_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("\ufeff[[watch]]\r\nname = 'a'\r\nurl = 'http://h.test/'\r\n")
    (tmp_path / "watches.toml").write_text("[[watch]]\nname = 'b'\nurl = 'http://h.test/b'\n")
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    settings = load(path)
    assert [(w.name, w.declared_in, w.declared_line) for w in settings.watches] == [
        ("a", str(path), 1),
        ("b", str(tmp_path / "watches.toml"), 1),
    ]
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before
