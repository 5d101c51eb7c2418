"""Cases about the store told in prose: real files damaged on disk, and what the program makes of them."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

from tests.replay.cases import ROOT, Case
from tests.replay.prose import outcomes, watches
from tests.replay.tables import PAGE, Handler
from tests.replay.world import World, load_settings
from tests.support.clock import EPOCH
from watcher.core.history import Check
from watcher.core.model import Outcome, Record
from watcher.core.state import UrlState
from watcher.store import Entry, Store


def segments(world: World) -> list[Path]:
    return sorted((world.data / "journal").glob("*.jsonl"))


def everywhere(world: World, needle: bytes) -> bool:
    """Whether these bytes lie in any file of the data directory."""
    return any(needle in path.read_bytes() for path in world.data.rglob("*") if path.is_file())


async def checked_world(root: Path, count: int) -> World:
    """A stopped world whose store holds ``count`` watches, each checked once."""
    world = World(root)
    await world.__aenter__()
    world.server.fallback = PAGE
    world.tables = watches(world, count)
    await world.start()
    await world.check()
    await world.stop()
    return world


def entries(world: World) -> int:
    return sum(1 for _ in world.store.checks())


async def torn_last_line(case: Case, root: Path) -> list[str]:
    world = await checked_world(root, 3)
    try:
        torn = b'{"k":"s","w":"k","rec":{"t":"caf\xc3'
        last = segments(world)[-1]
        lines = last.read_bytes().count(b"\n")
        with last.open("ab") as file:
            file.write(torn)
        await world.start()
        assert entries(world) == 3
        (problem,) = world.store.warnings
        assert last.name in problem.message + problem.file
        assert problem.line in (None, lines + 1)
        await world.check("0-0")
        assert everywhere(world, torn)
        await world.restart()
        assert entries(world) == 4
        world.assert_store_is_strict(case.name)
    finally:
        await world.__aexit__()
    return []


async def corrupt_line_in_the_middle(case: Case, root: Path) -> list[str]:
    world = await checked_world(root, 10)
    try:
        (segment,) = [path for path in segments(world) if path.read_bytes().count(b"\n") > 5]
        lines = segment.read_bytes().splitlines(keepends=True)
        header, body = lines[:1], lines[1:]
        bad = [b"xx{]\n", b"42\n", b"\n", b'{"k":"z","v":99,"future":true}\n']
        segment.write_bytes(b"".join([*header, *body[:4], *bad, *body[4:]]))
        await world.start()
        assert entries(world) == 10
        assert len(world.store.warnings) >= 2
        world.store.compact()
        for line in (bad[0], bad[1], bad[3]):
            assert everywhere(world, line.strip()), f"{line!r} is lost"
        assert outcomes(await world.check("0-3", "0-7")) == {"0-3": "unchanged", "0-7": "unchanged"}
    finally:
        await world.__aexit__()
    return []


async def nul_filled_file(case: Case, root: Path) -> list[str]:
    for variant in ("tail", "middle"):
        world = await checked_world(root / variant, 40)
        try:
            last = segments(world)[-1]
            raw = last.read_bytes()
            *_, final = raw.splitlines(keepends=True)
            cut = len(raw) if variant == "tail" else len(raw) - len(final)
            last.write_bytes(raw[:cut] + bytes(4096) + (b"" if variant == "tail" else b"\n" + final))
            await world.start()
            assert entries(world) == 40
            assert len(world.store.warnings) == 1, "one warning, not one per byte"
            await world.check("0-0")
            await world.restart()
            assert entries(world) == 41
        finally:
            await world.__aexit__()
    return []


WRITER = """
import sys
from watcher.core.history import Check
from watcher.core.model import Outcome
from watcher.core.state import UrlState
from watcher.store import Entry, Store
store = Store.open(sys.argv[1])
for number in range(10_000):
    name, at = f"w{number % 7}", 1_700_000_000.0 + number
    check = Check(name=name, url="http://h.test/", at=at, outcome=Outcome.ERROR)
    store.append([Entry(state=UrlState(name=name, url="http://h.test/", failures=number), check=check)])
    print(number, flush=True)
"""


def cut_at_power_loss(case: Case, root: Path) -> list[str]:
    """Kill -9 at ten points while checks are written: what was acknowledged is there, and the store opens."""
    for kill_after in (1, 2, 3, 5, 8, 13, 40, 90, 150, 200):
        data = root / str(kill_after)
        data.mkdir(parents=True)
        with subprocess.Popen([sys.executable, "-c", WRITER, data], stdout=subprocess.PIPE, cwd=ROOT) as writer:
            assert writer.stdout is not None
            acknowledged = [int(writer.stdout.readline()) for _ in range(kill_after)][-1]
            writer.kill()
            acknowledged = max([acknowledged, *(int(line) for line in writer.stdout if line.endswith(b"\n"))])
        store = Store.open(data)
        try:
            kept = [check.at for check in store.checks()]
            assert kept[: acknowledged + 1] == [1_700_000_000.0 + number for number in range(acknowledged + 1)]
        finally:
            store.close()
    return []


TWICE = """
import os, sys
from watcher.cli.main import main
main(sys.argv[1:])
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
sys.stderr.write("second run\\n")
sys.exit(main(sys.argv[1:]))
"""


def directory_not_writable(case: Case, root: Path) -> list[str]:
    """As a user who may not write: refused before any request, with path and reason, exit code 3."""
    load_settings(root, [{"name": "nobody answers", "url": "http://127.0.0.1:9/"}])
    data = root / "data"
    arguments = ["--config", str(root / "config.toml"), "--data-dir", str(data), "check"]
    first = _run(["-m", "watcher", *arguments])
    assert first.returncode == 1, first
    for path in [root, *root.parents[:3]]:
        path.chmod(0o755)
    _allow(data, 0o555, 0o444)
    try:
        done = _run(["-c", TWICE, *arguments] if os.geteuid() == 0 else ["-m", "watcher", *arguments])
    finally:
        _allow(data, 0o755, 0o644)
    assert done.returncode == 3, done
    message = done.stderr.rpartition("second run")[2]
    assert str(data) in message, done
    assert "Traceback" not in message
    assert not message.count("nobody answers"), "the page was asked for all the same"
    return []


def _run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def _allow(root: Path, directories: int, files: int) -> None:
    for path in [root, *root.rglob("*")]:
        path.chmod(directories if path.is_dir() else files)


def history_of_years(case: Case, root: Path) -> list[str]:
    """Opening costs what the watches cost, not what their history does (the sizes told, at a fiftieth)."""
    memory = {}
    for entries_written in (1_000, 10_000):
        data = root / str(entries_written)
        _fill(data, entries_written, watches_kept=300)
        tracemalloc.start()
        store = Store.open(data)
        memory[entries_written] = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        page = store.history("w7", limit=5)
        assert [version.at for version in page] == sorted((version.at for version in page), reverse=True)
        older = store.history("w7", limit=5, before=page[-1].at)
        assert all(version.at < page[-1].at for version in older)
        store.close()
    assert memory[10_000] < 2 * memory[1_000], memory
    return []


def _fill(data: Path, count: int, watches_kept: int) -> None:
    store = Store.open(data, durability="os")
    batch = []
    for number in range(count):
        name, at = f"w{number % watches_kept}", EPOCH + number
        record = Record(values={"n": number}, fingerprint=f"1:{number:064x}")
        state = UrlState(name=name, url="http://h.test/", record=record, last_changed_at=at, outcome=Outcome.CHANGED)
        check = Check(name=name, url="http://h.test/", at=at, outcome=Outcome.CHANGED)
        batch.append(Entry(state=state, check=check, version=True))
    store.append(batch)
    store.compact()
    store.close()


STORED: dict[str, Handler] = {
    "torn-last-line": torn_last_line,
    "corrupt-line-in-the-middle": corrupt_line_in_the_middle,
    "nul-filled-file": nul_filled_file,
    "state-file-cut-at-power-loss": cut_at_power_loss,
    "store-directory-not-writable": directory_not_writable,
    "history-of-years": history_of_years,
}
