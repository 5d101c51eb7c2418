"""``forget``, ``gc``, ``doctor``, ``re-extract`` and ``export``: what happens to stored data."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.conftest import LAMP, Site, Watcher


@pytest.fixture
def past(lamp: Site, watcher: Watcher) -> Site:
    """Two versions of the lamp."""
    for price in ("19.99", "17.99"):
        lamp.pages["/lamp"] = LAMP.replace("19.99", price)
        assert watcher("check", "--all").code == 0
    return lamp


def holding(folder: Path, text: bytes) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


def test_forget_erases_every_trace(past: Site, watcher: Watcher) -> None:
    assert holding(watcher.data, b"Desk lamp")
    run = watcher("forget", "lamp", "--yes")
    assert run.code == 0
    assert run.out.startswith("forgot Desk lamp\n")
    assert f"still stands in {watcher.config}:3" in run.out
    assert holding(watcher.data, b"Desk lamp") == []
    assert watcher("history", "lamp").out == "no version yet\n"


def test_forget_asks_and_without_a_terminal_does_not_guess(past: Site, watcher: Watcher) -> None:
    run = watcher("forget", "lamp", stdin="yes\n")
    assert run.code == 2
    assert "add --yes" in run.err
    assert len(watcher("history", "lamp", "--json").objects) == 2


def test_forget_knows_what_is_no_longer_configured(past: Site, watcher: Watcher) -> None:
    watcher.configure("")
    (done,) = watcher("forget", "Desk lamp", "--yes", "--json").objects
    assert done["forgotten"] == ["Desk lamp"]
    assert done["remains"] == []
    assert watcher("forget", "Desk lamp", "--yes").code == 2


def test_gc_with_nothing_to_expire(past: Site, watcher: Watcher) -> None:
    assert watcher("gc").out == "0 versions and 0 watches expired; 0 saved pages deleted\n"
    watcher.configure("")
    assert watcher("gc", "--json").objects == [{"rows": 0, "files": 0, "bodies": 0, "watches": 0}]
    assert len(watcher("history", "Desk lamp", "--json").objects) == 2


def test_doctor_finds_and_mends_damage(past: Site, watcher: Watcher) -> None:
    well = watcher("doctor")
    assert well.code == 0
    assert well.out.endswith("all is well\n")
    body = next((watcher.data / "bodies").rglob("*.*"))
    body.write_bytes(b"damaged")
    ill = watcher("doctor", "--json")
    assert ill.code == 1
    assert "problem" in {found["kind"] for found in ill.objects}
    assert watcher("doctor", "--repair").out.count("repaired") >= 1
    assert watcher("check", "--all").code == 0


def test_doctor_tells_of_a_bad_configuration_and_looks_at_the_store_all_the_same(past: Site, watcher: Watcher) -> None:
    watcher.config.write_text("[watcher]\nthem = 1\n")
    run = watcher("doctor")
    assert run.code == 2
    assert "unknown key" in run.out
    assert "1 watches" in run.out


def test_re_extract_reads_saved_pages_by_edited_fields(past: Site, watcher: Watcher) -> None:
    assert watcher("re-extract").out == "0 rewritten, 1 same, 0 unreadable, 0 not saved\n"
    watcher.config.write_text(watcher.config.read_text().replace('title = "h1"', 'heading = "h1"'))
    asked = len(past.asked)
    assert watcher("re-extract", "--json").objects == [{"name": "Desk lamp", "result": "rewritten"}]
    assert len(past.asked) == asked
    versions = watcher("history", "lamp", "--json").objects
    assert [version["outcome"] for version in versions] == ["redefined", "changed", "first"]
    assert versions[0]["record"]["heading"] == "Desk lamp"


def test_re_extract_says_what_it_cannot_read(past: Site, watcher: Watcher) -> None:
    watcher.config.write_text(watcher.config.read_text().replace('"h1"', '"h6"'))
    run = watcher("re-extract")
    assert run.code == 1
    assert run.out.startswith("unreadable   Desk lamp\n")


def test_export_as_json_lines(past: Site, watcher: Watcher) -> None:
    (record,) = watcher("export", "records").objects
    assert record["record"]["price"] == {"minor": 1799, "currency": "EUR"}
    assert [row["outcome"] for row in watcher("export", "history").objects] == ["first", "changed"]
    audit = watcher("export", "audit", "lamp").objects
    assert [row["purpose"] for row in audit] == ["robots", "page", "page"]
    target = watcher.folder / "out.jsonl"
    assert watcher("export", "records", "--output", str(target)).out == ""
    assert target.read_text().count("\n") == 1
    assert watcher("export", "records", "--output", str(watcher.folder)).code == 2


def test_export_as_csv(past: Site, watcher: Watcher) -> None:
    rows = list(csv.DictReader(io.StringIO(watcher("export", "history", "--format", "csv").out)))
    assert [(row["outcome"], row["field"], row["value"]) for row in rows] == [
        ("first", "title", "Desk lamp"),
        ("first", "price", "19.99 EUR"),
        ("changed", "title", "Desk lamp"),
        ("changed", "price", "17.99 EUR"),
    ]
    audit = list(csv.DictReader(io.StringIO(watcher("export", "audit", "--format", "csv").out)))
    assert [row["status"] for row in audit] == ["404", "200", "200"]
