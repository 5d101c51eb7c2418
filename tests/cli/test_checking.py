"""``check`` and ``run``: what they print, ask and return."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from subprocess import PIPE

import pytest

from tests.cli.conftest import LAMP, Site, Watcher

KEYS = [
    "name",
    "url",
    "at",
    "outcome",
    "status",
    "conditional",
    "record",
    "changes",
    "interval_s",
    "next_check_at",
    "reason",
    "error",
    "bytes_wire",
    "bytes_body",
]


def test_first_then_not_modified_then_changed(lamp: Site, watcher: Watcher) -> None:
    (first,) = watcher("check", "--json").objects
    assert list(first) == KEYS
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first["at"])
    assert (first["outcome"], first["status"], first["conditional"]) == ("first", 200, None)
    assert first["record"] == {"title": "Desk lamp", "price": {"minor": 1999, "currency": "EUR"}}
    assert (first["changes"], first["error"]) == ([], None)
    assert first["bytes_body"] == len(LAMP)

    (same,) = watcher("check", "--json", "--all").objects
    assert (same["outcome"], same["status"], same["conditional"]) == ("not_modified", 304, "etag")
    assert same["interval_s"] == 2 * first["interval_s"]

    lamp.pages["/lamp"] = LAMP.replace("19.99", "17.99")
    (changed,) = watcher("check", "--json", "--all").objects
    assert changed["outcome"] == "changed"
    assert changed["changes"] == [
        {
            "field": "price",
            "before": {"minor": 1999, "currency": "EUR"},
            "after": {"minor": 1799, "currency": "EUR"},
        }
    ]


def test_only_what_is_due_is_checked_unless_told(lamp: Site, watcher: Watcher) -> None:
    assert watcher("check").code == 0
    asked = len(lamp.asked)
    later = watcher("check")
    assert later.out == "0 checked; 1 not due (`--all` checks them too)\n"
    assert len(lamp.asked) == asked
    forced = watcher("check", "lamp", "--force", "--verbose")
    assert forced.out.startswith("unchanged")
    assert len(lamp.asked) == asked + 1


def test_a_query_narrows_a_pass(lamp: Site, watcher: Watcher) -> None:
    assert watcher("check", "--filter", "tag:nothing").out == "0 checked\n"
    assert watcher("check", "--filter", "lamp").out.endswith("1 checked: 1 first\n")


def test_news_is_one_line_a_watch_and_one_a_field(lamp: Site, watcher: Watcher) -> None:
    watcher("check")
    lamp.pages["/lamp"] = LAMP.replace("19.99", "17.99")
    out = watcher("check", "--all").out.splitlines()
    assert out[0].startswith("changed      Desk lamp (200, next in ")
    assert out[1].strip().startswith("price: 19.99 EUR → 17.99 EUR")
    assert out[2] == "1 checked: 1 changed"


def test_exit_codes(lamp: Site, watcher: Watcher) -> None:
    assert watcher("check", "--exit-changed", "10").code == 0
    lamp.pages["/lamp"] = LAMP.replace("19.99", "17.99")
    assert watcher("check", "--all", "--exit-changed", "10").code == 10
    assert watcher("check", "--all", "--exit-changed", "10").code == 0
    lamp.pages["/lamp"] = 503
    failed = watcher("check", "--all", "--json")
    assert failed.code == 1
    (event,) = failed.objects
    assert event["outcome"] == "error"
    assert event["status"] == 503
    assert event["error"]["kind"].startswith("transient")
    assert event["record"] == {"title": "Desk lamp", "price": {"minor": 1799, "currency": "EUR"}}


@pytest.mark.parametrize("code", ["256", "-1", "x"])
def test_an_exit_code_is_a_number(watcher: Watcher, code: str) -> None:
    run = watcher("check", f"--exit-changed={code}")
    assert run.code == 2
    assert "is no exit code" in run.err


def test_a_refused_connection_is_one_sentence(watcher: Watcher) -> None:
    watcher.configure('[[watch]]\nurl = "http://127.0.0.1:9/"\n')
    run = watcher("check")
    assert run.code == 1
    assert run.err == ""
    assert run.out.count("\n") == 2


def test_nothing_configured(watcher: Watcher) -> None:
    watcher.configure("")
    run = watcher("check")
    assert (run.code, run.out) == (0, "")
    assert "no watches are configured" in run.err


def test_a_pattern_that_means_nobody(lamp: Site, watcher: Watcher) -> None:
    run = watcher("check", "Desk lmp")
    assert (run.code, run.out) == (2, "")
    assert run.err == "watcher: no watch is meant by 'Desk lmp'; did you mean 'Desk lamp'?\n"


@contextmanager
def started(watcher: Watcher, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A command that goes on; killed if a test leaves it alive."""
    process = subprocess.Popen(watcher.command(*words), stdout=PIPE, stderr=PIPE, encoding="utf-8")
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_run_goes_on_until_told_to_stop(lamp: Site, watcher: Watcher, number: int, code: int) -> None:
    with started(watcher, "run") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("first        Desk lamp")
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, "", "")
    assert watcher("list", "--json").objects[0]["outcome"] == "first"


def asked_for(site: Site, path: str) -> None:
    """Return once ``path`` was asked for."""
    end = time.monotonic() + 60
    while path not in site.asked:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_is_in_flight_is_finished_first(lamp: Site, watcher: Watcher) -> None:
    held = lamp.held["/lamp"] = threading.Event()
    with started(watcher, "run") as process:
        asked_for(lamp, "/lamp")
        process.send_signal(signal.SIGTERM)
        held.set()
        out, err = process.communicate(timeout=60)
    assert out.startswith("first        Desk lamp (200, next in ")
    assert (process.returncode, err) == (0, "")
    assert watcher("list", "--json").objects[0]["outcome"] == "first"


@pytest.mark.parametrize("command", ["run", "check"])
def test_asked_twice_it_does_not_wait(lamp: Site, watcher: Watcher, command: str) -> None:
    held = lamp.held["/lamp"] = threading.Event()
    with started(watcher, command) as process:
        asked_for(lamp, "/lamp")
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    held.set()
    assert (out, err) == ("" if command == "run" else "0 checked\n", "")
    assert process.returncode == 130
    assert watcher("list", "--json").objects[0]["outcome"] is None


def test_a_second_writer_is_told_who_has_the_store(lamp: Site, watcher: Watcher) -> None:
    with started(watcher, "run") as process:
        assert process.stdout is not None
        process.stdout.readline()
        second = watcher("check", "--all")
        assert second.code == 3
        assert f"in use by process {process.pid}" in second.err
        assert second.err.count("\n") == 1
        assert watcher("list").code == 0
        process.terminate()
        process.communicate(timeout=60)


def test_reading_pages_anew_makes_a_baseline_and_no_news(lamp: Site, watcher: Watcher) -> None:
    watcher("check")
    (same,) = watcher("check", "--re-extract", "--json").objects
    assert (same["outcome"], same["status"], same["changes"]) == ("redefined", 304, [])
    lamp.pages["/lamp"] = LAMP.replace("19.99", "17.99")
    run = watcher("check", "--re-extract", "--exit-changed", "10")
    assert run.code == 0
    assert run.out.splitlines()[0].startswith("redefined    Desk lamp (200")
    assert watcher("show", "lamp", "--json").objects[0]["record"]["price"] == {"minor": 1799, "currency": "EUR"}
    assert [version["outcome"] for version in watcher("history", "lamp", "--json").objects][-1] == "first"
    assert "changed" not in watcher("history", "lamp").out
    assert watcher("check", "--all", "--json").objects[0]["outcome"] == "not_modified"


@pytest.mark.parametrize("words", [("check",), ("run",)])
def test_a_full_disk_ends_it_with_one_sentence(lamp: Site, watcher: Watcher, words: tuple[str, ...]) -> None:
    lamp.pages["/lamp"] = LAMP + "".join(f"<p>{sha256(bytes([n])).hexdigest()}</p>" for n in range(250))
    limited = ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", *watcher.command(*words)]
    run = subprocess.run(limited, capture_output=True, encoding="utf-8", timeout=60)
    assert run.returncode == 3
    assert run.stderr.count("\n") == 1
    assert "free some space, nothing saved so far is lost" in run.stderr
    assert watcher("list", "--json").objects[0]["outcome"] is None
    assert watcher("check").code == 0


def test_a_page_added_beside_the_loop_is_taken_up(site: Site, watcher: Watcher) -> None:
    site.pages["/lamp"] = LAMP
    watcher.configure("")
    with started(watcher, "run") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "no watches are configured" in process.stderr.readline()
        assert watcher("add", site.url("/lamp"), "--name", "Lamp").code == 0
        assert process.stdout.readline() == "configuration read again\n"
        assert process.stdout.readline().startswith("first        Lamp (200, next in ")
        watcher.config.write_text("[watcher]\nthem = 1\n")
        assert "watcher.them: unknown key" in process.stdout.readline()
        assert process.stdout.readline() == "the configuration in force stays\n"
        process.terminate()
        assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0
