"""Opening a store: who may, where, and what is said when it cannot be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.store.making import T0, QuickFS, entry, state, unchanged
from watcher.core.state import UrlState
from watcher.store import Store, StoreFull, StoreLocked, StoreNetwork, StoreReadOnly, StoreUnreadable, lines, lock
from watcher.store.fs import parse_mount, parse_mountinfo


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


def test_a_deferred_directory_is_made_by_the_first_thing_written(tmp_path: Path) -> None:
    root = tmp_path / "data"
    with Store.open(root, deferred=True):
        pass
    assert not root.exists()
    with Store.open(root, deferred=True) as store:
        assert (store.names(), store.writer(), store.read_only) == ([], None, False)
        store.put_body(b"page")
        assert store.writer() == os.getpid()
        store.append([entry(state("a", 1))])
        with pytest.raises(StoreLocked):
            Store.open(root)
    with Store.open(root, mode="read") as store:
        assert store.names() == ["a"]


def test_a_deferred_directory_that_another_made_meanwhile(tmp_path: Path) -> None:
    root = tmp_path / "data"
    with Store.open(root, deferred=True) as late:
        with Store.open(root) as store:
            store.append([entry(state("a", 1))])
            with pytest.raises(StoreLocked):
                late.append([entry(state("b", 1))])
        late.append([entry(state("b", 1))])
        assert late.names() == ["a", "b"]


def test_only_a_directory_that_is_not_there_is_deferred(tmp_path: Path) -> None:
    with Store.open(tmp_path, deferred=True), pytest.raises(StoreLocked):
        Store.open(tmp_path)
