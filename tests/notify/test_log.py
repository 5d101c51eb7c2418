"""The file of sealed lines: whatever is cut off or damaged costs the lines it touches and no other."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from watcher.notify.log import Log, intact, seal

LINES = [seal(b'{"n":%d,"text":"%b"}' % (n, b"x" * n)) for n in range(5)]


@contextmanager
def no_more_than(size: int) -> Iterator[None]:
    """No file may grow beyond ``size`` bytes meanwhile."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def written(path: Path) -> Log:
    log = Log(path)
    for line in LINES:
        log.append(line, sync=True)
    return log


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    log = written(tmp_path / "a" / "b.jsonl")
    log.close()
    assert Log(tmp_path / "a" / "b.jsonl").read() == (LINES, 0)
    assert (tmp_path / "a" / "b.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert Log(tmp_path / "none").read() == ([], 0)
    assert not (tmp_path / "none").exists()


def test_a_torn_tail_costs_one_line_and_not_the_next(tmp_path: Path) -> None:
    path = tmp_path / "log"
    written(path).close()
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        log = Log(path)
        good, _ = log.read()
        assert good == [line for n, line in enumerate(LINES) if sum(map(len, LINES[: n + 1])) <= size + 1]
        log.append(LINES[0])
        log.close()
        assert Log(path).read()[0] == [*good, LINES[0]]


def test_a_flipped_bit_anywhere_costs_one_or_two_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    written(path).close()
    whole = bytearray(path.read_bytes())
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0x04
        path.write_bytes(damaged)
        good, bad = Log(path).read()
        assert bad == 1 or (bad == 2 and len(good) == 4)
        # A lost line end glues two lines together; nothing else touches two.
        assert len(good) >= (3 if whole[place : place + 1] == b"\n" else 4)
        assert all(line in LINES for line in good)


def test_every_flipped_bit_is_noticed() -> None:
    line = LINES[3]
    for place in range(len(line) * 8):
        damaged = bytearray(line)
        damaged[place // 8] ^= 1 << place % 8
        assert not intact(bytes(damaged))


def test_a_full_disk_raises_and_harms_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = written(path)
    with no_more_than(path.stat().st_size + 7), pytest.raises(OSError):
        log.append(LINES[4])
    with no_more_than(path.stat().st_size), pytest.raises(OSError):
        log.append(LINES[4])
    log.append(LINES[2])
    log.close()
    good, bad = Log(path).read()
    assert (good, bad) == ([*LINES, LINES[2]], 1)


def test_replacing_is_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = written(path)
    with no_more_than(10), pytest.raises(OSError):
        log.replace([LINES[0]])
    assert Log(path).read() == (LINES, 0)
    log.replace([LINES[0]])
    log.append(LINES[1])
    assert log.size == path.stat().st_size
    log.close()
    assert Log(path).read() == ([LINES[0], LINES[1]], 0)
