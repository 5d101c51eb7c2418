"""Page bodies, named by the SHA-256 of their bytes: the newest whole, older ones as deltas against their successor.

A file is one JSON line (``{"v":1,"base":...,"size":...,"height":...}``) and a zstd frame with its checksum
(RFC 8878). A delta's frame was made with its successor's bytes as prefix. What a file decodes to must hash to
its name, so damage is found when it is read, and a damaged body is the same as a missing one.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from watcher.store.fs import FS, write_whole
from watcher.store.layout import Layout

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHAIN = 16
LEVEL = 3
_SUFFIX = ".zst"
_SMALLEST_PREFIX = 8
_LONG = 1 << 20


class BodyHeader(msgspec.Struct, omit_defaults=True):
    """The first line of a body file. ``height`` is at least the longest chain of deltas that ends in it."""

    v: int = 1
    base: str | None = None
    size: int = 0
    height: int = 0


_encode_header = msgspec.json.Encoder().encode
_decode_header = msgspec.json.Decoder(BodyHeader).decode


class Bodies:
    """The bodies of one data directory. Any thread may call; one process may write."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._fs: FS = layout.fs
        self._lock = threading.RLock()
        self._put: set[str] | None = None

    def path(self, digest: str) -> str:
        return os.path.join(self._layout.bodies, digest[:2], digest + _SUFFIX)

    def put(self, data: bytes, base: str | None = None) -> str:
        """Keep ``data`` and return its SHA-256 (hex); durable on return. ``base`` is the body it succeeds.

        The predecessor becomes a delta, unless it is one already or its chain is :data:`CHAIN` long: then it
        stays whole and a new chain begins. Raises OSError.
        """
        digest = hashlib.sha256(data).hexdigest()
        with self._lock:
            own = self._header(digest)
            before = self._header(base) if base != digest else None
            link = before is not None and before.base is None and before.height < CHAIN
            height = max(own.height if own else 0, before.height + 1 if before and link else 0)
            if own is None or own.base is not None or own.height < height or self.get(digest) != data:
                self._write(digest, data, None, height)
            if link and base and before:
                # After the successor, so that a crash between the two leaves two whole bodies.
                self._make_delta(base, before.height, digest, data)
            if self._put is not None:
                self._put.add(digest)
        return digest

    @contextmanager
    def sparing_new(self) -> Iterator[None]:
        """What is put while the block runs is spared by :meth:`remove`."""
        with self._lock:
            self._put = set()
        try:
            yield
        finally:
            with self._lock:
                self._put = None

    def _make_delta(self, digest: str, height: int, base: str, base_data: bytes) -> None:
        old = self.get(digest)
        if old is None:
            return
        whole = self._fs.size(self.path(digest))
        frame = _compress(old, base_data)
        if len(frame) < whole:
            self._replace(digest, BodyHeader(base=base, size=len(old), height=height), frame)

    def _write(self, digest: str, data: bytes, base: str | None, height: int) -> None:
        base_data = self.get(base) if base else None
        header = BodyHeader(base=base if base_data is not None else None, size=len(data), height=height)
        self._replace(digest, header, _compress(data, base_data))

    def _replace(self, digest: str, header: BodyHeader, frame: bytes) -> None:
        path = self.path(digest)
        self._fs.mkdir(os.path.dirname(path))
        write_whole(self._fs, path, [_encode_header(header) + b"\n" + frame])

    def get(self, digest: str) -> bytes | None:
        """The body, or None if it is missing or does not hash to its name."""
        with self._lock:
            frames: list[bytes] = []
            at: str | None = digest
            while at is not None:
                header, frame = self._load(at)
                if header is None or len(frames) > 2 * CHAIN:
                    return None
                frames.append(frame)
                at = header.base
        data: bytes | None = None
        try:
            for frame in reversed(frames):
                data = _decompress(frame, data)
        except (zstd.ZstdError, EOFError, MemoryError):
            return None
        return data if data is not None and hashlib.sha256(data).hexdigest() == digest else None

    def header(self, digest: str) -> BodyHeader | None:
        """How a body is stored, or None."""
        return self._header(digest)

    def _header(self, digest: str | None) -> BodyHeader | None:
        return self._load(digest)[0] if digest else None

    def _load(self, digest: str) -> tuple[BodyHeader | None, bytes]:
        try:
            raw = self._fs.read(self.path(digest))
            first, _, frame = raw.partition(b"\n")
            return _decode_header(first), frame
        except (OSError, msgspec.MsgspecError):
            return None, b""

    def all(self) -> Iterator[str]:
        """The name of every body there is, damaged ones included."""
        for folder in self._fs.list(self._layout.bodies):
            for name in self._fs.list(os.path.join(self._layout.bodies, folder)):
                if name.endswith(_SUFFIX):
                    yield name.removesuffix(_SUFFIX)

    def remove(self, doomed: set[str]) -> int:
        """Delete bodies; deltas that rest on one of them are told anew first. Returns how many files went.

        Raises OSError; what was done until then is whole.
        """
        with self._lock:
            doomed = doomed - (self._put or set())
            rests = {d: h.base for d in self.all() if (h := self._header(d)) and h.base}
            for digest, base in rests.items():
                if base in doomed and digest not in doomed:
                    self._rebase(digest, rests, doomed)
            removed = 0
            touched = set()
            for digest in doomed:
                path = self.path(digest)
                if self._fs.exists(path):
                    self._fs.unlink(path)
                    touched.add(os.path.dirname(path))
                    removed += 1
            for folder in touched:
                self._fs.sync_dir(folder)
            return removed

    def _rebase(self, digest: str, rests: dict[str, str], doomed: set[str]) -> None:
        """Rest a delta on the next survivor of its chain, or make it whole."""
        data = self.get(digest)
        held = self._header(digest)
        if data is None or held is None:
            return
        base: str | None = rests.get(digest)
        while base is not None and base in doomed:
            base = rests.get(base)
        self._write(digest, data, base, held.height)


def _compress(data: bytes, prefix: bytes | None) -> bytes:
    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: LEVEL,
        zstd.CompressionParameter.checksum_flag: 1,
    }
    if prefix is None or len(prefix) < _SMALLEST_PREFIX:
        return zstd.compress(data, options=options)
    reach = len(data) + len(prefix)
    # The window must reach across the whole prefix; beyond the match finder's tables only long-distance matching does.
    options[zstd.CompressionParameter.window_log] = max(reach.bit_length(), 10)
    options[zstd.CompressionParameter.enable_long_distance_matching] = int(reach > _LONG)
    return zstd.compress(data, options=options, zstd_dict=zstd.ZstdDict(prefix, is_raw=True).as_prefix)


def _decompress(frame: bytes, prefix: bytes | None) -> bytes:
    if prefix is None or len(prefix) < _SMALLEST_PREFIX:
        return zstd.decompress(frame)
    return zstd.decompress(frame, zstd_dict=zstd.ZstdDict(prefix, is_raw=True).as_prefix)
