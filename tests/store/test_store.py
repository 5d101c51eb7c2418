"""The store as the engine uses it: what goes in comes out, after any restart and any compaction."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from tests.store.making import T0, QuickFS, check, entry, failed, host, record, state, states, unchanged
from watcher.core.history import Check
from watcher.core.model import Outcome, Status
from watcher.core.state import UrlState
from watcher.core.validators import Validators
from watcher.store import (
    Entry,
    Store,
    StoreFull,
    StoreLocked,
    StoreNetwork,
    StoreReadOnly,
    StoreUnreadable,
    lines,
    lock,
)
from watcher.store.fs import parse_mount, parse_mountinfo

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


def test_the_second_writer_is_told_who_is_first(ram: Path) -> None:
    root = ram / "data"
    with Store.open(root, fs=QuickFS()) as store:
        with pytest.raises(StoreLocked, match=f"in use by process {os.getpid()}") as refused:
            Store.open(root)
        assert refused.value.pid == os.getpid()
        code = f"from watcher.store import Store\nStore.open({str(root)!r})"
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert f"StoreLocked: {root} is in use by process {os.getpid()}" in other.stderr
        with Store.open(root, mode="read") as reader:
            assert reader.writer() == os.getpid()
        store.append([entry(state("a", 1))])
    with Store.open(root, mode="read") as reader:
        assert reader.writer() is None


def test_a_lock_file_that_was_replaced_guards_nothing(ram: Path) -> None:
    class Replacing(QuickFS):
        times = 2

        def lock(self, path: str) -> int | None:
            fd = super().lock(path)
            if self.times:
                self.times -= 1
                os.unlink(path)
            return fd

    with Store.open(ram / "data", fs=Replacing()), pytest.raises(StoreLocked):
        Store.open(ram / "data")


@pytest.mark.parametrize("mode", [0o555, 0o000])
def test_a_directory_that_cannot_be_written_or_read(mode: int) -> None:
    """Run as another user where the tests run as root, for whom no directory is read-only."""
    code = """
import os, sys
from watcher.store import Store, StoreError
if os.getuid() == 0: os.setgid(65534); os.setuid(65534)
for mode in ("write", "read"):
    try:
        with Store.open(sys.argv[1], mode=mode) as store: print(mode, "fine", len(store.names()))
    except StoreError as error: print(mode, type(error).__name__, error)
"""
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        root = os.path.join(top, "data")
        with Store.open(root) as store:
            store.append([entry(state("a", 1))])
        for path, folders, files in os.walk(root):
            for name in (*folders, *files):
                os.chmod(os.path.join(path, name), 0o755)
        os.chmod(root, mode)
        repo = Path(__file__).parents[2]
        run = subprocess.run([sys.executable, "-c", code, root], capture_output=True, text=True, cwd=repo)
        os.chmod(root, 0o755)
    assert run.stdout, run.stderr
    write, read = run.stdout.splitlines()
    user = 65534 if os.getuid() == 0 else os.getuid()
    assert write.startswith("write StoreReadOnly" if mode else "write Store")
    assert root in write
    assert f"user {user}" in write
    assert "EACCES" in write
    assert read == "read fine 1" if mode else read.startswith("read StoreUnreadable")


def test_a_file_where_the_directory_should_be(ram: Path) -> None:
    (ram / "data").write_text("not a directory")
    with pytest.raises(Exception, match=str(ram / "data")) as refused:
        Store.open(ram / "data")
    assert type(refused.value).__module__.startswith("watcher.store")
    with pytest.raises(StoreUnreadable):
        Store.open(ram / "data", mode="read")


def test_reading_where_nothing_was_ever_written(ram: Path) -> None:
    with Store.open(ram / "nothing", mode="read") as store:
        assert store.names() == []
        assert store.history("a") == []
        assert list(store.checks()) == []
        assert store.state("a") is None
        assert store.body("0" * 64) is None
        assert store.problems() == []
    assert not (ram / "nothing").exists()


class NetworkFS(QuickFS):
    def __init__(self, kind: str) -> None:
        self.kind = kind

    def mounts(self) -> list[tuple[str, str]]:
        return [("/", "ext4"), (tempfile.gettempdir(), self.kind), ("/dev/shm", self.kind)]


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "smbfs", "9p"])
def test_a_network_file_system_is_refused_unless_allowed(ram: Path, kind: str) -> None:
    with pytest.raises(StoreNetwork, match=rf"{kind} file system.*--allow-network-fs"):
        Store.open(ram / "data", fs=NetworkFS(kind))
    Store.open(ram / "data", fs=NetworkFS(kind), allow_network_fs=True).close()
    Store.open(ram / "data", fs=NetworkFS("xfs")).close()


def test_mount_tables_are_read() -> None:
    linux = "36 35 98:0 / /mnt/my\\040share rw,noatime shared:1 - nfs4 host:/x rw\nshort line\n"
    assert parse_mountinfo(linux) == [("/mnt/my share", "nfs4")]
    mac = "/dev/disk1s1 on / (apfs, local)\n//u@host/share on /Volumes/share (smbfs, nodev)\n"
    assert parse_mount(mac) == [("/", "apfs"), ("/Volumes/share", "smbfs")]


def test_the_lock_says_since_when_and_by_whom(ram: Path) -> None:
    with Store.open(ram / "data", fs=QuickFS(), now=lambda: T0):
        told = json.loads((ram / "data" / "lock").read_text())
        assert told == {"pid": os.getpid(), "host": told["host"], "boot": lock.boot_id(), "since": T0}
        assert (ram / "data").stat().st_mode & 0o777 == 0o700
        assert (ram / "data" / "lock").stat().st_mode & 0o777 == 0o600


def test_full_is_said_once_and_the_batch_did_not_happen(ram: Path) -> None:
    class Full(QuickFS):
        full = False

        def write(self, fd: int, data: bytes) -> None:
            if self.full:
                super().write(fd, data[:10])
                raise OSError(28, "no space")
            super().write(fd, data)

    fs = Full()
    with Store.open(ram / "data", fs=fs) as store:
        store.append([entry(state("a", 1))])
        fs.full = True
        with pytest.raises(StoreFull, match="ENOSPC"):
            store.append([entry(unchanged(state("a", 1), 2))])
        assert store.state("a") == state("a", 1)
        fs.full = False
        store.append([entry(unchanged(state("a", 1), 3))])
    with Store.open(ram / "data", mode="read") as store:
        assert store.warnings == []
        assert store.state("a") == unchanged(state("a", 1), 3)
        assert [c.at for c in store.checks()] == [T0 + 3600, T0 + 3 * 3600]


def test_a_state_written_by_a_newer_format_opens_for_reading_only(ram: Path) -> None:
    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([entry(state("a", 1))])
    newer = lines.header({"v": 2, "store": "x"})
    (ram / "data" / "journal" / "000002.jsonl").write_bytes(newer)
    with pytest.raises(StoreReadOnly, match="newer watcher"):
        Store.open(ram / "data", fs=QuickFS())
    with Store.open(ram / "data", mode="read") as store:
        assert isinstance(store.state("a"), UrlState)
