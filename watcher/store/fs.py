"""The one door to the disk: whatever the store does to files goes through :class:`FS`, so faults can be injected."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

READ_BUFFER = 1 << 20
_OCTAL = re.compile(r"\\([0-7]{3})")


class FS:
    """Plain POSIX calls. Files are made 0600 and directories 0700; descriptors are never inherited (PEP 446)."""

    def create(self, path: str) -> int:
        """Make ``path``, which must not exist, and open it for appending."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)

    def write(self, fd: int, data: bytes) -> None:
        """Write all of ``data``."""
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]

    def sync(self, fd: int) -> None:
        """Bring a file's bytes and length to the disk itself."""
        if sys.platform == "darwin":
            # fsync there stops at the drive's cache (fsync(2), macOS).
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fdatasync(fd)

    def sync_dir(self, path: str) -> None:
        """Bring a directory's entries (new, renamed and removed names) to the disk."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(fd)

    def close(self, fd: int) -> None:
        os.close(fd)

    def truncate(self, path: str, size: int) -> None:
        """Cut ``path`` back to ``size`` bytes, durably."""
        fd = os.open(path, os.O_WRONLY)
        try:
            os.ftruncate(fd, size)
            self.sync(fd)
        finally:
            os.close(fd)

    def rename(self, old: str, new: str) -> None:
        os.replace(old, new)

    def unlink(self, path: str) -> None:
        os.unlink(path)

    def mkdir(self, path: str) -> None:
        """Make ``path`` and its missing parents, each known to the disk before its child."""
        if os.path.isdir(path):
            return
        parent = os.path.dirname(os.path.abspath(path))
        self.mkdir(parent)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
            self.sync_dir(parent)

    def list(self, path: str) -> list[str]:
        """The names in a directory, sorted; none where it does not exist."""
        try:
            return sorted(os.listdir(path))
        except FileNotFoundError:
            return []

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def size(self, path: str) -> int:
        return os.stat(path).st_size

    def reader(self, path: str) -> BinaryIO:
        """A buffered reader over ``path``."""
        return open(path, "rb", buffering=READ_BUFFER)

    def read(self, path: str) -> bytes:
        with open(path, "rb", buffering=0) as file:
            return file.read()

    def map(self, path: str, size: int) -> mmap.mmap:
        """The first ``size`` (more than 0) bytes of ``path``, mapped read-only; at most what is there."""
        with open(path, "rb", buffering=0) as file:
            return mmap.mmap(file.fileno(), min(size, os.fstat(file.fileno()).st_size), access=mmap.ACCESS_READ)

    def open_read(self, path: str) -> int:
        return os.open(path, os.O_RDONLY)

    def pread(self, fd: int, size: int, offset: int) -> bytes:
        return os.pread(fd, size, offset)

    def lock(self, path: str) -> int | None:
        """Take the exclusive lock on ``path`` without waiting; None if another process holds it."""
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        except BaseException:
            os.close(fd)
            raise
        return fd

    def still_at(self, fd: int, path: str) -> bool:
        """Whether ``path`` still names the open file ``fd``."""
        try:
            return os.fstat(fd).st_ino == os.stat(path).st_ino
        except FileNotFoundError:
            return False

    def overwrite(self, fd: int, data: bytes) -> None:
        """Make ``data`` the whole content of a file open for writing."""
        os.ftruncate(fd, 0)
        os.pwrite(fd, data, 0)

    def mounts(self) -> Iterable[tuple[str, str]]:
        """(mount point, file system type) of every mount; nothing where the platform does not tell."""
        if sys.platform == "darwin":
            listing = subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=False).stdout
            return parse_mount(listing)
        try:
            return parse_mountinfo(Path("/proc/self/mountinfo").read_text("utf-8", "replace"))
        except OSError:
            return []


def parse_mountinfo(text: str) -> list[tuple[str, str]]:
    """Linux ``/proc/self/mountinfo`` (proc(5)): field 5 is the mount point, the field after ``-`` the type."""
    found = []
    for line in text.splitlines():
        fields = line.split(" ")
        if len(fields) > 6 and "-" in fields:
            point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4])
            found.append((point, fields[fields.index("-") + 1]))
    return found


def parse_mount(text: str) -> list[tuple[str, str]]:
    """BSD ``mount``: ``//host/share on /Volumes/share (smbfs, nodev, ...)``."""
    found = []
    for line in text.splitlines():
        left, _, options = line.rpartition(" (")
        if options:
            found.append((left.partition(" on ")[2], options.partition(",")[0].rstrip(")")))
    return found


def write_whole(fs: FS, path: str, chunks: Iterable[bytes]) -> int:
    """Replace ``path`` by ``chunks`` so that a crash leaves the old file or the new one, never a mixture.

    Temporary name in the same directory, fsync, rename, fsync of the directory (POSIX rename is atomic,
    but not durable before its directory is). Returns the bytes written.
    """
    temporary = path + ".tmp"
    if fs.exists(temporary):
        fs.unlink(temporary)
    fd = fs.create(temporary)
    size = 0
    try:
        try:
            for chunk in chunks:
                fs.write(fd, chunk)
                size += len(chunk)
            fs.sync(fd)
        finally:
            fs.close(fd)
        fs.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            fs.unlink(temporary)
        raise
    fs.sync_dir(os.path.dirname(path))
    return size
