"""The crash suite has teeth: each rule of the write protocol, broken on purpose, makes it fail."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.store import test_crash as suite
from tests.store.disk import Op, RecordingFS, faulty
from tests.store.making import QuickFS, entry, state
from watcher.store import Store, bodies, commit, fs, journal, lines, recovery, sealed

pytestmark = pytest.mark.crash

Keep = Callable[[Op], bool]


def images_of(ram: Path, change: Callable[[list[Op]], list[Op]]) -> int:
    """The crash images of a run whose disk operations reached the disk as ``change`` says."""
    disk = RecordingFS()
    scenario = suite.Scenario(str(ram / "data"), disk)
    scenario.run(steps=12)
    return suite.prove_images(scenario.root, str(ram / "image"), scenario, change(disk.ops), 3)


def ignored(keep: Keep) -> Callable[[list[Op]], list[Op]]:
    """Replace operations by nothing, so that acknowledgements keep their places in the log."""
    return lambda ops: [op if keep(op) else ("nothing", "") for op in ops]


def test_the_protocol_as_it_is_passes(ram: Path) -> None:
    assert images_of(ram, ignored(lambda op: True)) > 200


@pytest.mark.parametrize(
    "keep",
    [
        pytest.param(lambda op: not (op[0] == "sync" and "/journal/" in op[1]), id="no-sync-of-the-batch"),
        pytest.param(lambda op: not (op[0] == "sync" and "/state/" in op[1]), id="no-sync-of-the-snapshot"),
        pytest.param(lambda op: not (op[0] == "sync" and "/history/" in op[1]), id="no-sync-of-history"),
        pytest.param(lambda op: not (op[0] == "sync" and "/audit/" in op[1]), id="no-sync-of-the-audit-trail"),
        pytest.param(lambda op: not (op[0] == "sync" and "/bodies/" in op[1]), id="no-sync-of-a-body"),
        pytest.param(lambda op: op[:2] != ("sync_dir", op[1]) or "/journal" not in op[1], id="no-sync-of-journal-dir"),
        pytest.param(lambda op: op[:2] != ("sync_dir", op[1]) or "/state" not in op[1], id="no-sync-of-state-dir"),
        pytest.param(lambda op: op[:2] != ("sync_dir", op[1]) or "/history" not in op[1], id="no-sync-of-history-dir"),
        pytest.param(lambda op: op[:2] != ("sync_dir", op[1]) or "/audit" not in op[1], id="no-sync-of-audit-dir"),
        pytest.param(lambda op: op[:2] != ("sync_dir", op[1]) or "/bodies" not in op[1], id="no-sync-of-bodies-dir"),
    ],
)
def test_a_dropped_sync_is_caught(ram: Path, keep: Keep) -> None:
    with pytest.raises(AssertionError):
        images_of(ram, ignored(keep))


def test_segments_unlinked_before_the_snapshot_is_caught(ram: Path) -> None:
    def early(ops: list[Op]) -> list[Op]:
        out = list(ops)
        commits = [n for n, op in enumerate(ops) if op[0] == "rename" and "/state/" in op[2]]
        for at in commits:
            gone = next(n for n in range(at, len(out)) if out[n][0] == "unlink" and "/journal/" in out[n][1])
            out.insert(at, out.pop(gone))
        return out

    with pytest.raises(AssertionError):
        images_of(ram, early)


@contextlib.contextmanager
def broken(target: Any, name: str, how: Callable[..., Any]) -> Iterator[None]:
    with mock.patch.object(target, name, how):
        yield


def test_no_history_before_the_snapshot_is_caught(ram: Path) -> None:
    with broken(sealed.Sealed, "write_history", lambda *_: None), pytest.raises(AssertionError, match="history"):
        images_of(ram, ignored(lambda op: True))


def test_no_audit_trail_before_the_snapshot_is_caught(ram: Path) -> None:
    with broken(sealed.Sealed, "write_audit", lambda *_: None), pytest.raises(AssertionError, match="audit"):
        images_of(ram, ignored(lambda op: True))


def test_files_written_in_place_are_caught(ram: Path) -> None:
    def in_place(disk: fs.FS, path: str, chunks: Any) -> int:
        if disk.exists(path):
            disk.unlink(path)
        fd = disk.create(path)
        for chunk in chunks:
            disk.write(fd, chunk)
        disk.sync(fd)
        disk.close(fd)
        disk.sync_dir(os.path.dirname(path))
        return 0

    with broken(bodies, "write_whole", in_place), pytest.raises(AssertionError, match="body"):
        images_of(ram, ignored(lambda op: True))


def test_checksums_not_looked_at_is_caught(ram: Path) -> None:
    def shape(raw: bytes) -> bool:
        return raw[:6] == lines.RESUME and raw[-17:-11] == b',"c":"' and raw[-3:] == b'"}\n'

    def scan(raws: Iterator[bytes], bad: list[lines.Bad], offset: int = 0) -> Iterator[tuple[int, bytes]]:
        for raw in raws:
            if shape(raw):
                yield offset, raw
            else:
                bad.append(lines.Bad(offset, raw, "damaged"))
            offset += len(raw)

    segment = suite.make_segment()
    with broken(lines, "intact", shape), broken(lines, "scan", scan), pytest.raises(AssertionError):
        suite.test_flip_at_every_byte(ram, segment)


def test_a_checksum_that_reads_hex_in_any_case_is_caught(ram: Path) -> None:
    def parsed(raw: bytes) -> bool:
        try:
            return raw[:6] == lines.RESUME and int(raw[-11:-3], 16) == lines.crc32(raw[:-17]) and raw[-3:] == b'"}\n'
        except ValueError:
            return False

    with Store.open(ram / "data", fs=QuickFS()) as store:
        store.append([entry(state(f"w{i}", i)) for i in range(40)])
    path = ram / "data" / "journal" / "000001.jsonl"
    for number, raw in enumerate(path.read_bytes().splitlines(keepends=True)):
        upper = raw[:-11] + raw[-11:-3].upper() + raw[-3:]
        assert lines.intact(raw), number
        if upper != raw:
            assert not lines.intact(upper)
            assert parsed(upper)


def test_appending_to_an_old_segment_with_its_tail_is_caught(ram: Path) -> None:
    def reopen(self: journal.Journal, number: int) -> None:
        old = max(self.sizes, default=0)
        path = self._layout.segment(old or number)
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.number = old or number
        self.sizes[self.number] = os.fstat(self._fd).st_size

    segment = suite.make_segment()
    uncut = broken(recovery, "keep_aside", lambda *_: False)
    with broken(journal.Journal, "start", reopen), uncut, pytest.raises(AssertionError):
        suite.test_cut_at_every_byte(ram, segment)


def lose_by_retrying(ram: Path) -> None:
    """One failed sync in the middle of a run, on a disk that then drops what was not synced."""
    for at in range(1, 400):
        disk, calls = faulty(at, errno.EIO)
        scenario = suite.Scenario(str(ram / str(at)), disk)
        scenario.run(steps=6)
        with Store.open(scenario.root, fs=QuickFS()) as store:
            suite.prove_acknowledged(store, scenario, at)
        if calls() < at:
            return


def test_syncing_the_same_file_again_after_a_failure_is_caught(ram: Path) -> None:
    def retrying(self: journal.Journal, batch: bytes) -> tuple[int, int]:
        offset = self.sizes[self.number]
        self._fs.write(self._fd, batch)
        try:
            self._fs.sync(self._fd)
        except OSError:
            self._fs.sync(self._fd)
        self.sizes[self.number] = offset + len(batch)
        return self.number, offset

    with broken(journal.Journal, "_append", retrying), pytest.raises(AssertionError):
        lose_by_retrying(ram)


def test_memory_moving_before_the_disk_is_caught(ram: Path) -> None:
    """A reader of memory must never see what a failed write took back."""

    def early(self: commit.Committer, entries: Any) -> None:
        ahead: dict[str, Any] = {}
        drafts = [self._desk.draft(e, ahead) for e in entries]
        self._desk.settle(drafts, self._journal.number, self._journal.sizes[self._journal.number])
        self._journal.write(b"".join(raw for d in drafts for raw in d.lines))

    def attempt() -> None:
        for at in range(1, 120):
            disk, _ = faulty(at, errno.ENOSPC)
            suite_store = None
            with contextlib.suppress(suite.StoreError):
                suite_store = Store.open(ram / str(at), fs=disk)
            if suite_store is None:
                continue
            with suite_store, contextlib.suppress(suite.StoreError):
                for i in range(8):
                    before = suite_store.names()
                    try:
                        suite_store.append([entry(state(f"w{i}", i))])
                    except suite.StoreError:
                        assert suite_store.names() == before

    attempt()
    for path in ram.iterdir():
        suite.shutil.rmtree(path)
    with broken(commit.Committer, "append", early), pytest.raises(AssertionError):
        attempt()
