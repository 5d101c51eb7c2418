"""The wheel: built from this tree, it holds the themes, the demo and the commented configuration."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built without the network."""
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("NO WHEEL WAS BUILT: hatchling is not installed here (the extra `test` has it)")
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    run = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_it_holds_every_shipped_file(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    expected = {str(path.relative_to(ROOT)) for path in (ROOT / "watcher").rglob("*.py")}
    expected |= {f"watcher/themes/{path.name}" for path in (ROOT / "themes").glob("*.toml")}
    expected |= {"watcher/example_config.toml", "watcher/demo/config.toml"}
    assert len(list((ROOT / "themes").glob("*.toml"))) >= 3
    assert expected <= names
    assert not any(name.startswith(("tests/", "docs/")) for name in names)


def test_it_names_the_command_the_licence_and_what_it_needs(wheel: zipfile.ZipFile) -> None:
    metadata = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    text = wheel.read(metadata).decode()
    assert "Name: watcher-tui\n" in text
    assert "Requires-Python: >=3.11\n" in text
    assert "License-Expression: MIT\n" in text
    points = wheel.read(metadata.replace("METADATA", "entry_points.txt")).decode()
    assert "watcher = watcher.__main__:main" in points
