"""Which watches a PATTERN on the command line means."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from watcher.cli.errors import CommandError
from watcher.core.model import Watch
from watcher.core.settings import Settings
from watcher.core.state import Summary

HELP = "a name, a part of a name or URL, or a pattern such as 'https://shop.*' (quote it)"


def select(settings: Settings, patterns: Sequence[str]) -> list[Watch]:
    """The configured watches that any of ``patterns`` means, in the order of the configuration; all without patterns.

    Raises :class:`CommandError` for a pattern that means nobody.
    """
    if not patterns:
        return list(settings.watches)
    chosen = set(select_names({watch.name: watch.url for watch in settings.watches}, patterns))
    return [watch for watch in settings.watches if watch.name in chosen]


def add_filter(parser: argparse.ArgumentParser) -> None:
    """The option ``--filter``."""
    parser.add_argument(
        "--filter", metavar="QUERY", help="as the screen's /: 'status:failing tag:shop changed:<2d lamp'"
    )


def filtered(
    watches: Sequence[Watch], query: str | None, summary: Callable[[str], Summary | None], now: float
) -> list[Watch]:
    """Those of ``watches`` that ``query`` matches. Raises :class:`CommandError` for one nobody can follow."""
    if query is None:
        return list(watches)
    from watcher.core.query import QueryError, parse

    try:
        wanted = parse(query)
    except QueryError as error:
        raise CommandError(f"--filter: {error}") from None
    return [watch for watch in watches if wanted.matches(watch, summary(watch.name), now)]


def select_one(settings: Settings, pattern: str) -> Watch:
    """The one configured watch ``pattern`` means. Raises :class:`CommandError` for none or several."""
    name = select_name({watch.name: watch.url for watch in settings.watches}, pattern)
    return next(watch for watch in settings.watches if watch.name == name)


def select_names(known: Mapping[str, str], patterns: Sequence[str]) -> list[str]:
    """The names among ``known`` (name -> URL) that ``patterns`` mean; a whole name means itself alone.

    Raises :class:`CommandError` for a pattern that means nobody.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        meant = [pattern] if pattern in known else [n for n, url in known.items() if _means(pattern, n, url)]
        if not meant:
            near = get_close_matches(pattern, known, n=1)
            advice = f"did you mean {near[0]!r}?" if near else "`watcher list` shows them all"
            raise CommandError(f"no watch is meant by {pattern!r}; {advice}")
        found.update(dict.fromkeys(meant))
    return list(found)


def select_name(known: Mapping[str, str], pattern: str) -> str:
    """The one name among ``known`` that ``pattern`` means. Raises :class:`CommandError` for none or several."""
    found = select_names(known, [pattern])
    if len(found) > 1:
        shown = ", ".join(map(repr, found[:4])) + (", ..." if len(found) > 4 else "")
        raise CommandError(f"{pattern!r} means {len(found)} watches: {shown}; give the whole name")
    return found[0]


def _means(pattern: str, name: str, url: str) -> bool:
    folded, texts = pattern.casefold(), (name.casefold(), url.casefold())
    if any(char in pattern for char in "*?["):
        return any(fnmatchcase(text, folded) for text in texts)
    return any(folded in text for text in texts)
