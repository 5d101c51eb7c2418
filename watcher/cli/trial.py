"""``watcher test``: what a page would be recorded as, and how each field found its value. Stores nothing."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from watcher.cli import compose, select
from watcher.cli.errors import FAILED, FINE, CommandError
from watcher.cli.out import Out, clean, one_line
from watcher.cli.setup import FIELD_HELP, parse_fields
from watcher.core.model import Watch
from watcher.core.settings import Settings
from watcher.core.urls import UrlError, parse_url

if TYPE_CHECKING:
    from watcher.engine.handle import Preview
    from watcher.store import Store

PROSE = """\
Fetch a page once, as politely as a check, and print the record it would give: for each field its value, how many
nodes matched, and what nearly did. Nothing is stored. With --file or --saved nothing is fetched either."""

EXAMPLES = """\
  watcher test https://shop.example/lamp                      what is found without any selector
  watcher test https://shop.example/lamp --field price=.price
  watcher test lamp --field price=.prices                     a configured watch with another field
  watcher test lamp --saved                                   the page saved at the last check
  watcher test lamp --file page.html                          a page you saved yourself"""


def register(commands: Any) -> None:
    """Add the commands of this family."""
    parser = commands.add("test", help="what a page would be recorded as", prose=PROSE, examples=EXAMPLES)
    parser.add_argument("target", metavar="URL_or_NAME", help="a page, or a watch by its name or a part of it")
    parser.add_argument("--field", metavar="NAME=SELECTOR", action="append", dest="fields", help=FIELD_HELP)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--file", metavar="page.html", help="read this file instead of asking the host")
    source.add_argument("--saved", action="store_true", help="read the saved page instead of asking the host")
    parser.set_defaults(func=run_test)


def run_test(options: argparse.Namespace) -> int:
    """Print what would be recorded."""
    settings = compose.read_settings(options)
    watch = _watch(settings, options.target, options.fields)
    with compose.reading(options, settings) as known:
        if options.file is not None:
            preview = _of_file(watch, Path(options.file))
        elif options.saved:
            preview = _of_saved(watch, known.store)
        else:
            preview = asyncio.run(_of_host(watch, settings, known.store))
    _print(Out(json=options.json), preview)
    return FAILED if preview.record is None else FINE


def _watch(settings: Settings, target: str, fields: Sequence[str] | None) -> Watch:
    """The configured watch, or one made up for a URL; with the fields of the command line where there are any."""
    watch = next((watch for watch in settings.watches if watch.name == target), None)
    if watch is None:
        try:
            url = parse_url(target).full
        except UrlError as error:
            if "://" in target:
                raise CommandError(str(error)) from None
            watch = select.select_one(settings, target)
        else:
            watch = Watch(name=url, url=url)
    if not fields:
        return watch
    from watcher.extract import FieldError, compile_fields

    try:
        return msgspec.structs.replace(watch, fields=compile_fields(parse_fields(fields)))
    except FieldError as error:
        raise CommandError(f"--field {error}") from None


def _of_file(watch: Watch, path: Path) -> Preview:
    from mimetypes import guess_type

    from watcher.engine.preview import read_as

    try:
        body = path.read_bytes()
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}") from None
    return read_as(watch, body, content_type=guess_type(path.name)[0], url=watch.url)


def _of_saved(watch: Watch, store: Store) -> Preview:
    from watcher.engine.preview import read_as

    state = store.state(watch.name)
    body = store.body(state.body) if state is not None and state.body else None
    if state is None or body is None:
        raise CommandError(f"no page of {watch.name!r} is saved; `watcher check` saves one", FAILED)
    url = state.effective_url or state.url
    return read_as(watch, body, content_type=state.content_type, url=url, volatile=state.volatile)


async def _of_host(watch: Watch, settings: Settings, store: Store) -> Preview:
    from watcher.engine.preview import preview

    tools = compose.tools(settings, store)
    try:
        return await preview(watch, tools)
    finally:
        await tools.fetcher.aclose()


def _print(out: Out, preview: Preview) -> None:
    from watcher.cli.show import print_record

    if out.json:
        out.record(
            {
                "url": preview.url,
                "record": preview.record.values if preview.record else None,
                "matches": preview.matches,
                "error": preview.error,
                "content_type": preview.content_type,
                "suggested_type": preview.suggested_type,
            }
        )
        return
    kind = f", {one_line(preview.content_type)}" if preview.content_type else ""
    out.line(out.paint(one_line(preview.url), "bold") + kind)
    if preview.record is not None:
        print_record(out, preview.record)
    if preview.matches:
        out.line()
        for sentence in preview.matches:
            out.line(f"  {clean(sentence)}")
    if preview.error:
        out.line(out.paint(f"  {one_line(preview.error)}", "red"))
    elif preview.record is not None:
        out.line(f"\nit reads like a page of type {preview.suggested_type}")
