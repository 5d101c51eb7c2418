"""Content-defined chunks: complete, bounded, and local."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from watcher.core.chunks import LONGEST, chunk


@given(st.text(alphabet="ab \n\u00a0é", max_size=400))
def test_the_chunks_are_the_text(text: str) -> None:
    assert "".join(chunk(text)) == text


def test_chunks_are_bounded_and_an_insertion_stays_local() -> None:
    rng = random.Random(3)
    words = [f"w{rng.randrange(500)}" for _ in range(5_000)]
    before = chunk(" ".join(words))
    after = chunk(" ".join([*words[:2500], "inserted", *words[2500:]]))
    assert all(len(piece.split()) <= LONGEST for piece in before)
    assert 10 < sum(len(piece.split()) for piece in before) / len(before) < 60
    assert len(set(before) ^ set(after)) <= 8
