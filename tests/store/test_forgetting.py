"""Expiry and erasure: what goes, what stays, and that nothing else does."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from unittest import mock

import msgspec
import pytest

from tests.store.making import T0, QuickFS, entry, failed, host, seen_at, state, states, unchanged
from watcher.store import Entry, Store
from watcher.store.erase import Forgotten
from watcher.store.retention import Expired

HOUR = 3600.0


def expire(store: Store, now: float, keep: dict[str, float | None], live: set[str], news: str = "n") -> Expired:
    return store.gc(now, keep, lambda name: "news" if name.startswith(news) else "default", live)


def test_rows_expire_by_class_but_the_newest_of_a_live_watch_stays(ram: Path) -> None:
    with Store.open(ram / "data", fs=QuickFS(), now=lambda: T0) as store:
        for i in range(4):
            store.append([entry(state("news", i), retention="news"), entry(state("shop", i))])
        later = T0 + 100 * 86_400
        assert expire(store, later, {"default": None, "news": 86_400.0 * 30}, {"news", "shop"}).rows == 3
        assert seen_at(store, "news") == [T0 + 3 * HOUR]
        assert len(store.history("shop")) == 4
        assert store.state("news") == state("news", 3)
        assert expire(store, later, {"default": None, "news": 86_400.0 * 30}, {"news", "shop"}) == Expired()
        audit = [json.loads(raw) for raw in Path(store.root, "journal", "000002.jsonl").read_bytes().splitlines()]
        assert [line["rows"] for line in audit if line["k"] == "g"] == [3]


def test_without_retention_nothing_ever_goes(ram: Path) -> None:
    """A configuration that is missing for a moment deletes nothing (case 137)."""
    with Store.open(ram / "data", fs=QuickFS(), now=lambda: T0) as store:
        digest = store.put_body(b"page")
        store.append([entry(state("a", 1, body=digest)), entry(state("b", 2))])
        store.compact()
        for keep in ({}, {"default": None}):
            assert expire(store, T0 + 1e9, keep, set()) == Expired()
        assert len(store.history("a")) == len(store.history("b")) == 1
        assert store.body(digest) == b"page"
        assert store.names() == ["a", "b"]


def test_a_watch_no_longer_configured_expires_as_a_whole_by_its_own_class(ram: Path) -> None:
    with Store.open(ram / "data", fs=QuickFS(), now=lambda: T0) as store:
        store.append([entry(state("old", 1), retention="personal"), entry(state("kept", 1))])
        store.compact()
        keep = {"default": None, "personal": 86_400.0}
        assert expire(store, T0 + 2 * HOUR, keep, {"kept"}) == Expired()
        assert expire(store, T0 + 9 * 86_400, keep, {"kept"}).watches == 1
        assert store.names() == ["kept"]
        assert store.history("old") == []
        assert len(store.history("kept")) == 1


def test_the_audit_trail_expires_by_its_own_class(ram: Path) -> None:
    with Store.open(ram / "data", fs=QuickFS(), now=lambda: T0) as store:
        store.append([entry(state("a", 1))])
        store.compact()
        store.append([entry(state("a", 5000))])
        store.compact()
        assert expire(store, T0 + 5001 * HOUR, {"default": None, "audit": 86_400.0}, {"a"}).files == 1
        assert [c.at for c in store.checks()] == [T0 + 5000 * HOUR]
        assert len(store.history("a")) == 2


def test_bodies_nobody_names_go_and_those_on_their_way_stay(ram: Path) -> None:
    with Store.open(ram / "data", fs=QuickFS()) as store:
        first = store.put_body(b"first page " * 50)
        store.append([entry(state("a", 1, body=first))])
        noise = store.put_body(b"noise page " * 50, base=first)
        store.append([entry(unchanged(state("a", 1, body=first), 2, body=noise))])
        robots = store.put_body(b"User-agent: *")
        store.append([Entry(hosts=(msgspec.structs.replace(host("https://h:443", 1), robots_body=robots),))])
        last = store.put_body(b"last page " * 50, base=noise)
        store.append([entry(state("a", 3, body=last))])
        store.compact()
        coming = store.put_body(b"its line is still to come")
        assert expire(store, T0, {}, {"a"}).bodies == 1
        assert store.body(noise) is None
        assert store.body(first) == b"first page " * 50
        assert store.body(last) == b"last page " * 50
        assert store.body(robots) == b"User-agent: *"
        assert store.body(coming) == b"its line is still to come"
        assert store.problems() == [] or {p.kind for p in store.problems()} == {"body-unused"}


def everything(root: Path) -> bytes:
    """Every byte below ``root``, what is packed also unpacked."""
    out = []
    for path in sorted(root.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            out += [str(path).encode(), data]
            if path.suffix == ".gz":
                out.append(gzip.decompress(data))
    return b"\n".join(out)


def test_not_a_byte_of_a_forgotten_watch_is_left(ram: Path) -> None:
    root = ram / "data"
    with Store.open(root, fs=QuickFS()) as store:
        bodies = [b"<p>%d of the forgotten one</p>" % i * 30 for i in range(3)]
        digests: list[str] = []
        for i, data in enumerate(bodies):
            digests.append(store.put_body(data, base=digests[-1] if digests else None))
            lost = state("Forgotten é", i, body=digests[i], url="https://forgotten.example/private?page")
            store.append([entry(lost, 2, hosts=(host("https://forgotten.example:443", i),))])
            neighbour = state("Forgotten", i, url="https://other.example/")
            kept = entry(state("kept", i), hosts=(host("https://kept.example:443", i),))
            store.append([entry(neighbour), kept])
            store.append([entry(failed(lost, i + 10))])
            if i < 2:
                store.compact()
        kept_body = store.put_body(b"<p>kept, on top of it</p>" * 40, base=digests[-1])
        store.append([entry(state("kept", 9, body=kept_body))])
        (root / "quarantine" / "journal.000001.jsonl.5.torn").write_bytes(b"...forgotten.example...")
        before = {n: store.state(n) for n in ("Forgotten", "kept")}
        histories = {n: store.history(n) for n in before}

        done = store.forget(["Forgotten é"])

        assert done == Forgotten(
            names=("Forgotten é",), hosts=("https://forgotten.example:443",), files=done.files, bodies=3, remains=()
        )
        assert states(store) == before
        assert {n: store.history(n) for n in before} == histories
        assert store.history("Forgotten é") == []
        assert list(store.checks("Forgotten é")) == []
        assert len(list(store.checks("kept"))) == 4
        assert store.body(kept_body) == b"<p>kept, on top of it</p>" * 40
        assert store.problems() == []
        trail = b"".join(gzip.decompress(p.read_bytes()) for p in (root / "audit").iterdir())
    left = everything(root)
    for trace in (b"forgotten.example", b"Forgotten \\u00e9", "Forgotten é".encode(), *(d.encode() for d in digests)):
        assert trace not in left, trace
    receipt = next(json.loads(raw) for raw in trail.splitlines() if raw.startswith(b'{"k":"f"'))
    assert receipt["sha256"] == hashlib.sha256(bytes.fromhex(receipt["salt"]) + "Forgotten é".encode()).hexdigest()


def test_a_forgotten_watch_can_begin_anew(ram: Path) -> None:
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([entry(state("a", 1))])
        store.compact()
        store.forget(["a", "never there"])
        store.append([entry(state("a", 5))])
        assert seen_at(store, "a") == [T0 + 5 * HOUR]
        store.compact()
        assert seen_at(store, "a") == [T0 + 5 * HOUR]
        assert store.state("a") == state("a", 5)


def test_an_erasure_that_was_cut_off_is_finished_at_the_next_start(ram: Path) -> None:
    root = ram / "data"
    with Store.open(root, fs=QuickFS()) as store:
        store.append([entry(state("a", i)) for i in range(3)] + [entry(state("b", 1))])
        store.compact()
        store.append([entry(state("a", 4))])
        with mock.patch.object(store, "_erase", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
            store.forget(["a"])
        store.append([entry(state("a", 9))])
    assert b"text 2" in everything(root)
    with Store.open(root, fs=QuickFS()) as store:
        assert seen_at(store, "a") == [T0 + 9 * HOUR]
        assert seen_at(store, "b") == [T0 + HOUR]
    assert b"text 2" not in everything(root)
    assert b'{"k":"x"' not in everything(root)
