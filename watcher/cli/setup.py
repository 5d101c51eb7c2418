"""``watcher init``, ``watcher add`` and ``watcher themes``: the configuration, written and explained."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from watcher import paths
from watcher.cli import compose
from watcher.cli.errors import FAILED, FINE, CommandError
from watcher.cli.out import Out, one_line, span

INIT_PROSE = """\
Write a configuration in which every key stands, commented, with what it means. Only where there is none yet:
an existing file is never touched."""

INIT_EXAMPLES = """\
  watcher init
  watcher --config ~/pages/config.toml init"""

ADD_PROSE = """\
Watch one or more pages. They are written to watches.toml beside the configuration, after the whole was found to be
right; the configuration itself is not touched. A running watcher takes them up at once."""

ADD_EXAMPLES = """\
  watcher add https://example.org/news https://example.org/jobs
  watcher add https://shop.example/lamp --name 'Desk lamp' --type detail --tag shop
  watcher add https://shop.example/lamp --field title=h1 --field price=.price
  watcher add https://api.example/v1/status --field state=json:status"""

THEMES_PROSE = """\
List the themes by name: those that ship, your own (TOML files in themes/ beside the configuration), and those of the
screen's library. The one in force is marked. Put the name under [watcher] as theme = "..."."""


def register(commands: Any) -> None:
    """Add the commands of this family."""
    parser = commands.add("init", help="write a commented configuration", prose=INIT_PROSE, examples=INIT_EXAMPLES)
    parser.set_defaults(func=run_init)
    parser = commands.add("add", help="watch one or more pages", prose=ADD_PROSE, examples=ADD_EXAMPLES)
    parser.add_argument("urls", metavar="URL", nargs="+", help="a page, http:// or https://")
    parser.add_argument("--name", help="its name (with one URL); the URL without it")
    parser.add_argument("--type", help="page type: index, listing (the default), detail, archive, or your own")
    parser.add_argument("--tag", metavar="TAG", action="append", dest="tags", help="may be given more than once")
    parser.add_argument("--interval", metavar="3h", help="how often to check to begin with")
    parser.add_argument("--policy", help="adaptive, estimated, fixed or cron")
    parser.add_argument("--field", metavar="NAME=SELECTOR", action="append", dest="fields", help=FIELD_HELP)
    parser.set_defaults(func=run_add)
    parser = commands.add("themes", help="list the screen's themes", prose=THEMES_PROSE, examples="  watcher themes")
    parser.set_defaults(func=run_themes)


FIELD_HELP = "a field: CSS, or xpath:..., json:..., regex:... after the =; may be given more than once"


def parse_fields(texts: Sequence[str] | None) -> dict[str, Any]:
    """``name=SELECTOR`` options as field definitions. Raises :class:`CommandError`."""
    fields: dict[str, Any] = {}
    for text in texts or ():
        name, equals, selector = text.partition("=")
        if not (name.strip() and equals and selector.strip()):
            raise CommandError(f"--field {text!r}: write NAME=SELECTOR, for example --field price=.price")
        kind, colon, rest = selector.partition(":")
        picked = {kind: rest} if colon and kind in ("xpath", "json", "regex", "css") else selector
        if fields.setdefault(name.strip(), picked) is not picked:
            raise CommandError(f"--field {name.strip()!r} is given twice")
    return fields


def run_init(options: argparse.Namespace) -> int:
    """Write the commented configuration."""
    from watcher.config import write_config

    path, _ = compose.config_file(options)
    try:
        write_config(path, first_config())
    except FileExistsError:
        raise CommandError(f"{path} exists already and was left as it is") from None
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror}") from None
    out = Out(json=options.json)
    if out.json:
        out.record({"config": str(path)})
    else:
        out.line(f"wrote {path}: every key stands there, commented. `watcher add URL` watches a first page.")
    return FINE


def first_config() -> str:
    """The example with its watches commented out: a configuration that watches nothing yet."""
    example = paths.example_config().read_text("utf-8")
    settings, mark, watches = example.partition("[[watch]]\n")
    lines = [line if not line or line.startswith("#") else f"# {line}" for line in (mark + watches).splitlines()]
    return settings + "\n".join(lines) + "\n"


def run_add(options: argparse.Namespace) -> int:
    """Append the watches to watches.toml."""
    from watcher.config import ADDED, add_watches, load

    if options.name is not None and len(options.urls) > 1:
        raise CommandError("--name belongs to one URL; name the others in a second call")
    fields = parse_fields(options.fields)
    shared = {key: getattr(options, key) for key in ("type", "tags", "interval", "policy")}
    path, _ = compose.config_file(options)
    before = load(path, required=False)
    entries = [{"name": options.name, "url": url, **shared, "fields": fields or None} for url in options.urls]
    try:
        settings = add_watches(path, entries)
    except OSError as error:
        raise CommandError(f"cannot write {path.with_name(ADDED)}: {error.strerror}", FAILED) from None
    out = Out(json=options.json)
    for watch in settings.watches[len(before.watches) :]:
        if out.json:
            out.record({"name": watch.name, "url": watch.url, "type": watch.type, "file": watch.declared_in})
        else:
            every = span(watch.cadence.interval * watch.cadence.weight)
            out.line(f"added {one_line(watch.name)} ({watch.type}, every {every} to begin with) to {watch.declared_in}")
    for warning in settings.warnings if not out.json else ():
        if warning not in before.warnings:
            out.line(f"note: {one_line(warning)}")
    return FINE


def run_themes(options: argparse.Namespace) -> int:
    """List the themes."""
    from watcher.config.screen import BUILTIN_THEMES, theme_names

    settings = compose.read_settings(options)
    path, _ = compose.config_file(options)
    kinds = (
        ("shipped", sorted(theme_names(paths.shipped_themes()))),
        ("own", sorted(theme_names(paths.own_themes(path)))),
        ("library", sorted(BUILTIN_THEMES)),
    )
    out = Out(json=options.json)
    for kind, names in kinds:
        for name in names:
            chosen = name == settings.screen.theme
            if out.json:
                out.record({"name": name, "kind": kind, "chosen": chosen})
            else:
                out.line(f"{'*' if chosen else ' '} {one_line(name):<24} {kind}")
    return FINE
