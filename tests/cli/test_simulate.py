from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from watcher.cli.main import main

WEEK = 604_800


def trace(page: str, hours: int) -> str:
    start = 1_600_000_000
    changes = list(range(start, start + 30 * WEEK, hours * 3_600))
    given = {
        "page": page,
        "type": "listing",
        "source": "s",
        "changes": changes,
        "start": start,
        "end": start + 30 * WEEK,
    }
    return json.dumps(given)


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    file = tmp_path / "traces.jsonl.gz"
    lines = [trace(f"p{hours}", hours) for hours in (7, 31, 101, 507)]
    file.write_bytes(gzip.compress("\n".join(lines).encode()))
    return file


def test_one_object_a_policy(traces: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["simulate", "--traces", str(traces), "--checks-per-day", "0.5", "--json"]
    assert main([*given, "--policy", "estimated", "--policy", "oracle", "--policy", "fixed"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["policy"] for one in found] == ["estimated", "oracle", "fixed"]
    wanted = {
        "policy",
        "checks_per_page_day",
        "stale",
        "stale_ratio_to_oracle",
        "delay_p50_h",
        "delay_p90_h",
        "captured",
    }
    assert all(wanted <= one.keys() for one in found)
    assert found[1]["stale_ratio_to_oracle"] == 1.0
    assert found[2]["checks_per_page_day"] == pytest.approx(0.5, rel=0.02)


def test_a_picture_for_the_terminal_and_as_svg(
    traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    svg = tmp_path / "out.svg"
    assert (
        main(["simulate", "--traces", str(traces), "--policy", "fixed", "--policy", "oracle", "--plot", str(svg)]) == 0
    )
    out = capsys.readouterr().out
    assert "TO ORACLE" in out
    assert "A fixed  B oracle" in out
    assert svg.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--policy", "hopeful"], "'hopeful' is no policy; there are fixed, adaptive, estimated, oracle, clairvoyant"),
        (["--checks-per-day", "0"], "give between 0 and 96 checks a page and day"),
        (["--pages", "0"], "give at least 1"),
    ],
)
def test_bad_options_are_one_sentence(
    traces: Path, more: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "--traces", str(traces), *more]) == 2
    assert sentence in capsys.readouterr().err


def test_bad_files_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken, cut, empty = tmp_path / "broken.jsonl", tmp_path / "cut.jsonl.gz", tmp_path / "empty.jsonl"
    broken.write_text("{}\n")
    cut.write_bytes(gzip.compress(trace("p", 3).encode())[:-20])
    empty.write_text("")
    for file, words in (
        (tmp_path / "none.jsonl", "No such file"),
        (broken, "line 1 is no trace"),
        (cut, "Compressed file ended"),
        (empty, "nothing to replay"),
    ):
        assert main(["simulate", "--traces", str(file)]) == 2
        said = capsys.readouterr().err
        assert words in said
        assert "Traceback" not in said
