"""News on its way out of the program: a command of the user's is run for it, by whichever command found it."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from tests.cli.conftest import LAMP, Site, Watcher


@pytest.fixture
def out(lamp: Site, watcher: Watcher) -> Path:
    """Where the configured command writes what it is told."""
    path = watcher.folder / "told.jsonl"
    rule(watcher, f"""command = ['sh', '-c', 'cat >> "$0"', '{path}']\nevents = ["first", "changed"]""")
    return path


@pytest.fixture
def changed(out: Path, lamp: Site, watcher: Watcher) -> None:
    """A check, and a change for the next one to find."""
    assert watcher("check").code == 0
    out.unlink()
    lamp.pages["/lamp"] = LAMP.replace("19.99", "17.99")


def rule(watcher: Watcher, line: str) -> None:
    text = watcher.config.read_text().partition("[[notify.rules]]")[0]
    watcher.config.write_text(f"{text}[[notify.rules]]\n{line}\n")


def told(path: Path) -> list[tuple[str, str]]:
    lines: list[dict[str, Any]] = [json.loads(line) for line in path.read_text().splitlines()]
    return [(news["name"], news["event"]) for news in lines]


def test_a_pass_tells_before_it_ends_and_tells_once(out: Path, changed: None, watcher: Watcher) -> None:
    for words in (("check", "--all"), ("check", "--all"), ("check",)):
        assert watcher(*words).code == 0
        assert told(out) == [("Desk lamp", "changed")]


def test_the_loop_tells_what_waits_for_company_before_it_ends(out: Path, watcher: Watcher) -> None:
    with subprocess.Popen(watcher.command("run"), stdout=PIPE, stderr=PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60) == ("", "")
    assert told(out) == [("Desk lamp", "first")]


@pytest.mark.usefixtures("changed")
def test_what_cannot_be_told_is_said_and_stands_in_the_doctor_s_report(watcher: Watcher) -> None:
    rule(watcher, "command = ['false']")
    run = watcher("check", "--all")
    assert run.code == 0
    assert run.err.startswith("watcher: The command 'false' ")
    assert run.err.count("\n") == 1
    doctor = watcher("doctor", "--json")
    (problem,) = [found for found in doctor.objects if found["kind"] == "problem"]
    assert problem["about"] == "notify"
    assert problem["message"].startswith("A notice waits for the command 'false': The command 'false' ")
    assert doctor.code == 1
    rule(watcher, "command = ['true']")
    assert watcher("doctor").code == 0


@pytest.mark.usefixtures("changed")
def test_the_address_of_a_service_is_read_where_it_is_kept(watcher: Watcher) -> None:
    rule(watcher, 'url = "env:WATCHER_TEST_SERVICE"')
    assert "The environment has no variable WATCHER_TEST_SERVICE" in watcher("check", "--all").err


@pytest.mark.usefixtures("changed")
def test_forgetting_a_watch_forgets_its_news(watcher: Watcher) -> None:
    rule(watcher, "command = ['false']")
    watcher("check", "--all")
    deliveries = watcher.data / "notify" / "deliveries.jsonl"
    assert b"Desk lamp" in deliveries.read_bytes()
    assert watcher("forget", "lamp", "--yes").code == 0
    assert b"Desk lamp" not in deliveries.read_bytes()
    assert watcher("doctor").code == 0
