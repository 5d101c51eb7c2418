"""One writer a data directory: ``flock``, which the kernel lifts however the process ends."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

from watcher.store.errors import StoreLocked, StoreNetwork, explain
from watcher.store.fs import FS

NETWORK = frozenset(
    (
        "9p",
        "afs",
        "afpfs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "fuse",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs3",
        "nfs4",
        "ocfs2",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "webdav",
    )
)


class Lock:
    """The lock file of a data directory, held from :meth:`take` to :meth:`release`."""

    def __init__(self, fs: FS, path: str) -> None:
        self._fs = fs
        self._path = path
        self._fd = -1

    def take(self, at: float) -> None:
        """Take the lock, and write down who holds it since ``at``. Raises StoreLocked, StoreReadOnly, StoreFull."""
        try:
            # Where somebody replaces the file between open and flock, that lock guards nothing.
            while not self._try():
                self.release()
        except OSError as error:
            self.release()
            raise explain(error, self._path, "lock") from error
        who = {"pid": os.getpid(), "host": socket.gethostname(), "boot": boot_id(), "since": at}
        try:
            self._fs.overwrite(self._fd, json.dumps(who).encode() + b"\n")
        except OSError as error:
            self.release()
            raise explain(error, self._path, "write") from error

    def _try(self) -> bool:
        fd = self._fs.lock(self._path)
        if fd is None:
            raise StoreLocked(os.path.dirname(self._path), holder(self._fs, self._path))
        self._fd = fd
        return self._fs.still_at(fd, self._path)

    def release(self) -> None:
        """Let go of the lock; harmless when it is not held."""
        if self._fd >= 0:
            self._fs.close(self._fd)
            self._fd = -1


def holder(fs: FS, path: str) -> int | None:
    """The process id written in the lock file, if one can be read."""
    try:
        pid = json.loads(fs.read(path) or b"null")["pid"]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return pid if isinstance(pid, int) else None


def writer_of(fs: FS, path: str) -> int | None:
    """The process that holds the lock now: its id, 0 if it did not say, None if nobody holds it."""
    if not fs.exists(path):
        return None
    try:
        fd = fs.lock(path)
    except OSError:
        return None
    if fd is None:
        return holder(fs, path) or 0
    fs.close(fd)
    return None


def boot_id() -> str:
    """Which boot of the machine this is, so that a process id from before can be told apart."""
    if sys.platform == "linux":
        try:
            return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        except OSError:
            return ""
    return ""


def refuse_network(fs: FS, root: str) -> None:
    """Raise StoreNetwork when ``root`` lies on NFS, SMB, FUSE or the like."""
    real = os.path.realpath(root)
    best, kind = "", ""
    for point, name in fs.mounts():
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, name
    if kind.partition(".")[0] in NETWORK:
        raise StoreNetwork(
            f"{root} is on a {kind} file system, where locks and writes cannot be relied on: "
            "choose a local data directory, or pass --allow-network-fs"
        )
