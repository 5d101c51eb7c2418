"""Bodies: content-addressed, chained as deltas, checked whenever they are read."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.store.making import QuickFS
from watcher.store.bodies import CHAIN, Bodies
from watcher.store.layout import Layout


@pytest.fixture
def bodies(ram: Path) -> Bodies:
    layout = Layout(QuickFS(), str(ram / "data"))
    layout.make()
    return Bodies(layout)


def page(i: int, size: int = 400) -> bytes:
    rnd = random.Random(1)
    words = [f"w{rnd.randrange(9999)}" for _ in range(size)]
    words[i % size] = f"changed-{i}"
    return " ".join(words).encode()


def depth(bodies: Bodies, digest: str) -> int:
    """How many deltas must be undone to read a body."""
    header, steps = bodies.header(digest), 0
    while header is not None and header.base is not None:
        steps, header = steps + 1, bodies.header(header.base)
    assert header is not None
    return steps


def test_the_newest_is_whole_and_older_ones_are_small(bodies: Bodies) -> None:
    digests: list[str] = []
    for i in range(12):
        digests.append(bodies.put(page(i), digests[-1] if digests else None))
    assert [depth(bodies, d) for d in digests] == list(range(11, -1, -1))
    assert [bodies.get(d) for d in digests] == [page(i) for i in range(12)]
    sizes = [os.path.getsize(bodies.path(d)) for d in digests]
    assert max(sizes[:-1]) < sizes[-1] / 4


def test_chains_end_at_sixteen(bodies: Bodies) -> None:
    digests: list[str] = []
    for i in range(60):
        digests.append(bodies.put(page(i), digests[-1] if digests else None))
    depths = [depth(bodies, d) for d in digests]
    assert max(depths) == CHAIN
    assert depths[-1] == 0
    assert depths.count(0) <= 60 // CHAIN + 1
    assert [bodies.get(d) for d in digests] == [page(i) for i in range(60)]


@given(
    moves=st.lists(st.tuples(st.integers(0, 6), st.one_of(st.none(), st.integers(0, 6)), st.booleans()), max_size=40),
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_pages_that_come_back_and_bodies_that_go(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[int, int | None, bool]]
) -> None:
    """Any order of pages, returns to earlier ones included, and removals: the others always read back."""
    layout = Layout(QuickFS(), str(tmp_path_factory.mktemp("bodies")))
    layout.make()
    bodies, kept = Bodies(layout), {}
    for number, base, remove in moves:
        data = page(number)
        if remove and kept:
            doomed = sorted(kept)[number % len(kept)]
            del kept[doomed]
            bodies.remove({doomed})
        else:
            digest = bodies.put(data, sorted(kept)[base % len(kept)] if base is not None and kept else None)
            kept[digest] = data
            assert depth(bodies, digest) == 0
        assert set(bodies.all()) == kept.keys()
        for digest, expected in kept.items():
            assert bodies.get(digest) == expected
            assert depth(bodies, digest) <= CHAIN


def test_removing_the_middle_of_a_chain_rests_the_others_on_what_is_left(bodies: Bodies) -> None:
    digests: list[str] = []
    for i in range(6):
        digests.append(bodies.put(page(i), digests[-1] if digests else None))
    assert bodies.remove({digests[2], digests[3], digests[5]}) == 3
    assert [bodies.get(d) for d in digests] == [page(0), page(1), None, None, page(4), None]
    assert depth(bodies, digests[4]) == 0
    assert depth(bodies, digests[1]) == 1


def test_a_damaged_or_missing_body_is_none_and_can_be_put_again(bodies: Bodies) -> None:
    old = bodies.put(page(1))
    new = bodies.put(page(2), old)
    path = Path(bodies.path(new))
    good = path.read_bytes()
    for place in range(0, len(good), 7):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        assert bodies.get(new) in (None, page(2)), place
        assert bodies.get(old) in (None, page(1)), place
    path.write_bytes(b"")
    assert bodies.get(new) is bodies.get(old) is None
    assert bodies.get("0" * 64) is None
    assert bodies.put(page(2)) == new
    assert bodies.get(old) == page(1)


def test_bodies_that_rest_on_each_other_in_a_ring_are_none(bodies: Bodies) -> None:
    one, two = bodies.put(page(1)), bodies.put(page(2))
    for digest, base in ((one, two), (two, one)):
        Path(bodies.path(digest)).write_bytes(b'{"base":"%s","size":1}\n' % base.encode())
    assert bodies.get(one) is None


@pytest.mark.parametrize("data", [b"", b"x", b"\0" * 1000, bytes(range(256)) * 20])
def test_odd_bodies(bodies: Bodies, data: bytes) -> None:
    first = bodies.put(data)
    second = bodies.put(data + b"more", first)
    third = bodies.put(data, second)
    assert third == first
    assert bodies.get(first) == data
    assert bodies.get(second) == data + b"more"


def test_a_large_page_is_a_small_delta(bodies: Bodies) -> None:
    rnd = random.Random(3)
    old = rnd.randbytes(3_000_000)
    first = bodies.put(old)
    bodies.put(old[:1_000_000] + b"one more word" + old[1_000_000:], first)
    assert os.path.getsize(bodies.path(first)) < 10_000
    assert bodies.get(first) == old
