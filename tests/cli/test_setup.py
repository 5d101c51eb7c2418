"""``init``, ``add`` and ``themes``."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Watcher
from watcher.config import load


def test_init_writes_a_configuration_that_watches_nothing_yet(watcher: Watcher) -> None:
    run = watcher("init")
    assert run.code == 0
    assert str(watcher.config) in run.out
    settings = load(watcher.config)
    assert settings.watches == ()
    assert watcher("list").code == 0
    text = watcher.config.read_text()
    assert "# [[watch]]\n" in text
    assert "# min_gap" in text


def test_init_never_overwrites(watcher: Watcher) -> None:
    watcher.config.write_text("# mine\n")
    run = watcher("init")
    assert (run.code, run.out) == (2, "")
    assert "exists already and was left as it is" in run.err
    assert watcher.config.read_text() == "# mine\n"


def test_add_then_list(watcher: Watcher) -> None:
    watcher.configure("")
    run = watcher("add", "http://h.test/a", "http://h.test/b", "--tag", "x", "--type", "detail", "--interval", "2d")
    assert run.code == 0
    assert run.out.splitlines()[0] == (
        f"added http://h.test/a (detail, every 2d to begin with) to {watcher.folder / 'watches.toml'}"
    )
    assert [found["tags"] for found in watcher("list", "--json").objects] == [["x"], ["x"]]


def test_add_with_fields(watcher: Watcher) -> None:
    watcher.configure("")
    words = ("--field", "title=h1", "--field", "sku=json:product.sku", "--field", "code=regex:No (\\d+)")
    (found,) = watcher("add", "http://h.test/a", "--name", "A", *words, "--json").objects
    assert found == {
        "name": "A",
        "url": "http://h.test/a",
        "type": "listing",
        "file": str(watcher.folder / "watches.toml"),
    }
    fields = load(watcher.config).watches[0].fields
    assert [(field.css, field.json, field.regex) for field in fields] == [
        ("h1", None, None),
        (None, "product.sku", None),
        (None, None, "No (\\d+)"),
    ]


def test_add_refuses_what_would_break_the_configuration(watcher: Watcher) -> None:
    watcher.configure('[[watch]]\nname = "a"\nurl = "http://h.test/a"\n')
    for words, message in (
        (("http://h.test/b", "--name", "a"), "the name 'a' is used"),
        (("http://h.test/b", "--type", "detal"), "did you mean detail?"),
        (("http://h.test/b", "--interval", "soon"), "not a duration"),
    ):
        run = watcher("add", *words)
        assert run.code == 2
        assert message in run.err
    assert not (watcher.folder / "watches.toml").exists()


def test_add_notes_a_page_that_is_watched_already(watcher: Watcher) -> None:
    watcher.configure('[[watch]]\nname = "a"\nurl = "http://h.test/a"\n')
    run = watcher("add", "http://H.test:80/a")
    assert run.code == 0
    assert "two watches of the same page and fields" in run.out


def test_themes(watcher: Watcher, tmp_path: Path) -> None:
    watcher.configure('[watcher]\ntheme = "mine"\n')
    (tmp_path / "themes").mkdir()
    (tmp_path / "themes" / "mine.toml").write_text('primary = "#123456"\n')
    found = watcher("themes", "--json").objects
    assert [theme["name"] for theme in found if theme["chosen"]] == ["mine"]
    assert {theme["kind"] for theme in found} == {"shipped", "own", "library"}
    assert "harbor" in {theme["name"] for theme in found if theme["kind"] == "shipped"}
