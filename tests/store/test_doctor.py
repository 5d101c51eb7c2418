"""Damage of every kind: the store opens, says what is wrong and where, keeps the evidence, repairs what it can."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.making import QuickFS, entry, seen_at, state, states, unchanged
from watcher.store import Store, lines
from watcher.store.codec import full_line


def line(i: int) -> bytes:
    s = state(f"w{i}", i)
    return full_line(s, i + 1, False, "default", None)


def write(root: Path, data: bytes) -> None:
    (root / "journal").mkdir(parents=True)
    (root / "journal" / "000001.jsonl").write_bytes(data)


def kept_aside(root: Path) -> list[bytes]:
    return [p.read_bytes() for p in sorted((root / "quarantine").iterdir())]


def test_a_torn_last_line_in_the_middle_of_a_character(ram: Path) -> None:
    """Case 143."""
    torn = b'{"watch":"k","record":{"t":"caf\xc3'
    write(ram / "data", b"".join(line(i) for i in range(3)) + torn)
    with Store.open(ram / "data", fs=QuickFS()) as store:
        (problem,) = store.warnings
        assert (problem.kind, problem.file, problem.line) == ("torn", "journal/000001.jsonl", 4)
        assert "journal/000001.jsonl, line 4: an interrupted write" in problem.message
        store.append([entry(state("new", 9))])
    with Store.open(ram / "data", fs=QuickFS()) as store:
        assert sorted(store.names()) == ["new", "w0", "w1", "w2"]
        assert store.warnings == []
    assert kept_aside(ram / "data") == [torn]


def test_damage_in_the_middle(ram: Path) -> None:
    """Case 144: not a line, valid JSON of another shape, a blank line, a line of a newer version."""
    newer = lines.line(b"s", "w7", {"n": 8, "v": 9, "future": True})
    shape = lines.line(b"s", "w8", {"n": 9, "at": "yesterday"})
    data = [*(line(i) for i in range(4)), b"xx{]\n", b"42\n", b"\n", newer, shape, line(8)]
    write(ram / "data", b"".join(data))
    with Store.open(ram / "data", fs=QuickFS()) as store:
        assert sorted(store.names()) == ["w0", "w1", "w2", "w3", "w8"]
        assert store.state("w8") == state("w8", 8)
        found = [(p.kind, p.line) for p in store.warnings]
        assert found == [("damaged", 5), ("future", 8), ("shape", 9)]
        aside = kept_aside(ram / "data")
        assert sorted(aside) == sorted([b"xx{]\n42\n", newer, shape])
        store.compact()
        assert kept_aside(ram / "data") == aside
        assert len(store.names()) == 5
    with Store.open(ram / "data", fs=QuickFS()) as store:
        assert store.warnings == []
        assert {p.kind for p in store.problems()} == {"quarantine"}
        assert any("a line written by a newer version" in p.message for p in store.problems())


@pytest.mark.parametrize("after", [0, 1])
def test_a_run_of_zeroes(ram: Path, after: int) -> None:
    """Case 147: one warning, not one a byte, and the line behind the zeroes is found."""
    before, behind = (b"".join(line(i) for i in numbers) for numbers in (range(40), range(40, 40 + after)))
    write(ram / "data", before + b"\0" * 4096 + behind)
    with Store.open(ram / "data", fs=QuickFS()) as store:
        assert len(store.names()) == 40 + after
        assert [(p.kind, p.line) for p in store.warnings] == [("damaged" if after else "torn", 41)]
        store.append([entry(state("new", 1))])
    with Store.open(ram / "data", mode="read") as store:
        assert len(store.names()) == 41 + after


def test_a_lost_state_line_makes_a_suspect_not_a_wrong_answer(ram: Path) -> None:
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([entry(state("a", 1))])
        store.append([entry(state("a", 2))])
        store.append([entry(unchanged(state("a", 2), 3))])
        store.append([entry(state("b", 2))])
        store.append([entry(unchanged(state("b", 2), 3))])
    path = ram / "data" / "journal" / "000001.jsonl"
    raws = path.read_bytes().splitlines(keepends=True)
    raws[2] = raws[2].replace(b"text 2", b"text 3")
    raws[4] = raws[4].replace(b"text 2", b"text 3")
    path.write_bytes(b"".join(raws))
    for step in ("journal", "snapshot", "healed"):
        with Store.open(ram / "data", fs=QuickFS()) as store:
            for name in "ab":
                assert store.is_suspect(name) == (step != "healed")
                found = store.state(name)
                assert found is not None
                assert found.next_check_at == unchanged(state(name, 2), 3).next_check_at
                if step != "healed":
                    assert found.validators.etag is None
                    assert found.body is None
            if step == "journal":
                assert {p.kind for p in store.problems()} >= {"suspect", "damaged", "quarantine"}
                store.compact()
            elif step == "snapshot":
                store.append([entry(state("a", 2)), entry(state("b", 2))])
                assert not store.is_suspect("a")
                store.append([entry(unchanged(state("a", 2), 3)), entry(unchanged(state("b", 2), 3))])


def folded_store(root: Path, names: str = "abc") -> None:
    with Store.open(root, fs=QuickFS()) as store:
        store.append([entry(state(name, i)) for i, name in enumerate(names)])
        store.compact()


def test_a_damaged_snapshot_costs_the_damaged_lines_only(ram: Path) -> None:
    folded_store(ram / "data")
    path = ram / "data" / "state" / "000001.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"text 1", b"text 9"))
    for _ in range(2):
        with Store.open(ram / "data", fs=QuickFS()) as store:
            assert sorted(store.names()) == ["a", "c"]
            assert [(p.kind, p.file, p.line) for p in store.warnings] == [("damaged", "state/000001.jsonl", 3)]
            assert len(kept_aside(ram / "data")) == 1
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([entry(state("d", 4)), entry(unchanged(state("a", 0), 5))])
        assert store.repair() == ["journal: folded into a new snapshot, without the damaged lines kept in quarantine"]
        assert states(store) == {"a": unchanged(state("a", 0), 5), "c": state("c", 2), "d": state("d", 4)}
    with Store.open(ram / "data", fs=QuickFS()) as store:
        assert store.warnings == []


def test_a_snapshot_without_its_end_still_gives_what_it_has(ram: Path) -> None:
    folded_store(ram / "data")
    path = ram / "data" / "state" / "000001.jsonl"
    path.write_bytes(path.read_bytes()[:-300])
    with Store.open(ram / "data", fs=QuickFS()) as store:
        assert "a" in store.names()
        assert "snapshot" in {p.kind for p in store.warnings}
        assert len(store.history("c")) == 1


def test_an_older_snapshot_counts_where_the_newest_is_cut(ram: Path) -> None:
    root = ram / "data"
    folded_store(root)
    first = (root / "state" / "000001.jsonl").read_bytes()
    with Store.open(root, fs=QuickFS()) as store:
        store.append([entry(state("d", 5))])
    segment = (root / "journal" / "000002.jsonl").read_bytes()
    with Store.open(root, fs=QuickFS()) as store:
        store.compact()
    (root / "state" / "000001.jsonl").write_bytes(first)
    (root / "journal" / "000002.jsonl").write_bytes(segment)
    newest = max((root / "state").iterdir())
    newest.write_bytes(newest.read_bytes()[:-10])
    with Store.open(root, fs=QuickFS()) as store:
        assert sorted(store.names()) == ["a", "b", "c", "d"]
        assert len(store.history("d")) == 1


def test_damaged_history_and_audit_are_found_and_repaired(ram: Path) -> None:
    root = ram / "data"
    folded_store(root)
    past, trail = root / "history" / "default" / "000001.jsonl", root / "audit" / "000001.jsonl.gz"
    past.write_bytes(past.read_bytes().replace(b"text 1", b"text 9"))
    trail.write_bytes(trail.read_bytes()[:-40])
    (root / "bodies" / "ab").mkdir()
    (root / "bodies" / "ab" / "x.zst.tmp").write_bytes(b"half")
    (root / "history" / "default" / "000009.jsonl.tmp").write_bytes(b"half")
    with Store.open(root, fs=QuickFS()) as store:
        kinds = sorted(p.kind for p in store.problems())
        assert kinds == ["audit", "history", "leftover"]
        assert all(p.repairable for p in store.problems())
        assert seen_at(store, "a")
        assert seen_at(store, "c")
        assert seen_at(store, "b") == []
        done = store.repair()
        assert len(done) == 3
        assert {p.kind for p in store.problems()} == {"quarantine"}
        assert seen_at(store, "a")
        assert seen_at(store, "c")


def test_a_body_that_does_not_match_its_name_is_moved_away(ram: Path) -> None:
    with Store.open(ram / "data", fs=QuickFS()) as store:
        good, bad, missing = (store.put_body(b"body %d" % i * 99) for i in range(3))
        for i, digest in enumerate((good, bad, missing)):
            store.append([entry(state(f"w{i}", i, body=digest))])
        Path(store._bodies.path(bad)).write_bytes(b"{}\nnot zstd")
        Path(store._bodies.path(missing)).unlink()
        assert sorted(p.kind for p in store.problems()) == ["body", "body-missing"]
        assert store.body(bad) is None
        assert store.repair() == [f"body {bad[:12]}: moved to quarantine"]
        assert sorted(p.kind for p in store.problems()) == ["body-missing", "body-missing", "quarantine"]
        assert b"not zstd" in kept_aside(ram / "data")[0]
        assert store.body(good) == b"body 0" * 99


def test_a_reader_changes_nothing_about_damage(ram: Path) -> None:
    write(ram / "data", line(1) + b"torn")
    before = {p: p.stat().st_size for p in (ram / "data").rglob("*")}
    with Store.open(ram / "data", mode="read") as store:
        assert [p.kind for p in store.warnings] == ["torn"]
        assert store.names() == ["w1"]
    assert {p: p.stat().st_size for p in (ram / "data").rglob("*")} == before
