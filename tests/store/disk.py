"""Disks that lie, fail and lose power: an operation log, the images a crash may leave of it, and injected errors."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

from tests.store.making import QuickFS

Op = tuple[Any, ...]


class RecordingFS(QuickFS):
    """Works on the real disk and writes down what it was asked, path by path."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self._names: dict[int, str] = {}

    def create(self, path: str) -> int:
        fd = super().create(path)
        self._names[fd] = path
        self.ops.append(("create", path))
        return fd

    def write(self, fd: int, data: bytes) -> None:
        super().write(fd, data)
        self.ops.append(("write", self._names[fd], bytes(data)))

    def sync(self, fd: int) -> None:
        self.ops.append(("sync", self._names[fd]))

    def sync_dir(self, path: str) -> None:
        self.ops.append(("sync_dir", path))

    def truncate(self, path: str, size: int) -> None:
        super().truncate(path, size)
        self.ops.append(("truncate", path, size))

    def rename(self, old: str, new: str) -> None:
        super().rename(old, new)
        self.ops.append(("rename", old, new))

    def unlink(self, path: str) -> None:
        super().unlink(path)
        self.ops.append(("unlink", path))


class _Disk:
    """What is certain to be on the disk and what is only on its way, as in ALICE (Pillai et al., OSDI 2014)."""

    def __init__(self) -> None:
        self.data: list[bytearray] = []
        self.synced: list[int] = []
        self.now: dict[str, int] = {}
        self.durable: dict[str, int] = {}
        self.pending: dict[str, list[Op]] = {}

    def play(self, op: Op) -> None:
        kind, path = op[0], op[1]
        if kind == "create":
            self.now[path] = len(self.data)
            self.data.append(bytearray())
            self.synced.append(0)
            self._entry(("link", path, self.now[path]))
        elif kind == "write":
            self.data[self.now[path]] += op[2]
        elif kind == "sync":
            self.synced[self.now[path]] = len(self.data[self.now[path]])
        elif kind == "truncate":
            node = self.now[path]
            del self.data[node][op[2] :]
            self.synced[node] = min(self.synced[node], op[2])
        elif kind == "rename":
            self.now[op[2]] = self.now.pop(path)
            self._entry(("move", path, op[2], self.now[op[2]]))
        elif kind == "unlink":
            self.now.pop(path)
            self._entry(("remove", path))
        elif kind == "sync_dir":
            for entry in self.pending.pop(path, []):
                _enter(self.durable, entry)

    def _entry(self, entry: Op) -> None:
        self.pending.setdefault(os.path.dirname(entry[1]), []).append(entry)


def _enter(names: dict[str, int], entry: Op) -> None:
    if entry[0] == "link":
        names[entry[1]] = entry[2]
    elif entry[0] == "move":
        names.pop(entry[1], None)
        names[entry[2]] = entry[3]
    else:
        names.pop(entry[1], None)


def crash_image(ops: list[Op], root: str, target: str, mode: str, rnd: random.Random) -> None:
    """Lay out at ``target`` what a power loss after ``ops`` may leave of ``root``.

    ``mode``: ``none`` of what was not synced got through, ``all`` of it, or a ``random`` part: names singly, data cut
    short, as zeroes, or with a hole where a later page reached the disk first.
    """
    disk = _Disk()
    for op in ops:
        disk.play(op)
    names = dict(disk.durable)
    for entries in disk.pending.values():
        for entry in entries:
            if mode == "all" or (mode == "random" and rnd.random() < 0.5):
                _enter(names, entry)
    for path, node in names.items():
        data, sure = bytes(disk.data[node]), disk.synced[node]
        place = target + path.removeprefix(root)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(data[:sure] + _arrived(data[sure:], mode, rnd))


def _arrived(tail: bytes, mode: str, rnd: random.Random) -> bytes:
    if mode == "all" or not tail:
        return tail
    if mode == "none":
        return b""
    cut, kind = rnd.randrange(len(tail) + 1), rnd.random()
    if kind < 0.4:
        return tail[:cut]
    stop = len(tail) if kind < 0.7 else rnd.randrange(cut, len(tail) + 1)
    return tail[:cut] + b"\0" * (stop - cut) + tail[stop:]


CALLS = (
    *("create", "write", "sync", "sync_dir", "truncate", "rename", "unlink", "mkdir", "overwrite"),
    *("list", "size", "reader", "read", "map", "open_read", "pread", "lock", "still_at"),
)


def faulty(fail_at: int, code: int) -> tuple[QuickFS, Callable[[], int]]:
    """A disk whose call number ``fail_at`` fails with errno ``code``, once; and a counter of calls so far.

    A write that fails has written half. After a sync that failed, what was not synced is lost, though the next sync
    reports success: so Linux does (fsyncgate).
    """
    calls = 0
    unsynced: dict[int, int] = {}

    def guard(name: str) -> Callable[..., Any]:
        real = getattr(QuickFS, name)

        def call(fs: QuickFS, *arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == fail_at:
                if name == "write":
                    real(fs, arguments[0], arguments[1][: len(arguments[1]) // 2])
                if name == "sync":
                    fd = arguments[0]
                    os.ftruncate(fd, unsynced.get(fd, 0))
                raise OSError(code, os.strerror(code))
            if name == "create":
                fd = real(fs, *arguments)
                unsynced[fd] = 0
                return fd
            if name == "sync":
                unsynced[arguments[0]] = os.fstat(arguments[0]).st_size
            return real(fs, *arguments)

        return call

    kind = type("FaultyFS", (QuickFS,), {name: guard(name) for name in CALLS})
    return kind(), lambda: calls
