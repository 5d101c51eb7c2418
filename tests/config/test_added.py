"""watches.toml: appended to and taken from, atomically, and never at the cost of what stands there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from watcher.config import ConfigError, add_watches, load, remove_watch, write_config


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text('# mine\n[[watch]]\nname = "a"\nurl = "http://h.test/a"\n')
    return path


def test_added_watches_are_loaded(config: Path) -> None:
    mine = config.read_bytes()
    fields = {"title": "h1", "price": {"css": ".price", "type": "price"}}
    add_watches(config, [{"name": "b", "url": "http://h.test/b", "tags": ["x"], "type": None, "fields": fields}])
    settings = add_watches(config, [{"url": "http://h.test/c"}, {"url": "http://h.test/d"}])
    assert [watch.name for watch in settings.watches] == ["a", "b", "http://h.test/c", "http://h.test/d"]
    assert settings == load(config)
    assert [field.name for field in settings.watches[1].fields] == ["title", "price"]
    assert config.read_bytes() == mine
    assert sorted(os.listdir(config.parent)) == ["config.toml", "watches.toml"]


def test_without_a_configuration_file_too(tmp_path: Path) -> None:
    config = tmp_path / "new" / "config.toml"
    assert len(add_watches(config, [{"url": "http://h.test/"}]).watches) == 1
    assert not config.exists()


def test_all_or_none(config: Path) -> None:
    add_watches(config, [{"name": "b", "url": "http://h.test/b"}])
    before = config.with_name("watches.toml").read_bytes()
    with pytest.raises(ConfigError) as caught:
        add_watches(config, [{"url": "http://h.test/c"}, {"name": "b", "url": "http://h.test/d"}])
    (problem,) = caught.value.problems
    assert (problem.line, problem.key) == (None, "watch.name")
    assert config.with_name("watches.toml").read_bytes() == before


def test_a_broken_configuration_is_not_added_to(config: Path) -> None:
    config.write_text("[watcher\n")
    with pytest.raises(ConfigError, match="not TOML"):
        add_watches(config, [{"url": "http://h.test/c"}])
    assert not config.with_name("watches.toml").exists()


def test_what_a_person_wrote_there_stays(config: Path) -> None:
    added = config.with_name("watches.toml")
    added.write_text('# head\n\n# about b\n[[watch]] # b\nname = "b"\nurl = "http://h.test/b"')
    add_watches(config, [{"name": "c", "url": "http://h.test/c", "fields": {"t": "h1"}}])
    assert added.read_text().startswith('# head\n\n# about b\n[[watch]] # b\nname = "b"\nurl = "http://h.test/b"\n\n')
    remove_watch(config, "b")
    assert added.read_text() == '# head\n\n[[watch]]\nname = "c"\nurl = "http://h.test/c"\n\n[watch.fields]\nt = "h1"\n'
    remove_watch(config, "c")
    assert added.read_text() == "# head\n\n"
    assert [watch.name for watch in load(config).watches] == ["a"]


@pytest.mark.parametrize("name", ["a", "nobody"])
def test_only_its_own_watches_are_removed(config: Path, name: str) -> None:
    add_watches(config, [{"name": "b", "url": "http://h.test/b"}])
    with pytest.raises(KeyError):
        remove_watch(config, name)
    assert len(load(config).watches) == 2


def test_a_symlink_stays_one_and_the_mode_is_kept(config: Path) -> None:
    target = config.parent / "elsewhere" / "list.toml"
    target.parent.mkdir()
    target.write_text("# kept elsewhere\n\n")
    target.chmod(0o640)
    link = config.with_name("watches.toml")
    link.symlink_to(target)
    add_watches(config, [{"url": "http://h.test/c"}])
    assert link.is_symlink()
    assert target.read_text().startswith("# kept elsewhere\n\n[[watch]]\n")
    assert target.stat().st_mode & 0o777 == 0o640
    assert os.listdir(target.parent) == ["list.toml"]


def test_two_programs_adding_at_once_lose_nothing(config: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from watcher.config import add_watches\n"
        "for n in range(10): add_watches(Path(sys.argv[1]), [{'url': f'http://h.test/{sys.argv[2]}{n}'}])"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, str(config), who]) for who in "xy"]
    assert [run.wait() for run in runs] == [0, 0]
    assert len(load(config).watches) == 21


def test_a_new_configuration_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "config.toml"
    write_config(path, "# new\n")
    with pytest.raises(FileExistsError):
        write_config(path, "# other\n")
    assert path.read_text() == "# new\n"
