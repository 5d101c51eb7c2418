"""What a command loads: a check needs no screen, a list no network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = """\
[[watch]]
name = "page"
url = "http://127.0.0.1:9/"
[watch.fields]
title = "h1"
[keys]
check = "x"
"""

PROBE = """\
import sys
from watcher.cli.main import main
code = main(sys.argv[1:])
print("LOADED", code, *sorted(sys.modules))
"""


def loaded(tmp_path: Path, *command: str) -> tuple[int, set[str]]:
    """The exit code of a command in a process of its own, and the modules it loaded."""
    config = tmp_path / "config.toml"
    config.write_text(CONFIG)
    options = ["--config", str(config), "--data-dir", str(tmp_path / "data")]
    run = subprocess.run(
        [sys.executable, "-c", PROBE, *options, *command], capture_output=True, text=True, timeout=120, check=True
    )
    _, code, *modules = run.stdout.splitlines()[-1].split()
    return int(code), set(modules)


SCREEN = {"textual", "rich"}
NETWORK = {"httpx", "h11", "protego", "watcher.fetch"}


@pytest.mark.parametrize("command", [("check", "--all"), ("list",), ("show", "page"), ("doctor",), ("themes",)])
def test_no_command_but_the_screen_loads_the_screen(tmp_path: Path, command: tuple[str, ...]) -> None:
    _, modules = loaded(tmp_path, *command)
    assert not SCREEN & modules


@pytest.mark.parametrize("command", [("list",), ("show", "page"), ("history", "page"), ("doctor",)])
def test_stored_data_is_read_without_the_network(tmp_path: Path, command: tuple[str, ...]) -> None:
    code, modules = loaded(tmp_path, *command)
    assert code == 0
    assert not NETWORK & modules


def test_the_probe_sees_what_is_loaded(tmp_path: Path) -> None:
    _, modules = loaded(tmp_path, "check", "--all")
    assert {"watcher", "msgspec", "asyncio", "httpx", "h11"} <= modules


def test_the_package_itself_loads_nothing() -> None:
    code = "import sys; before = set(sys.modules); import watcher; print(*sorted(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["watcher"]


@pytest.mark.parametrize("module", ["watcher.fetch", "watcher.engine", "watcher.tui.app"])
def test_no_http_library_is_loaded_before_a_transport_is_made(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert module in loaded
    assert not {"httpx", "httpcore", "h11"} & loaded
