"""What can go wrong with a store, each as one sentence: the path, the reason, what to do."""

from __future__ import annotations

import errno
import os

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
DENIED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class StoreError(Exception):
    """Any failure of the store; ``str()`` is one sentence meant for the user."""


class StoreLocked(StoreError):
    """Another process is writing here. ``pid`` is its process id where known."""

    def __init__(self, path: str, pid: int | None) -> None:
        who = f"process {pid}" if pid else "another process"
        super().__init__(f"{path} is in use by {who}: stop it, or open this store read-only beside it")
        self.pid = pid


class StoreUnreadable(StoreError):
    """The data directory, or a file that must be read, cannot be read."""


class StoreReadOnly(StoreError):
    """Nothing can be written here: permissions, a read-only mount, a newer format, or a store opened for reading."""


class StoreFull(StoreError):
    """The disk (or quota) is full. What was acknowledged before is safe; the batch at hand was taken back."""


class StoreFailed(StoreError):
    """The disk refused a write twice, in two different files. What was acknowledged before is safe."""


class StoreNetwork(StoreError):
    """The data directory lies on a network file system, where neither locks nor fsync can be relied on."""


def explain(error: OSError, path: str, doing: str) -> StoreError:
    """The :class:`StoreError` for an operating system error met while ``doing`` something to ``path``."""
    code = errno.errorcode.get(error.errno or 0, "error")
    reason = f"{code}, {os.strerror(error.errno or 0).lower()}"
    if error.errno in FULL:
        return StoreFull(f"cannot {doing} {path}: {reason}; free some space, nothing saved so far is lost")
    if error.errno in DENIED:
        return StoreReadOnly(
            f"cannot {doing} {path} as user {os.getuid()}: {reason}; make it writable or choose another data directory"
        )
    return StoreFailed(f"cannot {doing} {path}: {reason}; check the disk, nothing saved so far is lost")


def unreadable(error: OSError, path: str) -> StoreUnreadable:
    """The error for a directory or file that cannot be read."""
    code = errno.errorcode.get(error.errno or 0, "error")
    reason = f"{code}, {os.strerror(error.errno or 0).lower()}"
    return StoreUnreadable(f"cannot read {path} as user {os.getuid()}: {reason}; check its owner and permissions")
