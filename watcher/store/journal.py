"""The writer of journal segments: whole batches, durable or taken back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from watcher.store.errors import FULL, explain
from watcher.store.layout import Layout


class Journal:
    """Appends to one segment at a time. Old segments are never appended to again, whatever their end looks like.

    ``sizes`` holds every segment above the snapshot with its bytes. One thread at a time may call.
    """

    def __init__(self, layout: Layout, sizes: dict[int, int], header: Callable[[], bytes], *, sync: bool) -> None:
        self._layout = layout
        self._fs = layout.fs
        self._header = header
        self._sync = sync
        self._fd = -1
        self._empty = True
        self.sizes = sizes
        self.number = 0

    def start(self, number: int) -> None:
        """Begin segment ``number``: file, header and directory entry are on disk when this returns. Raises OSError."""
        path = self._layout.segment(number)
        fd = self._fs.create(path)
        try:
            first = self._header()
            self._fs.write(fd, first)
            self._fs.sync(fd)
            self._fs.sync_dir(self._layout.journal)
        except BaseException:
            with contextlib.suppress(OSError):
                self._fs.close(fd)
            with contextlib.suppress(OSError):
                self._fs.unlink(path)
            raise
        self._fd, self.number, self._empty = fd, number, True
        self.sizes[number] = len(first)

    def write(self, batch: bytes) -> tuple[int, int]:
        """Append whole lines as one write and one sync. Returns (segment, offset of the batch).

        After a failed sync the kernel may have dropped the pages and will report success next time
        (fsyncgate), so that file is closed, cut back and left, and the batch goes to a new one, once.
        Raises StoreFull, StoreReadOnly or StoreFailed; the batch then counts as never written.
        """
        try:
            try:
                return self._append(batch)
            except OSError as error:
                self._abandon()
                if error.errno in FULL:
                    raise
            return self._append(batch)
        except OSError as error:
            self._abandon()
            raise explain(error, self._layout.segment(self.number), "write") from error

    def _append(self, batch: bytes) -> tuple[int, int]:
        if self._fd < 0:
            self.start(max(self.sizes, default=self.number) + 1)
        offset = self.sizes[self.number]
        self._fs.write(self._fd, batch)
        if self._sync:
            self._fs.sync(self._fd)
        self.sizes[self.number] = offset + len(batch)
        self._empty = False
        return self.number, offset

    def _abandon(self) -> None:
        """Leave the segment, without whatever of the last batch reached it."""
        if self._fd < 0:
            return
        with contextlib.suppress(OSError):
            self._fs.close(self._fd)
        self._fd = -1
        with contextlib.suppress(OSError):
            # If this fails too, the lines stay behind as an unacknowledged tail, which recovery can read.
            self._fs.truncate(self._layout.segment(self.number), self.sizes[self.number])

    def seal(self) -> int:
        """End the segment for good and begin the next. Returns the highest sealed number. Raises OSError."""
        sealed = max(self.sizes, default=self.number)
        self._finish()
        self.start(sealed + 1)
        return sealed

    def _finish(self) -> None:
        if self._fd >= 0:
            try:
                if not self._sync:
                    self._fs.sync(self._fd)
            finally:
                fd, self._fd = self._fd, -1
                self._fs.close(fd)

    def forget(self, upto: int) -> None:
        """Stop counting segments up to ``upto``: a snapshot holds them."""
        for number in [n for n in self.sizes if n <= upto]:
            del self.sizes[number]

    def close(self) -> None:
        """End the segment. One that holds nothing but its header is removed. Raises OSError."""
        opened = self._fd >= 0
        self._finish()
        if opened and self._empty:
            self._fs.unlink(self._layout.segment(self.number))
