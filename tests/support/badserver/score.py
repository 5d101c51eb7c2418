"""The counters that the public feed-reader-score project keeps about a client, for one path."""

from __future__ import annotations

from tests.support.badserver.server import BadServer


def score(server: BadServer, path: str) -> dict[str, float]:
    """How a client behaved towards ``path``. Everything but ``requests``, ``current`` and ``min_gap`` should be 0."""
    names = ("requests", "unconditional_after_first", "current", "out_of_sequence", "bogus", "cookies", "referer")
    counts: dict[str, float] = dict.fromkeys((*names, "added_query", "no_user_agent"), 0)
    given, before = server.validators[path], None
    gaps = []
    for place, seen in enumerate(server.requests(path)):
        counts["requests"] += 1
        counts["unconditional_after_first"] += place > 0 and not seen.conditional
        for name, which in ((b"if-none-match", 0), (b"if-modified-since", 1)):
            if (value := seen.get(name)) is not None:
                known = [pair[which] for pair in given[:place] if pair[which] is not None]
                kind = "current" if known and value == known[-1] else "out_of_sequence" if value in known else "bogus"
                counts[kind] += 1
        counts["cookies"] += bool(seen.all(b"cookie"))
        counts["referer"] += bool(seen.all(b"referer"))
        counts["added_query"] += "?" in seen.target
        counts["no_user_agent"] += not seen.all(b"user-agent")
        if before is not None:
            gaps.append(seen.at - before)
        before = seen.at
    return {**counts, "min_gap": min(gaps, default=float("inf"))}
