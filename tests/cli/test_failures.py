"""Bad input, bad configuration, bad stores: one clear line on standard error and the right code, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Site, Watcher


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("lst",), "invalid choice: 'lst'"),
        (("list", "--nope"), "unrecognized arguments: --nope"),
        (("show",), "the following arguments are required: NAME"),
        (("--config",), "expected one argument"),
        (("history", "lamp", "--limit", "0"), "--limit must be at least 1"),
        (("diff", "lamp", "1", "2", "3"), "diff compares two versions"),
        (("show", "lamp", "--as-of", "yesterday"), "'yesterday' is no time"),
        (("add", "h.test"), "scheme missing"),
        (("add", "http://h.test/", "http://i.test/", "--name", "x"), "--name belongs to one URL"),
        (("add", "http://h.test/", "--field", "x"), "write NAME=SELECTOR"),
        (("add", "http://h.test/", "--field", "x=h1["), "not a CSS selector"),
        (("forget", "lamp"), "no watch is meant by 'lamp'"),
    ],
)
def test_usage(lamp: Site, watcher: Watcher, words: tuple[str, ...], message: str) -> None:
    run = watcher(*words)
    assert (run.code, run.out) == (2, "")
    assert message in run.err
    assert run.err.startswith("watcher: ")
    assert run.err.count("\n") == 1


def test_every_configuration_problem_at_once(watcher: Watcher) -> None:
    watcher.config.write_text('[watcher]\nthem = "x"\n[[watch]]\nurl = "h.test"\n')
    for words in (("list",), ("check",), ("run",), ("show", "x"), ("doctor",)):
        run = watcher(*words)
        assert run.code == 2
        shown = run.out if words == ("doctor",) else run.err
        assert f"{watcher.config}:2: watcher.them: unknown key (did you mean theme?)" in shown
        assert f"{watcher.config}:4: watch.url: scheme missing" in shown


def test_a_configuration_that_was_named_must_be_there(watcher: Watcher) -> None:
    run = watcher("list")
    assert run.code == 2
    assert run.err == (
        f"watcher: {watcher.config}: no such file (`watcher --config {watcher.config} init` writes a commented one)\n"
    )


def test_the_default_configuration_need_not_be(tmp_path: Path, watcher: Watcher) -> None:
    env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "c"), "XDG_DATA_HOME": str(tmp_path / "d")}
    env.pop("WATCHER_CONFIG", None)
    run = subprocess.run([*watcher.command()[:3], "list"], env=env, capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (0, "")
    assert "`watcher init` writes a commented" in run.stderr
    assert not (tmp_path / "c").exists()
    assert not (tmp_path / "d").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_data_directory_that_cannot_be_written(lamp: Site, watcher: Watcher) -> None:
    watcher.data.mkdir()
    watcher.data.chmod(0o500)
    run = watcher("check")
    watcher.data.chmod(0o700)
    assert run.code == 3
    assert lamp.asked == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_the_doctor_says_that_nothing_can_be_saved(lamp: Site, watcher: Watcher) -> None:
    watcher.folder.chmod(0o500)
    run = watcher("doctor")
    watcher.folder.chmod(0o700)
    assert run.code == 1
    assert f"nothing can be saved to {watcher.data}: {watcher.folder} cannot be written" in run.out


def test_a_data_directory_that_is_a_file(lamp: Site, watcher: Watcher) -> None:
    watcher.data.write_text("not a directory")
    run = watcher("check")
    assert run.code == 3
    assert str(watcher.data) in run.err
    assert run.err.count("\n") == 1
    assert lamp.asked == []


def test_a_bug_is_one_sentence_and_its_traceback_in_the_log(lamp: Site, watcher: Watcher) -> None:
    broken = (
        "import sys, watcher.cli.listing as listing; from watcher.cli.main import main\n"
        "def fail(options): raise ZeroDivisionError('\\x1b[31m')\n"
        "listing.run_list = fail\nsys.exit(main(sys.argv[1:]))"
    )
    command = watcher.command("list")
    run = subprocess.run([command[0], "-c", broken, *command[3:]], capture_output=True, text=True, timeout=60)
    log = watcher.data / "watcher.log"
    assert run.returncode == 1
    assert run.stderr == (
        f"watcher: this is a bug in watcher: ZeroDivisionError; {log} holds its traceback, please report it\n"
    )
    assert "in fail" in log.read_text()


def test_a_reader_that_went_away_is_no_error(watcher: Watcher) -> None:
    watcher.configure("".join(f'[[watch]]\nurl = "http://h.test/{n}"\n' for n in range(5000)))
    with subprocess.Popen(
        watcher.command("list"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
    assert err == ""
    assert process.returncode == 0


def test_interrupted_quietly(lamp: Site, watcher: Watcher) -> None:
    read, write = os.pipe()
    os.close(write)
    command = watcher.command("doctor")
    code = "import sys, watcher.cli.keeping as k; from watcher.cli.main import main\n" + (
        "import os, signal\ndef stop(options): os.kill(os.getpid(), signal.SIGINT)\n"
        "k.run_doctor = stop\nsys.exit(main(sys.argv[1:]))"
    )
    run = subprocess.run([command[0], "-c", code, *command[3:]], capture_output=True, text=True, timeout=60)
    os.close(read)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")
    assert signal.getsignal(signal.SIGINT) is not None
