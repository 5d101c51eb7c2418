"""The store's bars (STORE.md A5): ratios of the store to raw work on the same bytes, interleaved, medians of 5.

``python -m tests.bench.store_bars`` runs at 100,000 URLs in about two minutes; ``--full`` at 1,000,000. "Raw decode" is
a typed msgspec decode of every line into a Struct of 17 members, its record left as bytes, nothing kept.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from zlib import crc32

import msgspec

from tests.bench.store_pages import T0, again, check_of, name_of, page
from watcher.core.model import Outcome
from watcher.store import FS, Entry, Store, lines
from watcher.store.codec import full_line
from watcher.store.compaction import compact_files, verify, write_snapshot
from watcher.store.fold import HeaderLine
from watcher.store.layout import Layout
from watcher.store.sealed import Sealed, in_chunks, write_history

ROUNDS = 5


class RawLine(msgspec.Struct, gc=False):
    """The yardstick."""

    k: str
    w: str = ""
    url: str = ""
    n: int = 0
    etag: str | None = None
    lm: str | None = None
    fp: str | None = None
    body: str | None = None
    rec: msgspec.Raw = msgspec.Raw(b"null")
    at: float = 0.0
    chg: float = 0.0
    nxt: float = 0.0
    ivl: float = 0.0
    same: int = 0
    fail: int = 0
    st: int = 0
    out: str = ""


_raw = msgspec.json.Decoder(RawLine).decode


class LooseFS(FS):
    """Leaves syncing to the system: for CPU measurements and for making data."""

    def sync(self, fd: int) -> None:
        pass

    def sync_dir(self, path: str) -> None:
        pass


def snapshot(root: str, count: int, named: bool) -> Path:
    """A store of ``count`` watches as one snapshot."""
    layout = Layout(LooseFS(), root)
    layout.make()
    path = Path(layout.snapshot(1))
    rnd = random.Random(7)

    def rows() -> Iterator[bytes]:
        yield lines.header(HeaderLine(store="bench", n=count))
        keyed = sorted((lines.escape(name_of(i, named)[0]), i) for i in range(count))
        for n, (_, i) in enumerate(keyed):
            state = page(i, named, rnd)
            yield full_line(state, n + 1, False, "default", None)

    crc = 0
    with path.open("wb") as file:
        for chunk in in_chunks(rows()):
            crc = crc32(chunk, crc)
            file.write(chunk)
        file.write(lines.end(count, count, crc))
    return path


def cpu(work: Callable[[], object]) -> float:
    gc.collect()
    begun = time.process_time()
    work()
    return time.process_time() - begun


def wall(work: Callable[[], object]) -> float:
    gc.collect()
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def ratio(ours: Callable[[], float], theirs: Callable[[], float], rounds: int = ROUNDS) -> tuple[float, float, float]:
    """(ratio of medians, ours, theirs), measured in turns."""
    pairs = [(theirs(), ours()) for _ in range(rounds)]
    raw, own = statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)
    return own / raw, own, raw


def say(bar: str, value: float, limit: float, unit: str, least: bool = False) -> None:
    kept = value >= limit if least else value <= limit
    sign = ">=" if least else "<="
    print(f"{'ok  ' if kept else 'MISS'} {bar:58s} {value:8.2f} {unit:4s} (bar {sign} {limit:g})", flush=True)


def decode_all(path: Path) -> None:
    with path.open("rb", buffering=1 << 20) as file:
        for line in file:
            _raw(line)


def open_it(root: str, hot: bool) -> None:
    Store.open(root, mode="read", hot=hot).close()


def opening(root: str, path: Path) -> None:
    for hot, bar, limit in ((False, "open, CRC, offset index / raw decode", 1.6), (True, "open, CRC, hot / raw", 2.5)):
        value, _, _ = ratio(lambda hot=hot: cpu(lambda: open_it(root, hot)), lambda: cpu(lambda: decode_all(path)))
        say(bar, value, limit, "x")


def memory(root: str, count: int, what: str) -> None:
    code = (
        "import sys\nfrom watcher.store import Store\n"
        "def rss(): return int(open('/proc/self/statm').read().split()[1]) * 4096\n"
        "before = rss()\nstore = Store.open(sys.argv[1], mode='read')\n"
        "print((rss() - before) / len(store.summaries))\nstore.close()\n"
    )
    out = subprocess.run([sys.executable, "-c", code, root], capture_output=True, text=True, check=True)
    say(f"RSS per URL, {count:,} URLs, {what}", float(out.stdout), 500, "B")


def looking_up(root: str, count: int, path: Path, named: bool) -> None:
    rnd = random.Random(3)
    raws = [line for line in path.read_bytes().splitlines(keepends=True) if line.startswith(b'{"k":"s"')]
    picked = [rnd.randrange(len(raws)) for _ in range(20_000)]
    names = [lines.unescape(lines.raw_key(raws[i])) for i in picked]
    with Store.open(root, mode="read") as store:

        def ours() -> None:
            for name in names:
                store.state(name)

        def theirs() -> None:
            for i in picked:
                _raw(raws[i])

        value, own, raw = ratio(lambda: cpu(ours), lambda: cpu(theirs))
    own, raw = own / len(names) * 1e6, raw / len(names) * 1e6
    say(f"look-up ({own:.1f} us) / one decode ({raw:.1f} us)", value, 6, "x")


def appending(folder: str, size: int, limit: float) -> None:
    """States, ``size`` a batch, each batch durable, against the same bytes written and synced."""
    rnd, turn = random.Random(size), 0
    states = [page(i, False, rnd) for i in range(size)]
    batches = 20_000 // size if size < 1000 else 20
    entries = [Entry(state=state, version=True) for state in states]

    def ours() -> float:
        nonlocal turn
        turn += 1
        with Store.open(f"{folder}/store{turn}") as store:
            return wall(lambda: [store.append(entries) for _ in range(batches)])

    ours()
    sample = next(Path(f"{folder}/store1/journal").iterdir()).read_bytes()
    batch = sample[len(sample.splitlines(keepends=True)[0]) :][: len(sample) // batches]

    def raw() -> float:
        fd = os.open(f"{folder}/raw{turn}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

        def write() -> None:
            for _ in range(batches):
                os.write(fd, batch)
                os.fdatasync(fd)

        took = wall(write)
        os.close(fd)
        return took

    value, own, least = ratio(ours, raw)
    own, least = (t / batches / size * 1e6 for t in (own, least))
    print(f"     {own:.1f} us a line, raw {least:.1f}")
    say(f"append, batch {size} + fdatasync, share of raw write", 1 / value, limit, "x", least=True)


def merging(folder: str, count: int, path: Path) -> None:
    """New states of a fifth of the watches, folded into the snapshot; nothing else in the journal (STORE.md A1)."""
    made = f"{folder}/merge"
    shutil.copytree(path.parents[1], made)
    rnd = random.Random(11)
    with Store.open(made, fs=LooseFS()) as store:
        fresh = rnd.sample(range(count), count // 5)
        for start in range(0, len(fresh), 1000):
            store.append([Entry(state=page(i, False, rnd, T0 + 90_000.0)) for i in fresh[start : start + 1000]])
    layout = Layout(LooseFS(), made)
    segment = Path(layout.segment(2))

    def ours() -> float:
        def work() -> None:
            with Sealed(layout, [2]) as sealed:
                write_snapshot(layout, 1, 2, sealed, HeaderLine(store="bench", at=T0))
                verify(layout.fs, layout.snapshot(2))

        gc.disable()  # as the compacting process does
        took = cpu(work)
        gc.enable()
        os.unlink(layout.snapshot(2))
        return took

    value, _, _ = ratio(ours, lambda: cpu(lambda: (decode_all(path), decode_all(segment))))
    say(f"stream-merge CPU, {count // 5:,} states into {count:,} / raw decode", value, 2, "x")
    shutil.rmtree(made)


def compacting(folder: str, count: int, path: Path) -> None:
    """A whole compaction: a fifth of the watches checked once, one in ten of these changed; history and audit too."""
    made, target = f"{folder}/compact", f"{folder}/compacted"
    shutil.copytree(path.parents[1], made)
    rnd = random.Random(11)
    with Store.open(made, fs=LooseFS()) as store:
        names = rnd.sample(store.names(), count // 5)
        for start in range(0, len(names), 1000):
            batch = []
            for k, name in enumerate(names[start : start + 1000]):
                state = store.state(name)
                assert state is not None
                moved = again(state, T0 + 90_000.0)
                if changed := k % 10 == 0:
                    moved = msgspec.structs.replace(moved, outcome=Outcome.CHANGED, http_status=200)
                batch.append(Entry(state=moved, check=check_of(moved), version=changed))
            store.append(batch)

    def ours() -> float:
        shutil.copytree(made, target)
        took = cpu(lambda: compact_files(Layout(LooseFS(), target), 1, 2, "bench", T0))
        shutil.rmtree(target)
        return took

    value, took, _ = ratio(ours, lambda: cpu(lambda: decode_all(path)))
    per = took / (count // 5) * 1e6
    print(f"     whole compaction with folds, history and packed audit trail: {value:.2f} x, {per:.0f} us a check")
    shutil.rmtree(made)


def size_on_disk(folder: str, count: int) -> None:
    """One change and nine unchanged checks of every page, then folded."""
    rnd, root = random.Random(13), f"{folder}/passes"
    with Store.open(root, fs=LooseFS()) as store:
        states = [page(i, False, rnd) for i in range(count)]
        store.append([Entry(state=s, check=check_of(s), version=True) for s in states])
        for turn in range(1, 10):
            states = [again(s, T0 + 3600.0 * turn + i) for i, s in enumerate(states)]
            store.append([Entry(state=s, check=check_of(s)) for s in states])
        store.compact()
    used = sum(p.stat().st_size for p in Path(root, "state").iterdir())
    say(f"state per page after 10 passes, {count:,} pages", used / count / 1024, 0.6, "KiB")


def ten_years(folder: str, versions: int) -> None:
    """1,000 watches with one day of history against the same with ten years of it, a file a month."""
    roots = {"day": f"{folder}/day", "years": f"{folder}/years"}
    rnd = random.Random(17)
    states = [page(i, True, rnd) for i in range(1000)]
    for root in roots.values():
        with Store.open(root, fs=LooseFS()) as store:
            store.append([Entry(state=s, check=check_of(s), version=True) for s in states])
            for _ in range(120):
                store._journal and store._journal.seal()
            store.compact()
    layout, months = Layout(LooseFS(), roots["years"]), 120
    for month in range(months):
        rows = (
            (lines.escape(s.name), full_line(s, month * 10 + k + 1, True, "default", None))
            for s in states
            for k in range(versions // months)
        )
        write_history(layout, layout.history_file("default", month + 1), (raw for _, raw in sorted(rows)))
    digest = hashlib.sha256(states[0].name.encode()).hexdigest()[:4]
    value, _, _ = ratio(
        lambda: cpu(lambda: open_it(roots["years"], True)), lambda: cpu(lambda: open_it(roots["day"], True)), 25
    )
    say(f"start with ten years of history / with one day ({digest})", value, 1.2, "x")
    with Store.open(roots["years"], mode="read") as store:
        took = statistics.median(wall(lambda s=s: store.history(s.name)) for s in states[:50])
    print(f"     newest 100 of {versions} versions of one watch among 1,000: {took * 1e3:.1f} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="1,000,000 URLs")
    count = 1_000_000 if parser.parse_args().full else 100_000
    with tempfile.TemporaryDirectory(prefix="watcher-bars-") as folder:
        root = f"{folder}/urls"
        path = snapshot(root, count, named=False)
        print(f"{count:,} lines, {path.stat().st_size / count:.0f} B each", flush=True)
        opening(root, path)
        memory(root, count, "named by URL")
        looking_up(root, count, path, False)
        merging(folder, count, path)
        compacting(folder, count, path)
        shutil.rmtree(root)
        named = f"{folder}/named"
        snapshot(named, count, named=True)
        memory(named, count, "named apart")
        shutil.rmtree(named)
        appending(folder, 100, 0.6)
        shutil.rmtree(f"{folder}/store1")
        os.mkdir(f"{folder}/thousand")
        appending(f"{folder}/thousand", 1000, 0.3)
        size_on_disk(folder, 10_000)
        ten_years(folder, 480)


if __name__ == "__main__":
    main()
