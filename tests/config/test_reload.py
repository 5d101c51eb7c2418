"""The configuration as it changes on disk: told once, and never at the cost of a working one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from watcher.config import ConfigError, Reloader
from watcher.core.settings import Settings

GOOD = '[[watch]]\nname = "{}"\nurl = "http://h.test/"\n'


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(GOOD.format("a"))
    return path


def names(found: Settings | ConfigError | None) -> list[str]:
    assert isinstance(found, Settings)
    return [watch.name for watch in found.watches]


def settled(reloader: Reloader) -> Settings | ConfigError | None:
    assert reloader.poll() is None
    return reloader.poll()


def test_a_change_is_told_once_it_holds_still(config: Path) -> None:
    reloader = Reloader(config)
    assert reloader.poll() is None
    config.write_text(GOOD.format("bb"))
    assert names(settled(reloader)) == ["bb"]
    assert reloader.poll() is None


def test_a_file_that_is_still_being_written_is_left_alone(config: Path) -> None:
    reloader = Reloader(config)
    for size in range(1, 5):
        config.write_text(GOOD.format("b" * 10 * size)[: 10 * size])
        assert reloader.poll() is None
    config.write_text(GOOD.format("c"))
    assert names(settled(reloader)) == ["c"]


def test_a_broken_file_is_told_once_and_its_repair_too(config: Path) -> None:
    reloader = Reloader(config)
    config.write_text("[[watch]\n")
    assert isinstance(settled(reloader), ConfigError)
    assert reloader.poll() is None
    config.write_text(GOOD.format("ok"))
    assert names(settled(reloader)) == ["ok"]


def test_an_absent_file_changes_nothing(config: Path) -> None:
    reloader = Reloader(config)
    config.rename(config.with_name("away"))
    assert [reloader.poll() for _ in range(5)] == [None] * 5
    config.with_name("away").rename(config)
    assert [reloader.poll() for _ in range(3)] == [None] * 3


def test_an_absent_file_is_not_taken_for_an_empty_one(config: Path) -> None:
    reloader = Reloader(config)
    config.rename(config.with_name("away"))
    config.with_name("watches.toml").write_text(GOOD.format("b"))
    found = settled(reloader)
    assert isinstance(found, ConfigError)
    assert "no such file" in str(found)


def test_both_files_and_symlinks_are_followed(config: Path) -> None:
    reloader = Reloader(config)
    config.with_name("watches.toml").write_text(GOOD.format("added"))
    assert names(settled(reloader)) == ["a", "added"]
    other = config.with_name("other.toml")
    other.write_text(GOOD.format("z"))
    os.replace(config, config.with_name("old.toml"))
    config.symlink_to(other)
    assert names(settled(reloader)) == ["z", "added"]


def test_a_configuration_that_appears_later(tmp_path: Path) -> None:
    reloader = Reloader(tmp_path / "config.toml")
    assert reloader.poll() is None
    (tmp_path / "config.toml").write_text(GOOD.format("late"))
    assert names(settled(reloader)) == ["late"]
