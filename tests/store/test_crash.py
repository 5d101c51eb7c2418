"""The crash suite: nothing acknowledged is ever lost, whatever is cut, flipped, dropped, refused or killed.

``WATCHER_CRASH=full`` runs it at full length. The write protocol's own teeth are tried in ``test_mutants.py``.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.store.disk import RecordingFS, crash_image, faulty
from tests.store.making import QuickFS, entry, host, seen_at, state, states, unchanged
from watcher.core.state import UrlState
from watcher.store import Entry, Store, StoreError, StoreFull, lines
from watcher.store.codec import decode_delta, decode_state, state_of

pytestmark = pytest.mark.crash
FULL = os.environ.get("WATCHER_CRASH") == "full"
ROOT = Path(__file__).parents[2]


class Scenario:
    """A fixed run over a store: appends of several watches, bodies, hosts, two compactions, an erasure.

    ``acks`` holds, at every acknowledgement, the number of disk operations and of checks so far.
    """

    WATCHES = ("a", "b", "c", "d")

    def __init__(self, root: str, fs: QuickFS) -> None:
        self.root, self.fs = root, fs
        self.submitted: list[UrlState] = []
        self.acked: list[bool] = []
        self.acks: list[tuple[int, int]] = []
        self.bodies: dict[str, bytes] = {}
        self.refused = 0

    def run(self, *, steps: int = 14, stop_at_error: bool = False) -> None:
        try:
            store = Store.open(self.root, fs=self.fs)
        except StoreError:
            self.refused += 1
            return
        try:
            self._steps(store, steps, stop_at_error)
        finally:
            try:
                store.close()
            except StoreError:
                self.refused += 1

    def _steps(self, store: Store, steps: int, stop_at_error: bool) -> None:
        rnd = random.Random(5)
        last: dict[str, UrlState] = {}
        for step in range(steps):
            try:
                self._step(store, rnd, step, last)
            except StoreError:
                self.refused += 1
                if stop_at_error:
                    return

    def _step(self, store: Store, rnd: random.Random, step: int, last: dict[str, UrlState]) -> None:
        batch: list[Entry] = []
        for _ in range(rnd.randrange(1, 4)):
            name, i = rnd.choice(self.WATCHES), len(self.submitted)
            if name in last and rnd.random() < 0.6:
                after = unchanged(last[name], i)
            else:
                data = b"<p>page %d</p>" % i * 40
                digest = store.put_body(data, base=last[name].body if name in last else None)
                self.bodies[digest] = data
                after = state(name, i, body=digest)
            last[name] = after
            self.submitted.append(after)
            self.acked.append(False)
            given = {"hosts": (host("https://h:443", i),)} if rnd.random() < 0.3 else {}
            batch.append(entry(after, rnd.randrange(1, 3), retention=rnd.choice(["default", "news"]), **given))
        store.append(batch)
        self.acked[len(self.submitted) - len(batch) :] = [True] * len(batch)
        self._ack()
        if step in (4, 9):
            store.compact()
            self._ack()

    def _ack(self) -> None:
        ops = len(self.fs.ops) if isinstance(self.fs, RecordingFS) else 0
        self.acks.append((ops, len(self.submitted)))


def prove(store: Store, scenario: Scenario, sure: int) -> None:
    """The first ``sure`` checks are in state, history and audit trail; of the later ones, any whole lines may be.

    A hole inside a batch nobody was told of may leave an attempt without its state: such a watch is suspect.
    """
    for name in scenario.WATCHES:
        mine = [s for s in scenario.submitted if s.name == name]
        certain = [s for s in scenario.submitted[:sure] if s.name == name]
        later = mine[len(certain) :]
        now = store.state(name)
        if now is not None and store.is_suspect(name):
            assert now.last_fetched_at in [s.last_fetched_at for s in later], f"{name} is suspect"
        else:
            assert now in [*(certain[-1:] or [None]), *later], f"state of {name}"
            if now is not None and now.body is not None:
                assert store.body(now.body) == scenario.bodies[now.body], f"body of {name}"
        contained("audit trail", name, [c.at for c in store.checks(name)], certain, mine)
        versions = [s for s in certain if s.outcome == "changed"]
        contained("history", name, seen_at(store, name), versions, [s for s in mine if s.outcome == "changed"])


def contained(where: str, name: str, found: list[float], certain: list[UrlState], possible: list[UrlState]) -> None:
    sure = [s.last_fetched_at for s in certain]
    assert found[: len(sure)] == sure, f"{where} of {name}"
    assert found == [s.last_fetched_at for s in possible if s.last_fetched_at in found], f"{where} of {name}"


def prove_images(root: str, target: str, scenario: Scenario, ops: list[tuple[object, ...]], rounds: int) -> int:
    """Open every image of every moment, prove it, go on writing in it. Returns how many there were."""
    rnd, images = random.Random(1), 0
    for upto in range(len(ops) + 1):
        sure = max((checks for at, checks in scenario.acks if at <= upto), default=0)
        for mode in ["none", "all", *["random"] * rounds]:
            shutil.rmtree(target, ignore_errors=True)
            os.makedirs(target)
            crash_image(ops[:upto], root, target, mode, rnd)
            with Store.open(target, fs=QuickFS()) as store:
                prove(store, scenario, sure)
                store.append([entry(state("later", 1))])
            with Store.open(target, mode="read") as store:
                assert store.state("later") == state("later", 1)
                assert not [p for p in store.warnings if p.kind == "torn"]
            images += 1
    return images


def test_crash_images_over_writes_and_two_compactions(ram: Path) -> None:
    fs = RecordingFS()
    scenario = Scenario(str(ram / "data"), fs)
    scenario.run()
    assert scenario.refused == 0
    images = prove_images(scenario.root, str(ram / "image"), scenario, fs.ops, 12 if FULL else 1)
    assert images > 300


def test_crash_images_over_an_erasure(ram: Path) -> None:
    root, fs = str(ram / "data"), RecordingFS()
    kept = entry(state("kept", 1))
    with Store.open(root, fs=fs) as store:
        store.append([entry(state("gone", i)) for i in range(3)] + [kept])
        store.compact()
        store.append([entry(state("gone", 3))])
        begun = len(fs.ops)
        store.forget(["gone"])
        done = len(fs.ops)
    rnd, target = random.Random(2), str(ram / "image")
    for upto in range(begun, len(fs.ops) + 1):
        for mode in ["none", "all", *["random"] * (8 if FULL else 2)]:
            shutil.rmtree(target, ignore_errors=True)
            os.makedirs(target)
            crash_image(fs.ops[:upto], root, target, mode, rnd)
            with Store.open(target, fs=QuickFS()) as store:
                assert store.state("kept") == kept.state
                ordered = store.state("gone") is None
                assert ordered or upto < done
                if ordered:
                    # Once ordered it is complete after any start: not a byte is left.
                    assert not holding(target, b'"gone"'), (upto, mode)
                    assert list(store.checks("gone")) == []


def holding(root: str, needle: bytes) -> list[str]:
    """The files below ``root`` whose bytes, unpacked where they are packed, contain ``needle``."""
    found = []
    for path in Path(root).rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if path.suffix == ".gz":
                data = subprocess.run(["gzip", "-dc", str(path)], capture_output=True, check=True).stdout
            if needle in data:
                found.append(str(path))
    return found


@pytest.fixture(scope="module")
def segment() -> tuple[bytes, list[tuple[int, int]]]:
    return make_segment()


def make_segment() -> tuple[bytes, list[tuple[int, int]]]:
    """A segment of a dozen lines, and where each begins and ends."""
    with tempfile.TemporaryDirectory() as root:
        with Store.open(root, fs=QuickFS()) as store:
            last: dict[str, UrlState] = {}
            for i in range(8):
                name = f"u{i % 3}"
                last[name] = unchanged(last[name], i) if name in last and i % 2 else state(name, i)
                store.append([entry(last[name])])
        data = Path(root, "journal", "000001.jsonl").read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
    return data, list(zip([0, *ends[:-1]], ends, strict=True))


def folded(data: bytes, spans: list[tuple[int, int]], lost: set[int]) -> dict[str, UrlState]:
    """The states that the lines of ``data`` lead to without those in ``lost``; a misfit leaves none."""
    full: dict[str, tuple[int, bytes]] = {}
    newest: dict[str, int] = {}
    out: dict[str, UrlState] = {}
    for number, (start, stop) in enumerate(spans):
        raw = data[start:stop]
        if raw.startswith(lines.HEADER):
            continue
        key = lines.unescape(lines.raw_key(raw))
        if raw[6:7] == b"s":
            newest[key] = number
        if number in lost:
            continue
        if raw[6:7] == b"s":
            full[key] = (number, raw)
            out[key] = state_of(decode_state(raw))
        elif key in full and full[key][0] == newest[key]:
            out[key] = state_of(decode_state(full[key][1]), decode_delta(raw))
        else:
            out.pop(key, None)
    return out


def test_cut_at_every_byte(ram: Path, segment: tuple[bytes, list[tuple[int, int]]]) -> None:
    data, spans = segment
    for cut in range(0, len(data) + 1, 1 if FULL else 7):
        whole = [span for span in spans if span[1] <= cut]
        root = ram / "data"
        (root / "journal").mkdir(parents=True)
        (root / "journal" / "000001.jsonl").write_bytes(data[:cut])
        with Store.open(root, fs=QuickFS()) as store:
            assert states(store) == folded(data, whole, set()), cut
            torn = [p for p in store.warnings if p.kind == "torn"]
            assert len(torn) == (cut not in (0, *(span[1] for span in spans)))
            store.append([entry(state("new", 99))])
        with Store.open(root, mode="read") as store:
            assert store.state("new") == state("new", 99)
            assert store.warnings == []
        kept = b"".join(p.read_bytes() for p in sorted((root / "quarantine").iterdir()))
        assert kept == data[max((s[1] for s in whole), default=0) : cut]
        shutil.rmtree(root)


def test_flip_at_every_byte(ram: Path, segment: tuple[bytes, list[tuple[int, int]]]) -> None:
    data, spans = segment
    rnd = random.Random(0)
    for place in range(0, len(data), 1 if FULL else 5):
        flipped = bytearray(data)
        flipped[place] ^= 1 << rnd.randrange(8)
        hit = next(n for n, (start, stop) in enumerate(spans) if start <= place < stop)
        # The line feed belongs to its line, and losing it joins the next line on; that one is found again.
        root = ram / "data"
        (root / "journal").mkdir(parents=True)
        (root / "journal" / "000001.jsonl").write_bytes(bytes(flipped))
        with Store.open(root, fs=QuickFS()) as store:
            assert store.warnings, f"a flip at {place} went unnoticed"
            sound = {n: s for n, s in states(store).items() if not store.is_suspect(n)}
            assert sound == folded(data, spans, {hit}), place
        shutil.rmtree(root)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=["ENOSPC", "EIO"])
def test_an_error_at_every_call(ram: Path, code: int) -> None:
    fs, calls = faulty(0, code)
    clean = Scenario(str(ram / "clean"), fs)
    clean.run()
    total, refused = calls(), 0
    assert total > 400
    for at in range(1, total + 1, 1 if FULL else 3):
        root = str(ram / "data")
        fs, _ = faulty(at, code)
        scenario = Scenario(root, fs)
        scenario.run()
        refused += scenario.refused
        with Store.open(root, fs=QuickFS()) as store:
            prove_acknowledged(store, scenario, at)
        shutil.rmtree(root)
    gc.collect()
    assert refused > 10


def prove_acknowledged(store: Store, scenario: Scenario, at: int) -> None:
    for name in scenario.WATCHES:
        mine = [(s, ok) for s, ok in zip(scenario.submitted, scenario.acked, strict=True) if s.name == name]
        certain = [s.last_fetched_at for s, ok in mine if ok]
        audited = [c.at for c in store.checks(name)]
        assert set(certain) <= set(audited) <= {s.last_fetched_at for s, _ in mine}, f"audit of {name}, call {at}"
        versions = {s.last_fetched_at for s, ok in mine if ok and s.outcome == "changed"}
        assert versions <= set(seen_at(store, name)), f"history of {name}, call {at}"
        if certain:
            now = store.state(name)
            assert now is not None
            assert (now.last_fetched_at or 0) >= (certain[-1] or 0), f"state of {name}, call {at}"


CHILD = """
import asyncio, sys
from tests.store.making import entry, state, unchanged
from watcher.store import Store

async def main() -> None:
    store = Store.open(sys.argv[1])
    first = store._fold.n
    count = 1 + max((int(n.split("-")[1]) for n in store.names()), default=0)
    async def compacting() -> None:
        while True:
            await asyncio.sleep(0)
            if len(store.names()) % 3 == 0:
                await store.compact_aside()
    other = asyncio.create_task(compacting())
    while True:
        names = [f"w-{count + k}" for k in range(4)]
        await asyncio.gather(*(store.commit(entry(state(n, 1), 2)) for n in names))
        count += 4
        print(count - 1, flush=True)

asyncio.run(main())
"""


def test_kill_dash_nine_while_checking_and_compacting(tmp_path: Path) -> None:
    root, rnd, acknowledged = tmp_path / "data", random.Random(9), 0
    for _ in range(50 if FULL else 5):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(root)], stdout=subprocess.PIPE, cwd=ROOT, env={**os.environ}
        )
        assert child.stdout is not None
        for _ in range(rnd.randrange(1, 60)):
            line = child.stdout.readline()
            assert line, "the child died by itself"
            acknowledged = int(line)
        child.send_signal(signal.SIGKILL)
        acknowledged = max([acknowledged, *map(int, child.stdout.read().split(b"\n")[:-1])])
        child.stdout.close()
        child.wait()
        with Store.open(root, fs=QuickFS()) as store:
            assert {f"w-{i}" for i in range(1, acknowledged + 1)} <= set(store.names())
            assert len({c.name for c in store.checks()}) == len(store.names())
            assert all(store.state(n) == state(n, 1) for n in store.names()[-8:])
            assert len(store.history(f"w-{acknowledged}")) == 1


def test_a_full_tmpfs(tmp_path: Path) -> None:
    if os.getuid() != 0 or not shutil.which("mount"):
        pytest.skip("a full disk needs root and mount: not tried here")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"a full disk needs a tmpfs: mount says {mounted.stderr.decode().strip()}")
    try:
        acknowledged = 0
        spare = disk / "spare"
        spare.write_bytes(b"x" * 100_000)
        with Store.open(disk / "data", allow_network_fs=True) as store:
            with contextlib.suppress(StoreFull):
                while True:
                    store.append([entry(state(f"w{acknowledged}", 1))])
                    acknowledged += 1
            with pytest.raises(StoreFull, match="free some space"):
                store.append([entry(state("more", 1), hops=20)])
            with pytest.raises(StoreFull):
                store.compact()
            assert len(store.names()) == acknowledged
        with pytest.raises(StoreFull):
            Store.open(disk / "data", allow_network_fs=True)
        with Store.open(disk / "data", mode="read") as store:
            assert len(store.names()) == acknowledged > 100
        spare.unlink()
        with Store.open(disk / "data", allow_network_fs=True) as store:
            store.append([entry(state("after", 1))])
            assert store.state("after") == state("after", 1)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
