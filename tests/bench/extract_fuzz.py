"""Mutated pages: ``python -m tests.bench.extract_fuzz [COUNT] [SEED]``.

No crash, no hang, the same bytes the same record, and every change shown.

Every page is read with fields and without; what cannot be read must say so in one line. The fingerprints of a
sample are computed again in another process under another hash seed.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator

from tests.bench.extract_cost import page
from watcher.core.diff import changes_between, diff_changes
from watcher.core.model import Record
from watcher.core.render import unified
from watcher.extract import ExtractError, extract_record
from watcher.extract.fields import Definitions

SLOWEST = 2.0
"""Seconds of CPU one page may take."""
FIELDS: Definitions = {
    "title": {"css": "h1", "optional": True},
    "price": {"css": ".price", "type": "price", "optional": True},
    "links": {"xpath": "//a/@href", "all": True, "optional": True},
    "text": {"css": "main", "type": "content", "optional": True, "remove": ["script", "[class]"]},
    "data": {"json": "a.b[0]", "optional": True},
    "rows": {"css": "li", "optional": True, "each": {"t": {"css": ":scope > a", "optional": True}}},
    "raw": {"css": "p", "type": "html", "optional": True},
}
SEEDS: tuple[tuple[bytes, str], ...] = (
    (page(2).encode(), "text/html"),
    (page(3, seed=2).encode(), "text/html; charset=utf-8"),
    (
        b'<h1>T</h1><a href="/cdn-cgi/l/email-protection#7f1e"><i data-cfemail="7f1e3f">x</i></a>'
        b"<main><p>Some text that a reader finds here.<table><td>1<svg><p>&#0;<pre>a\n  b</pre></main>",
        "text/html",
    ),
    (
        b'<?xml version="1.0"?><rss version="2.0"><channel><title>T</title><item><title>A</title><guid>1</guid></item>'
        b"<item><link>http://h.test/?utm_source=x</link><description>&lt;b&gt;</description></item></channel></rss>",
        "application/rss+xml",
    ),
    (b'{"a":{"b":[1,2.50,null,"x"]},"c":"\\u00e9"}', "application/json"),
    ("line one\nZeile zwei äöü\n".encode("latin-1"), "text/plain"),
)
PIECES = (
    b"<", b">", b"</", b"<!--", b"]]>", b"<![CDATA[", b"<table>", b"<svg>", b"<math>", b"<template>", b"<select>",
    b"&#x110000;",    b"&amp", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"<a href='//[::'>", b"<base href='http://['>",
    b'"', b"'", b"[" * 300, b"<div>" * 300, b"<b><i>" * 50, b"```\n", b"<pre>", b"\r",
    b"<meta http-equiv=refresh content='0;url=x'>",
    b'<script type="application/ld+json">{"@type":"Product","offers":[[{"price":1e999}]]}</script>',
    b"<!ENTITY a 'b'>", b"9" * 400,
)  # fmt: skip
TYPES = (
    "text/html",
    "text/html; charset=utf-16",
    "application/xml",
    "application/json",
    "text/plain",
    None,
    "a/b; charset=x",
)


def mutated(rng: random.Random) -> tuple[bytes, str | None]:
    """One body and its label: a seed with bytes cut, doubled, replaced, inserted."""
    seed, label = rng.choice(SEEDS)
    body = bytearray(seed)
    for _ in range(rng.randrange(1, 12)):
        at = rng.randrange(len(body) + 1)
        match rng.randrange(5):
            case 0:
                del body[at : at + rng.randrange(1, 200)]
            case 1:
                body[at:at] = rng.choice(PIECES)
            case 2:
                body[at:at] = body[at : at + rng.randrange(1, 400)]
            case 3:
                body[at : at + 1] = rng.randbytes(rng.randrange(1, 4))
            case _:
                body[at:at] = rng.choice(SEEDS)[0][: rng.randrange(300)]
    return bytes(body), label if rng.random() < 0.8 else rng.choice(TYPES)


def outcome(body: bytes, content_type: str | None, fields: Definitions | None) -> Record | str:
    """The record, or the error's sentence."""
    try:
        return extract_record(body, content_type=content_type, url="https://h.test/a/b", fields=fields)
    except ExtractError as error:
        sentence = str(error)
    assert "\n" not in sentence, sentence
    assert sentence.isprintable(), repr(sentence)
    return sentence


def run(count: int, seed: int) -> Iterator[str]:
    """The fingerprints, or refusals, of ``count`` mutated pages, two a page; every change between records is shown."""
    rng = random.Random(seed)
    last: dict[bool, Record] = {}
    for number in range(count):
        body, content_type = mutated(rng)
        start = time.process_time()
        both = [(named, outcome(body, content_type, FIELDS if named else None)) for named in (False, True)]
        for named, result in both:
            if isinstance(result, Record):
                changes = changes_between(last.get(named, result), result)
                assert bool(changes) == (last.get(named, result).fingerprint != result.fingerprint)
                assert len(unified(diff_changes(changes))) >= 2 * len(changes)
                last[named] = result
        spent = time.process_time() - start
        assert spent < SLOWEST, f"page {number} of seed {seed} took {spent:.1f} s"
        yield from (result.fingerprint if isinstance(result, Record) else result for _, result in both)


def elsewhere(count: int, seed: int, hash_seed: int) -> list[str]:
    """The same outcomes, from another process under another hash seed."""
    code = f"from tests.bench.extract_fuzz import run; print(*run({count}, {seed}), sep='\\n')"
    env = {"PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    start = time.process_time()
    outcomes = list(run(count, seed))
    read = sum(text.startswith("1:") for text in outcomes)
    sample = min(count, 500)
    assert outcomes[: 2 * sample] == elsewhere(sample, seed, 4242), "another process gives other fingerprints"
    print(
        f"{count} pages, {read} records and {len(outcomes) - read} refusals, {time.process_time() - start:.1f} s of CPU"
    )


if __name__ == "__main__":
    main()
