"""What README promises is there: every command, and the two that work on a fresh machine."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from watcher.cli.main import FAMILIES, build_parser
from watcher.config import parse
from watcher.tui.keys import markdown

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def subparsers() -> dict[str, argparse.ArgumentParser]:
    parser = build_parser()
    (action,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(action.choices)


def test_families_name_what_they_register() -> None:
    assert sorted(subparsers()) == sorted(name for names in FAMILIES.values() for name in names)


@pytest.mark.parametrize("name", [name for names in FAMILIES.values() for name in names])
def test_every_command_stands_in_the_readme_and_explains_itself(name: str) -> None:
    assert re.search(rf"^\| `watcher {re.escape(name)}[ `]", README, re.MULTILINE)
    shown = subparsers()[name].format_help()
    assert "examples:\n  watcher " in shown
    prose = subparsers()[name].description or ""
    assert len(prose) > 60
    assert max(map(len, prose.splitlines())) <= 120
    for option in ("--config", "--data-dir", "--json"):
        assert option in shown


def test_commands_of_the_readme_exist() -> None:
    named = set(re.findall(r"(?:^|`)watcher ([a-z][a-z-]*)", README, re.MULTILINE)) - {"is"}
    assert named <= set(subparsers())


def test_the_table_of_keys_is_the_screen_s_own() -> None:
    (table,) = re.findall(r"<!-- keys: begin -->\n(.*?)<!-- keys: end -->", README, re.DOTALL)
    assert table == markdown(), "write README's table anew with watcher.tui.keys.markdown()"


def test_the_ci_script_runs_the_command_of_the_readme() -> None:
    commands = re.findall(r"^python3 -m venv .*$", README, re.MULTILINE)
    assert [("watcher demo" in line, "pytest" in line) for line in commands] == [(True, False), (False, True)]
    assert "grep -m1 -E '^python3 -m venv .*pytest' README.md" in (ROOT / ".ci" / "run").read_text()


def test_the_configuration_of_the_readme_loads() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (watch,) = parse(text, Path("config.toml")).watches
    assert watch.name == "Desk lamp"


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((?!https?:)([^)#]+)\)", README))))
def test_links_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


@pytest.mark.parametrize("picture", sorted(path.name for path in (ROOT / "docs").glob("*.svg")))
def test_pictures_load_nothing_and_name_no_machine(picture: str) -> None:
    text = (ROOT / "docs" / picture).read_text("utf-8")
    assert not re.search(r"@import|@font-face|url\((?!#)|href=", text)
    assert not re.search(r"/(home|root|Users|tmp|work|opt|var)/", text)
