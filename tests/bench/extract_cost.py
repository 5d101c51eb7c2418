"""What extraction and diffing cost, as ratios: ``python -m tests.bench.extract_cost``.

Every number is the least CPU time of several runs in this process, because others may use the machine.
parsel is compared when it is installed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from watcher.core.align import gaps
from watcher.core.diff import diff_values
from watcher.core.fingerprint import block_hash
from watcher.core.words import word_diff
from watcher.extract import extract_record

STEMS = "lorem ipsum dolor sit amet magna aliqua minim veniam quis"
WORDS = [f"{a}{b}" for a in STEMS.split() for b in ("", "s", "ed")]


def page(kilobytes: int, seed: int = 1) -> str:
    """A shop page of about this size, a quarter of it text as on real pages: menu, data, scripts, cards, paragraphs."""
    rng = random.Random(seed)

    def text(count: int) -> str:
        return " ".join(rng.choice(WORDS) for _ in range(count))

    def name() -> str:
        return f"css-{rng.randrange(16**6):06x} mt-{rng.randrange(9)} {rng.choice(WORDS)}"

    def items(count: int) -> str:
        return "".join(f'<li class="{name()}">{text(8)}</li>' for _ in range(count))

    menu = "".join(f'<li class="{name()}"><a class="{name()}" href="/c/{i}">{text(2)}</a></li>' for i in range(9))
    head = (
        '<!doctype html><html><head><meta charset="utf-8"><title>Lamp</title><style>p{margin:0}</style>'
        '<script type="application/ld+json">{"@type":"Product","name":"Lamp","offers":{"price":"19.99",'
        '"priceCurrency":"EUR","availability":"https://schema.org/InStock"}}</script></head><body>'
        f'<nav><ul>{menu}</ul></nav><main><h1 class="title">Lamp</h1><p class="price">19,99 €</p><p id="sku">L-1</p>'
    )
    parts, size = [head], len(head)
    while size < kilobytes * 1024:
        link = f'<a class="{name()}" data-track="{name()}" href="/x?id={rng.randrange(9999)}">{text(3)}</a>'
        image = f'<img class="{name()}" alt="" src="/i/{rng.randrange(9**9)}.webp" width="320" height="240">'
        part = rng.choice(
            (
                f'<div class="{name()}"><h2 class="{name()}">{text(4)}</h2><div class="{name()}">{image}</div></div>',
                f'<section class="{name()}"><p>{text(40)} {link} <b>{text(2)}</b>.</p></section>',
                f'<div class="{name()}"><div class="{name()}">{image}<div>{link}</div></div></div>',
                f'<div class="{name()}"><ul>{items(4)}</ul></div>',
                f"<script>window.n={rng.randrange(9999)};{'track();' * 60}</script>",
            )
        )
        parts.append(part)
        size += len(part)
    return "".join([*parts, "</main><footer><p>© 2026 Shop</p></footer></body></html>"])


def cpu(work: Callable[[], object], runs: int = 9) -> float:
    """The least CPU seconds of one call in several runs; what is over at once is repeated within each run."""
    start = time.process_time()
    work()
    repeat = max(1, int(0.02 / max(time.process_time() - start, 1e-4))) if runs > 1 else 1
    times = []
    for _ in range(runs):
        start = time.process_time()
        for _ in range(repeat):
            work()
        times.append((time.process_time() - start) / repeat)
    return min(times)


def show(name: str, seconds: float, ratio: float | None = None, against: str = "") -> None:
    beside = f"   {ratio:6.2f} x {against}" if ratio is not None else ""
    print(f"{name:52s} {seconds * 1000:10.2f} ms{beside}")


def fields_cost() -> None:
    body = page(50).encode()
    fields = {"title": "h1.title", "price": ".price", "sku": "#sku"}
    ours = cpu(lambda: extract_record(body, content_type="text/html; charset=utf-8", fields=fields))
    try:
        from parsel import Selector
    except ImportError:
        show("50 KB, three CSS fields", ours)
        return

    def theirs() -> list[str | None]:
        selector = Selector(body.decode())
        return [selector.css(f"{css}::text").get() for css in fields.values()]

    parsel = cpu(theirs)
    show("50 KB, three CSS fields", ours, ours / parsel, "parsel")


def smart_cost() -> None:
    from turbohtml import parse

    def compare(label: str, body: bytes) -> None:
        parsing = cpu(lambda: parse(body.decode()))
        ours = cpu(lambda: extract_record(body, content_type="text/html; charset=utf-8"))
        show(f"{label}, smart record and fingerprint", ours, ours / parsing, "the parse")

    for kilobytes in (5, 50, 500):
        compare(f"{kilobytes} KB", page(kilobytes).encode())
    text = "".join(f"<p>{' '.join(WORDS)} <b>{i}</b></p>" for i in range(220))
    compare("50 KB of nothing but text", f"<title>T</title>{text}".encode())


def diff_cost() -> None:
    before = extract_record(page(500).encode()).values["content"]
    after = list(before)
    for place in range(6):
        index = (place + 1) * len(after) // 7
        after[index] = after[index].replace(" ", " EDITED ", 1)
    hashing = cpu(lambda: [block_hash(block) for block in [*before, *after]])
    show(f"500 KB, block hash pass ({len(before)} blocks, both sides)", hashing)
    ours = cpu(lambda: diff_values(before, after))
    show("500 KB, six edits, word diff", ours, ours / hashing, "the hash pass")


def bounds() -> None:
    """Inputs on which something quadratic would take minutes."""
    rng = random.Random(2)
    many = [f"block {rng.randrange(10**9)} of {rng.choice(WORDS)}" for _ in range(100_000)]
    edited = [f"{block} edited" if i % 1000 == 0 else block for i, block in enumerate(many)]
    show("100,000 blocks, 100 edits, diff", cpu(lambda: diff_values(many, edited), 3))
    show("100,000 blocks, all others, diff", cpu(lambda: diff_values(many, [f"x{b}y" for b in many]), 1))
    equal = ["same"] * 100_000
    show("100,000 equal blocks against 99,999, gaps", cpu(lambda: gaps(equal, equal[1:]), 3))
    swapped = ["a", "b"] * 50_000
    show("100,000 alternating blocks, shifted and turned", cpu(lambda: gaps(swapped, swapped[1:][::-1]), 3))
    nested = ("<div>" * 100_000 + "deep").encode()
    show("100,000 nested elements, smart record", cpu(lambda: extract_record(nested), 3))
    line = " ".join(rng.choice(WORDS) for _ in range(800_000))
    other = line[:2_000_000] + " here is new " + line[2_000_000:4_000_000] + line[4_000_100:]
    show(f"one line of {len(line) / 1e6:.1f} MB, two edits, word diff", cpu(lambda: word_diff(line, other), 1))
    blank = "x" * 5_000_000
    show("5 MB without a blank, one edit, word diff", cpu(lambda: word_diff(blank, blank[:-9] + "y" + blank[-9:]), 1))


if __name__ == "__main__":
    fields_cost()
    smart_cost()
    diff_cost()
    bounds()
