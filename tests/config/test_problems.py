"""Everything wrong with a configuration comes in one list, each with its file, line, key and a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from watcher.config import ConfigError, Problem, load, parse

CONFIG = Path("/etc/watcher/config.toml")


def problems(text: str) -> list[Problem]:
    with pytest.raises(ConfigError) as caught:
        parse(text, CONFIG)
    return list(caught.value.problems)


def watch(lines: str) -> str:
    return f'[[watch]]\nname = "w"\nurl = "http://h.test/"\n{lines}\n'


ONE_EACH = [
    ("[watcher]\nthem = 1\n", 2, "watcher.them", "unknown key", "did you mean theme?"),
    ('interval = "1h"\n', 1, "interval", "unknown key", "belongs under [[watch]]"),
    ("contact = 'x'\n", 1, "contact", "unknown key", "belongs under [watcher]"),
    ("[schedul]\n", 1, "schedul", "unknown key", "did you mean schedule?"),
    ("schedule = 3\n", 1, "schedule", "must be a table", "write [schedule]"),
    ("[[schedule]]\n", 1, "schedule", "must be a table", "write [schedule]"),
    ("[watcher]\nmouse = 'yes'\n", 2, "watcher.mouse", "must be true or false, not text", None),
    ("[watcher]\nmouse = 'true'\n", 2, "watcher.mouse", "must be true or false", "without quotes"),
    ("[watcher]\nconcurrency = 0\n", 2, "watcher.concurrency", "from 1 to 64", None),
    ("[watcher]\nconcurrency = true\n", 2, "watcher.concurrency", "must be a whole number", None),
    ("[watcher]\ntheme = 'harbuor'\n", 2, "watcher.theme", "no theme 'harbuor'", None),
    ("[watcher]\ntheme = 'gruvbx'\n", 2, "watcher.theme", "no theme 'gruvbx'", "did you mean gruvbox?"),
    ("[watcher]\ndurability = 'all'\n", 2, "watcher.durability", "one of each, batch, os", None),
    ("[watcher]\ndiffer = 'delta -s'\n", 2, "watcher.differ", "must be a list", 'write ["delta", "-s"]'),
    ("[schedule]\nmin_interval = 3\n", 2, "schedule.min_interval", "must be a duration", 'write "3s"'),
    ("[schedule]\nmin_interval = '3 h'\n", 2, "schedule.min_interval", "'3 h' is not a duration", '"90s"'),
    ("[schedule]\nmin_interval = '0s'\n", 2, "schedule.min_interval", "longer than 0s", None),
    (
        "[schedule]\nmax_interval = '30m'\nmin_interval = '1h'\n",
        2,
        "schedule.max_interval",
        "under min_interval, 1h",
        None,
    ),
    ("[schedule]\npolicy = 'adaptiv'\n", 2, "schedule.policy", "must be one of", "did you mean adaptive?"),
    ("[schedule]\npolicy = 'cron'\n", 2, "schedule.policy", "cron is missing", "add cron"),
    ("[schedule]\ncron = '0 8 * *'\n", 2, "schedule.cron", "4 fields", "minute hour day month weekday"),
    ("[schedule]\ncron = '99 8 * * *'\n", 2, "schedule.cron", "cannot be read", "minute hour"),
    ("[schedule]\ncron = '0 0 30 2 *'\n", 2, "schedule.cron", "cannot be read", None),
    ("[schedule]\ntimezone = 'Europe/Berln'\n", 2, "schedule.timezone", "not a known time zone", "Europe/Berlin"),
    ("[schedule]\ntimezone = '../etc'\n", 2, "schedule.timezone", "not a known time zone", None),
    ("[page_types.a]\ninterval = '5m'\n", 2, "page_types.a.interval", "under [schedule] min_interval, 1h", "own key"),
    ("[page_types]\na = 3\n", 2, "page_types.a", "must be a table", "[page_types.NAME]"),
    ("[page_types.a]\nretention = 'x'\n", 2, "page_types.a.retention", "no retention class 'x'", "[retention.x]"),
    ("[hosts.'http://x']\nmin_gap = '1s'\n", 1, "hosts.http://x", "a host name alone", None),
    ("[hosts.'x:80/']\n", 1, "hosts.x:80/", "a host name alone", None),
    ("[hosts.'a..b']\n", 1, "hosts.a..b", "not a valid name", None),
    ("[hosts.x]\n[hosts.X]\n", 2, "hosts.X", "x has a table already", None),
    ("[hosts.x]\nterms = 'terms.html'\n", 2, "hosts.x.terms", "scheme missing", None),
    ("[tags.a]\npriority = 1\n", 2, "tags.a.priority", "unknown key", None),
    ("[retention.a]\n", 1, "retention.a.keep", "is missing", 'add keep = "30d"'),
    ("[notify]\nquiet = '22-7'\n", 2, "notify.quiet", "not a span of hours", "22:00-07:00"),
    ("[[notify.rules]]\nevents = ['chnged']\nurl='x'\n", 2, "notify.rules.events", "no event 'chnged'", "changed?"),
    ("[[notify.rules]]\nevents = ['changed']\n", 1, "notify.rules.command", "needs a command or a url", "add"),
    ("[keys]\nchek = 'r'\n", 2, "keys.chek", "no such action", "did you mean check?"),
    ("[keys]\ncheck = 3\n", 2, "keys.check", "must be a key or a list of keys", "ctrl+r"),
    ("[[watch]]\nname = 'w'\n", 1, "watch.url", "is missing", "add url"),
    ("watch = 3\n", 1, "watch", "must be a list of tables", "[[watch]]"),
    ("[watch]\nurl = 'http://h.test/'\n", 1, "watch", "must be a list of tables", "[[watch]]"),
    ("[[watch]]\nurl = 'h.test/x'\n", 2, "watch.url", "scheme missing", None),
    ("[[watch]]\nurl = 'file:page.html'\n", 2, "watch.url", "absolute path", "file:///"),
    (watch("nam = 'x'"), 4, "watch.nam", "unknown key", "did you mean name?"),
    (watch("type = 'detal'"), 4, "watch.type", "no page type 'detal'", "did you mean detail?"),
    (watch("type = 'zzz'"), 4, "watch.type", "no page type 'zzz'", "add [page_types.zzz]"),
    (watch("retention = 'x'"), 4, "watch.retention", "no retention class 'x'", "add [retention.x]"),
    (watch("tags = 'shop'"), 4, "watch.tags", "list of texts", 'write ["shop"]'),
    (watch("priority = 0"), 4, "watch.priority", "above 0", None),
    (watch("priority = nan"), 4, "watch.priority", "above 0", None),
    (watch("interval = '1h'\nmax_interval = '30m'"), 4, "watch.interval", "over max_interval, 30m", None),
    (watch("policy = 'fixed'\ncron = '0 8 * * *'"), 5, "watch.cron", "no effect under policy fixed", None),
    (watch("detect = 'byte'"), 4, "watch.detect", "one of fields, bytes", "did you mean bytes?"),
    (watch("max_body = '5 M'"), 4, "watch.max_body", "not a size", "5MiB"),
    (watch("encoding = 'utf-9'"), 4, "watch.encoding", "not a character encoding", None),
    (watch("encoding = 'base64'"), 4, "watch.encoding", "not a character encoding", None),
    (watch("robots = false"), 4, "watch.robots", "must be one of obey, ignore", None),
    (watch("method = 'HEAD'"), 4, "watch.method", "one of GET, POST", None),
    (watch("method = 'GET'\nbody = 'x'"), 5, "watch.body", "GET request has no body", "POST"),
    (watch("headers = { If-None-Match = 'x' }"), 4, "watch.headers", "cannot be set", None),
    (watch("headers = { 'a b' = 'x' }"), 4, "watch.headers", "not a name HTTP allows", None),
    (watch('headers = { A = "x\\ny" }'), 4, "watch.headers", "line ends", None),
    (watch("headers = { A = 'é' }"), 4, "watch.headers", "ASCII", None),
    (watch("headers = { A = 'x', a = 'y' }"), 4, "watch.headers", "differ only in case", None),
    (watch("cookies = { a = 'env:' }"), 4, "watch.cookies", "nothing stands after env:", None),
    (watch("command = 'ls -l'"), 4, "watch.command", "must be a list", 'write ["ls", "-l"]'),
    (watch("fields = 'h1'"), 4, "watch.fields", "must be a table of fields", "[watch.fields]"),
    (watch("fields = { title = 'h1[' }"), 4, "watch.fields.title", "not a CSS selector", None),
    (watch("[watch.fields]\na = 'h1'\nb = { css = 'p', typ = 'price' }"), 6, "watch.fields.b", "`typ`", "`type`"),
    (watch("[watch.fields.a]\ncss = 'p'\ntype = 'prize'"), 6, "watch.fields.a", "type must be one of", None),
    (watch("[watch.fields]\na.css = 'tr'\na.each.b = 'td['"), 6, "watch.fields.a.b", "not a CSS selector", None),
    (watch("[watch.fields]\na = { regex = '(' }"), 5, "watch.fields.a", "regular expression", None),
    (watch("remove = ['p[']"), 4, "watch.remove", "not a CSS selector", None),
    (watch("disabled_rules = ['x']"), 4, "watch.disabled_rules", "no noise rule", None),
]


@pytest.mark.parametrize(("text", "line", "key", "message", "suggestion"), ONE_EACH)
def test_one_mistake(text: str, line: int, key: str, message: str, suggestion: str | None) -> None:
    (problem,) = problems(text)
    assert (problem.file, problem.line, problem.key) == (CONFIG, line, key)
    assert message in problem.message
    assert suggestion is None or suggestion in (problem.suggestion or "")
    assert "\n" not in str(problem)


def test_all_of_them_at_once_in_the_order_of_the_file() -> None:
    texts = [text for text, *_ in ONE_EACH if text.startswith("[[watch]]")]
    found = problems("\n".join(texts))
    assert [problem.line for problem in found] == sorted(problem.line or 0 for problem in found)
    messages = "\n".join(map(str, found))
    for _, _, _, message, _ in (row for row in ONE_EACH if row[0].startswith("[[watch]]")):
        assert message in messages


@pytest.mark.parametrize(
    ("lines", "secret"),
    [
        ("headers = { Authorization = 'Bearer hush' }", "hush"),
        ("headers = { X-Api-Key = 'hush' }", "hush"),
        ("cookies = { session = 'hush' }", "hush"),
        ("auth = { user = 'me', password = 'hush' }", "hush"),
        ("proxy = 'http://me:hush@proxy.test:3128'", "hush"),
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_repeated(lines: str, secret: str) -> None:
    (problem,) = problems(watch(lines))
    assert "must not stand in this file" in problem.message
    assert "env:NAME" in (problem.suggestion or "")
    assert secret not in str(problem)


def test_duplicate_keys_and_names() -> None:
    (again,) = problems('[[watch]]\nname="k"\nurl="http://h.test/1"\nurl="http://h.test/2"\n')
    assert (again.line, again.key) == (4, "url")
    assert "first on line 3" in again.message
    (name,) = problems('[[watch]]\nname="k"\nurl="http://h.test/1"\n[[watch]]\nurl="http://h.test/2"\nname="k"\n')
    assert (name.line, name.key) == (6, "watch.name")
    assert "'k' is used at config.toml:1 too" in name.message
    (url,) = problems('[[watch]]\nurl="http://h.test/1"\n[[watch]]\nurl="http://H.test:80/1"\n')
    assert url.key == "watch.url"


def test_not_toml_has_line_column_and_reason() -> None:
    (problem,) = problems("[[watch]]\nname = \"kettle\nurl = 'x'\n")
    assert str(problem).startswith(f"{CONFIG}:2: not TOML, column 15: Illegal character")
    assert problem.suggestion == "a quote is not closed on this line"


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    with pytest.raises(ConfigError, match=r"config.toml: no such file \(`watcher --config .* init` writes"):
        load(path)
    with pytest.raises(ConfigError, match=r"the directory .*gone does not exist either"):
        load(tmp_path / "gone" / "config.toml")
    assert load(path, required=False).watches == ()


def test_unreadable_and_not_text(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load(tmp_path)
    path = tmp_path / "config.toml"
    path.write_bytes(b"[watcher]\ncontact = 'caf\xe9'\n")
    with pytest.raises(ConfigError, match=r"config.toml:2: byte 0xe9 is not UTF-8 \(save the file as UTF-8\)"):
        load(path)


def test_both_files_are_judged_together(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[[watch]]\nname = "a"\nurl = "x"\n')
    (tmp_path / "watches.toml").write_text('[watcher]\n[[watch]]\nname = "a"\nurl = "http://h.test/"\nx = 1\n')
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert [(p.file.name, p.line, p.key) for p in caught.value.problems] == [
        ("config.toml", 3, "watch.url"),
        ("watches.toml", 1, "watcher"),
        ("watches.toml", 3, "watch.name"),
        ("watches.toml", 5, "watch.x"),
    ]
