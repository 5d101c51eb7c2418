"""The store as the engine uses it: what goes in comes out, after any restart and any compaction."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from tests.store.making import T0, QuickFS, check, entry, failed, host, record, state, states, unchanged
from watcher.core.history import Check
from watcher.core.model import Outcome, Status
from watcher.core.validators import Validators
from watcher.store import (
    Entry,
    Store,
    StoreReadOnly,
    lines,
)

ODD_NAMES = [
    "a",
    "Desk lamp",
    "Desk",
    'quote " and \\ slash',
    "ünïcode 🙂",
    "tab\tline\nfeed",
    " ",
    "\x7f",
    "https://x.example/?q=1",
]


def test_a_state_comes_back_exactly(ram: Path) -> None:
    kept = [state(name, i) for i, name in enumerate(ODD_NAMES)]
    kept[0] = failed(kept[0], 9)
    kept[1] = msgspec.structs.replace(kept[1], validators=Validators(), record=None, last_seen=None, status=Status.NEW)
    kept[2] = msgspec.structs.replace(kept[2], validators=Validators(etag='"x"', tags=(), url=""), url=kept[2].name)
    kept[3] = msgspec.structs.replace(kept[3], validators=Validators(etag='"x"', tags=('"x"', '"y"'), key="k"))
    for at, effective in enumerate((None, "", kept[5].url, "https://elsewhere.example/")):
        kept[4 + at] = msgspec.structs.replace(kept[4 + at], effective_url=effective)
    kept[6] = msgspec.structs.replace(kept[6], effective_url=kept[6].url)
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([entry(s) for s in kept])
        assert list(states(store).values()) == kept
        store.compact()
        assert list(states(store).values()) == kept
    for mode in ("read", "write"):
        with Store.open(ram / "data", mode=mode, fs=QuickFS()) as store:
            assert states(store) == {s.name: s for s in kept}
            assert store.warnings == []


def test_exact_numbers_stay_exact(ram: Path) -> None:
    values = {"d": Decimal("0.1000"), "e": Decimal("1E+50"), "k": -(10**40), "list": [Decimal("1.5"), None, True, "é"]}
    kept = state("n", 1, record=record(1, **values))
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([entry(kept)])
        store.compact()
        found = store.state("n")
    assert found == kept
    assert found is not None
    assert found.record is not None
    assert {k: str(found.record.values[k]) for k in "dek"} == {"d": "0.1000", "e": "1E+50", "k": str(-(10**40))}


def test_every_line_is_strict_json_and_begins_with_its_key(ram: Path) -> None:
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([entry(state(n, i), 3, hosts=(host("https://h:443", 1),)) for i, n in enumerate(ODD_NAMES)])

        def refuse(text: str) -> None:
            raise AssertionError(text)

        for raw in Path(store.root, "journal", "000001.jsonl").read_bytes().splitlines():
            line = json.loads(raw, parse_constant=refuse)
            if "w" in line:
                assert raw.startswith(lines.prefix(line["k"].encode(), lines.escape(line["w"])))
                assert lines.unescape(lines.raw_key(raw)) == line["w"]


def test_what_json_cannot_hold_fails_alone(ram: Path) -> None:
    with Store.open(ram / "data", fs=QuickFS()) as store:
        for value in ("\ud800", Decimal("NaN")):
            with pytest.raises(ValueError, match=r"surrogate|finite"):
                store.append([entry(state("bad", 1, record=record(1, t=value)))])

        async def both() -> list[BaseException | None]:
            bad, good = entry(state("bad", 1, record=record(1, t="\ud800"))), entry(state("good", 1))
            return await asyncio.gather(store.commit(bad), store.commit(good), return_exceptions=True)

        first, second = asyncio.run(both())
        assert isinstance(first, ValueError)
        assert second is None
        assert store.names() == ["good"]


def test_summaries_show_the_narrow_part_of_every_state(ram: Path) -> None:
    kept = [
        state("a", 1),
        failed(state("b", 1), 2),
        state("c", 3, url="c", next_check_at=None, seen_at=T0, paused=True),
    ]
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([entry(s) for s in kept])
        live = dict(store.summaries.items())
    for given in ({}, {"hot": False}):
        with Store.open(ram / "data", mode="read", **given) as store:
            assert len(store.summaries) == 3
            assert dict(store.summaries.items()) == live
            for s in kept:
                summary = store.summaries[s.name]
                assert {f: getattr(summary, f) for f in summary.__struct_fields__} == {
                    f: getattr(s, f) for f in summary.__struct_fields__
                }


def test_an_attempt_is_a_short_line_and_an_unseen_field_is_not_lost(ram: Path) -> None:
    first = state("a", 1)
    moved = [unchanged(first, 2), failed(unchanged(first, 2), 3), unchanged(first, 4), first]
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([entry(first)])
        for s in moved:
            store.append([Entry(state=s)])
            assert store.state("a") == s
        kinds = [raw[6:7] for raw in Path(store.root, "journal", "000001.jsonl").read_bytes().splitlines()]
    assert kinds == [b"h", b"s", b"a", b"a", b"a", b"a"]


def test_a_record_that_moved_unannounced_is_a_full_line_but_no_version(ram: Path) -> None:
    first = state("a", 1)
    views = unchanged(first, 2, record=record(1, views=99))
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([entry(first)])
        store.append([entry(views)])
        assert store.state("a") == views
        assert len(store.history("a")) == 1


def test_a_fold_of_an_older_attempt_does_not_shadow_a_newer_one(ram: Path) -> None:
    """A field that moved and moved back, with the compaction between the two."""
    first = state("a", 1)
    for between in ("compact", "reopen"):
        root = ram / between
        store = Store.open(root, fs=QuickFS())
        store.append([entry(first)])
        store.append([entry(failed(first, 2))])
        store.compact()
        if between == "reopen":
            store.close()
            store = Store.open(root, fs=QuickFS())
        back = unchanged(first, 3)
        store.append([entry(back)])
        assert store.state("a") == back
        store.close()
        with Store.open(root, mode="read") as store:
            assert store.state("a") == back


def test_checks_come_back_with_all_their_exchanges(ram: Path) -> None:
    a, b = state("a", 1), state("b", 2)
    checks = [check(a, 3), check(b, 1), check(failed(a, 3), 0)]
    checks.append(Check(name="c", url="https://c/", at=T0, outcome=Outcome.DEFERRED, next_check_at=None, silent=True))
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([Entry(state=a, check=checks[0]), Entry(state=b, check=checks[1])])
        store.append([Entry(state=failed(a, 3), check=checks[2]), Entry(check=checks[3])])
        assert list(store.checks()) == checks
        store.compact()
        assert list(store.checks()) == checks
        assert list(store.checks("a")) == [checks[0], checks[2]]
        assert list(store.checks(since=T0 + 7200)) == [checks[1], checks[2]]
        assert list(store.checks(until=T0 + 3600)) == [checks[0], checks[3]]
        assert list(store.checks("nobody")) == []


def test_hosts_are_kept_and_folded(ram: Path) -> None:
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([Entry(hosts=(host("https://h:443", 1), host("http://g:80", 2)))])
        store.append([entry(state("a", 1), hosts=(host("https://h:443", 3),))])
        store.compact()
        store.append([Entry(hosts=(host("http://g:80", 4),))])
    with Store.open(ram / "data", mode="read") as store:
        assert store.hosts() == {"https://h:443": host("https://h:443", 3), "http://g:80": host("http://g:80", 4)}
        assert store.host("https://h:443") == host("https://h:443", 3)
        assert store.host("nobody") is None


class CountingFS(QuickFS):
    """Counts syncs; holds each back until ``gate`` opens."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.synced: list[int] = []
        self.loop = asyncio.get_running_loop()
        self.reached = asyncio.Event()

    def sync(self, fd: int) -> None:
        self.loop.call_soon_threadsafe(self.reached.set)
        assert self.gate.wait(20)
        self.synced.append(threading.get_ident())


async def rest_of(fs: CountingFS) -> None:
    """Begin counting anew, with the gate shut."""
    await asyncio.sleep(0)
    fs.gate.clear()
    fs.reached.clear()
    fs.synced.clear()


async def test_commits_share_one_sync_while_the_disk_is_busy(ram: Path) -> None:
    fs = CountingFS()
    with Store.open(ram / "data", fs=fs) as store:
        await rest_of(fs)
        first = asyncio.create_task(store.commit(entry(state("first", 1))))
        await fs.reached.wait()
        rest = [asyncio.create_task(store.commit(entry(state(f"w{i}", i)))) for i in range(200)]
        await asyncio.sleep(0)
        assert store.names() == []
        fs.gate.set()
        await asyncio.gather(first, *rest)
        assert len(fs.synced) == 2
        assert threading.get_ident() not in fs.synced
        assert len(store.names()) == 201


async def test_each_means_one_sync_an_entry_and_os_means_none(ram: Path) -> None:
    for durability, expected in (("each", 5), ("os", 0)):
        fs = CountingFS()
        with Store.open(ram / durability, fs=fs, durability=durability) as store:
            fs.synced.clear()
            await asyncio.gather(*(store.commit(entry(state(f"w{i}", i))) for i in range(5)))
            assert len(fs.synced) == expected
            assert len(store.names()) == 5


async def test_append_beside_a_commit_on_its_way_keeps_the_order(ram: Path) -> None:
    fs = CountingFS()
    a = state("a", 1)
    with Store.open(ram / "data", fs=fs) as store:
        await rest_of(fs)
        task = asyncio.create_task(store.commit(entry(a)))
        await fs.reached.wait()
        threading.Timer(0, fs.gate.set).start()
        store.append([entry(unchanged(a, 2))])
        assert store.state("a") == unchanged(a, 2)
        await task
        assert store.state("a") == unchanged(a, 2)
    with Store.open(ram / "data", mode="read") as store:
        assert store.state("a") == unchanged(a, 2)


async def test_closing_writes_what_waits(ram: Path) -> None:
    store = Store.open(ram / "data", fs=QuickFS())
    tasks = [asyncio.create_task(store.commit(entry(state(f"w{i}", i)))) for i in range(20)]
    await asyncio.sleep(0)
    store.close()
    await asyncio.gather(*tasks)
    store.close()
    with Store.open(ram / "data", mode="read") as store:
        assert len(store.names()) == 20
        with pytest.raises(StoreReadOnly, match="reading only"):
            store.append([entry(state("x", 1))])
        with pytest.raises(StoreReadOnly):
            store.put_body(b"x")


async def test_compaction_beside_commits(ram: Path) -> None:
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([entry(state(f"w{i}", i)) for i in range(3000)])
        before = states(store)
        task = asyncio.create_task(store.compact_aside())
        n = 0
        while not task.done():
            now = unchanged(before[f"w{n % 3000}"] or state("?", 0), 5000 + n)
            await store.commit(entry(now))
            before[now.name] = now
            n += 1
            await asyncio.sleep(0)
        await task
        assert n > 3
        assert states(store) == before
        assert os.listdir(ram / "data" / "state") == ["000001.jsonl"]
        assert os.listdir(ram / "data" / "journal") == ["000002.jsonl"]
        assert store.compaction_due is False
    with Store.open(ram / "data", mode="read") as store:
        assert states(store) == before


def test_a_short_run_leaves_no_empty_segments(ram: Path) -> None:
    for _ in range(5):
        Store.open(ram / "data", fs=QuickFS()).close()
    assert os.listdir(ram / "data" / "journal") == []


def test_many_short_runs_make_a_compaction_due(ram: Path) -> None:
    for i in range(65):
        with Store.open(ram / "data", fs=QuickFS()) as store:
            store.append([entry(state("a", i))])
            due = store.compaction_due
    assert due
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.compact()
        assert not store.compaction_due
        assert len(store.history("a", limit=100)) == 65
