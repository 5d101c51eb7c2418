"""Suites that others publish, replayed where their files are at hand; none of them is part of this repository.

WATCHER_CACHE_TESTS names the unpacked npm package ``http-cache-tests`` 0.4.5 (``npm pack http-cache-tests``), whose
tables node prints; WATCHER_PROTEGO the unpacked source distribution of protego 0.7.0
(``pip download --no-deps --no-binary protego protego==0.7.0``), whose real robots.txt files are read.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from protego import Protego

from tests.fetch.net import DAY, Net, Poller, virtual
from tests.support.badserver import Reply, Seen
from watcher.core.exchange import Response
from watcher.core.freshness import freshness
from watcher.core.urls import parse_url
from watcher.fetch.robots import Rules

CACHE_TESTS = os.environ.get("WATCHER_CACHE_TESTS", "")
PROTEGO = os.environ.get("WATCHER_PROTEGO", "")
NOW = 1_767_607_200.0
PAUSE = 3.0
"""Seconds the suite waits between a test's two requests, where it does."""

needs_cache_tests = pytest.mark.skipif(not CACHE_TESTS, reason="WATCHER_CACHE_TESTS names no unpacked http-cache-tests")
needs_protego = pytest.mark.skipif(not PROTEGO, reason="WATCHER_PROTEGO names no unpacked protego sources")

GENERATED = ("conditional-etag-strong-generate", "conditional-etag-weak-generate-weak", "conditional-etag-vary-headers")
"""Tests of the ETag suite in which the client asks; the others are about a cache that answers."""

FRESHNESS = ("cc-freshness", "cc-parse", "age-parse", "expires", "expires-parse")

OVERRULED = dict.fromkeys(
    (
        "age-parse-nonnumeric",
        "age-parse-negative",
        "age-parse-float",
        "age-parse-parameter",
        "age-parse-numeric-parameter",
    ),
    "RFC 9111 section 5.1: an Age that is no number is ignored",
) | dict.fromkeys(
    ("age-parse-dup-0", "age-parse-dup-0-twoline", "age-parse-dup-old"),
    "RFC 9111 section 5.1: of several members the first counts",
)
"""Vectors, older than RFC 9111, that it answers otherwise."""


@functools.cache
def suites() -> dict[str, list[dict[str, Any]]]:
    """The tests by suite."""
    script = "const m = await import('./tests/index.mjs'); console.log(JSON.stringify(m.default))"
    command = ["node", "--no-warnings", "--input-type=module", "-e", script]
    run = subprocess.run(command, cwd=CACHE_TESTS, capture_output=True, text=True, check=True)
    return {suite["id"]: suite["tests"] for suite in json.loads(run.stdout)}


def lines(request: dict[str, Any], now: float) -> list[tuple[str, str]]:
    """The header fields of a described response; numbers in date fields are seconds from now."""
    found = []
    for name, value, *_ in request.get("response_headers", []):
        if isinstance(value, int) and name.lower() in ("date", "expires", "last-modified"):
            value = formatdate(now + value, usegmt=True)
        found.append((name, str(value)))
    return found


@needs_cache_tests
def test_freshness_is_read_as_the_suite_reads_it() -> None:
    told, differs = 0, []
    for test in (test for suite in FRESHNESS for test in suites()[suite]):
        first, *rest = test["requests"]
        expected = rest[0].get("expected_type") if rest else None
        if (
            test.get("kind") == "check"
            or expected not in ("cached", "not_cached")
            or "s-maxage" in json.dumps(first)
            or "request_headers" in rest[0]
        ):
            continue
        fields = tuple((n.encode(), v.encode("latin-1")) for n, v in lines(first, NOW))
        response = Response(
            url="http://h.test/", status=200, headers=fields, body=b"", received_at=NOW, elapsed=0.0, bytes_wire=0
        )
        told += 1
        until = freshness(response).until(NOW)
        fresh = until is not None and until > NOW + (PAUSE if first.get("pause_after") else 0.0)
        if fresh is not (expected == "cached") and test["id"] not in OVERRULED:
            differs.append(test["id"])
    assert told >= 39
    assert differs == []


@needs_cache_tests
@virtual
async def test_conditional_requests_are_those_the_suite_expects(net: Net) -> None:
    tests = [t for t in suites()["conditional-inm"] if t["id"] in GENERATED] + suites()["update304"]
    for test in tests:
        served = [r for r in test["requests"] if r.get("expected_type") != "cached"]
        path = "/" + test["id"]

        def answer(seen: Seen, served: list[dict[str, Any]] = served) -> Reply:
            number = min(seen.nth, len(served)) - 1
            fields = [(n, v) for n, v in lines(served[number], net.clock.now()) if n.lower() != "content-length"]
            if not served[number].get("expected_type", "").endswith("validated"):
                return Reply(200, list(fields), b"body")
            before = dict(lines(served[number - 1], net.clock.now()))
            held = {seen.get(b"if-none-match"), seen.get(b"if-modified-since")} - {None}
            matched = held & {before.get("ETag", "").encode(), before.get("Last-Modified", "").encode()}
            return Reply(304 if matched else 999, list(fields))

        net.server.pages[path] = answer
        poller = Poller(net, path)
        verdicts = []
        for _ in served:
            verdicts.append((await poller.check()).verdict)
            await net.clock.advance(DAY)
        # Rule 8: an ETag of the 304 that is another page's confirms nothing.
        unproven = test["id"] == "304-etag-update-response-ETag"
        assert verdicts[1:] == ["unproven" if unproven else "same"] * (len(served) - 1), test["id"]


@needs_protego
@pytest.mark.slow
def test_real_robots_files_are_read_as_protego_reads_them() -> None:
    """Four thousand files: no one breaks us, and where no group names a part of our token, both agree on every path."""
    paths = ("/", "/index.html", "/search?q=lamp", "/admin/", "/wp-admin/x.php", "/a/b/c.pdf", "/products/1?sort=2")
    files = sorted(Path(PROTEGO).glob("tests/test_data/**/*"))
    told, differs = 0, []
    for file in (file for file in files if file.is_file()):
        text = file.read_bytes().decode("utf-8-sig", "replace")
        ours, theirs = Rules(text, "watcher"), Protego.parse(text)
        for path in paths:
            url = f"http://h.test{path}"
            told += 1
            if ours.allows(parse_url(url)) != theirs.can_fetch(url, "watcher"):
                differs.append((file.name, path))
    assert told > 20_000
    assert differs == []
