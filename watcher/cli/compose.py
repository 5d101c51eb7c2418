"""The composition root: options -> settings, store, engine. Each part is imported when a command needs it."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from watcher import paths
from watcher.cli.out import clean
from watcher.core.settings import HostSettings, Settings
from watcher.core.urls import UrlError, parse_url

if TYPE_CHECKING:
    from watcher.cli.work import Work
    from watcher.engine.tools import Tools
    from watcher.engine.viewer import Viewer
    from watcher.notify import Outbox
    from watcher.store import Store

Reload = Callable[[], Settings | tuple[str, ...] | None]


def config_file(options: argparse.Namespace) -> tuple[Path, bool]:
    """The configuration file, and whether the user named it (then it must be there)."""
    return paths.config_file(options.config), bool(options.config or os.environ.get("WATCHER_CONFIG"))


def read_settings(options: argparse.Namespace, *, warn: bool = False) -> Settings:
    """The configuration in force. ``warn`` prints what looks like a slip. Raises :class:`ConfigError`."""
    from watcher.config import load

    path, named = config_file(options)
    settings = load(path, required=named)
    for sentence in settings.warnings if warn else ():
        sys.stderr.write(f"watcher: note: {clean(sentence)}\n")
    return settings


def reloading(options: argparse.Namespace) -> Reload:
    """What the engine asks now and then for an edited configuration."""
    from watcher.config import ConfigError, Reloader

    reloader = Reloader(config_file(options)[0])

    def reload() -> Settings | tuple[str, ...] | None:
        found = reloader.poll()
        return tuple(map(str, found.problems)) if isinstance(found, ConfigError) else found

    return reload


class Known:
    """What is configured and what is stored, looked at together."""

    def __init__(self, settings: Settings, store: Store) -> None:
        from watcher.cli.clock import SystemClock
        from watcher.engine.reader import Reader

        self.settings = settings
        self.store = store
        self.reader = Reader(settings, store, SystemClock())
        self.now = self.reader.now()

    def names(self) -> dict[str, str]:
        """Name -> URL of every watch that is configured or has a past."""
        found = {watch.name: watch.url for watch in self.settings.watches}
        for name, summary in self.store.summaries.items():
            found.setdefault(name, summary.url)
        return found


@contextmanager
def reading(options: argparse.Namespace, settings: Settings) -> Iterator[Known]:
    """The store open beside whoever writes it, with what is configured. Raises :class:`StoreError`."""
    from watcher.store import Store

    with Store.open(paths.data_dir(options.data_dir), mode="read") as store:
        yield Known(settings, store)


@contextmanager
def writing(options: argparse.Namespace, settings: Settings) -> Iterator[Store]:
    """The store open for writing, alone. Raises :class:`StoreError`."""
    from watcher.store import Store

    root = paths.data_dir(options.data_dir)
    with Store.open(
        root,
        durability=settings.durability,
        allow_network_fs=bool(options.allow_network_fs),
        # Nothing is written unasked: whoever watches nothing yet gets no data directory for having looked.
        deferred=not settings.watches,
    ) as store:
        yield store


@contextmanager
def working(
    options: argparse.Namespace,
    settings: Settings,
    *,
    reload: Reload | None = None,
    report: Callable[[str], None] | None = None,
) -> Iterator[Work]:
    """An engine and its outbox over the store open for writing; what they log goes to the log file.

    ``report`` is told what keeps news from being told, besides the log. Raises :class:`StoreError`.
    """
    from watcher.cli.clock import SystemClock
    from watcher.cli.log import log_to_file
    from watcher.cli.work import Work
    from watcher.engine.engine import Engine
    from watcher.fetch import Transport

    with writing(options, settings) as store:
        log_to_file(options)
        with sending(options, settings, report) as outbox:
            transport = Transport()
            engine = Engine(settings, store, SystemClock(), transport, reload=reload, outbox=outbox)
            # What was read so far stays for good; from here on the garbage collector has a long-lived program to serve.
            gc.freeze()
            gc.enable()
            yield Work(engine, outbox, transport)


@contextmanager
def sending(
    options: argparse.Namespace, settings: Settings, report: Callable[[str], None] | None = None
) -> Iterator[Outbox]:
    """The outbox of the data directory; only for who has its store open for writing."""
    import logging

    from watcher.cli.clock import SystemClock
    from watcher.fetch.secrets import Vault
    from watcher.notify import Outbox

    def tell(sentence: str) -> None:
        logging.getLogger("watcher.notify").warning("%s", sentence)
        if report is not None:
            report(sentence)

    root = paths.data_dir(options.data_dir)
    with closing(Outbox(settings.notify, root, SystemClock(), reveal=Vault().reveal, report=tell)) as outbox:
        yield outbox


def complain(sentence: str) -> None:
    """Say on standard error what went wrong beside the checks."""
    sys.stderr.write(f"watcher: {clean(sentence)}\n")


def note_nothing(options: argparse.Namespace) -> None:
    """Say on standard error that there is nothing to watch, and the way out."""
    path, _ = config_file(options)
    hint = "" if path.exists() else f"; `watcher init` writes a commented {path}"
    sys.stderr.write(f"watcher: no watches are configured: `watcher add URL` adds one{hint}\n")


def now() -> float:
    """Unix seconds, UTC."""
    from watcher.cli.clock import SystemClock

    return SystemClock().now()


@contextmanager
def viewing(options: argparse.Namespace, settings: Settings) -> Iterator[Viewer]:
    """A handle that follows the store while another process writes it. Raises :class:`StoreError`."""
    from watcher.cli.clock import SystemClock
    from watcher.engine.viewer import Viewer
    from watcher.store import Store

    with Store.open(paths.data_dir(options.data_dir), mode="read") as store:
        gc.freeze()
        gc.enable()
        yield Viewer(settings, store, SystemClock())


def tools(settings: Settings, store: Store) -> Tools:
    """What a single look at a page is made with, without an engine. Nothing goes back to a store opened for reading."""
    from watcher.cli.borrow import Borrowed
    from watcher.cli.clock import SystemClock
    from watcher.engine.tools import Tools
    from watcher.fetch import Fetcher, Transport

    clock = SystemClock()

    def host_settings(url: str) -> HostSettings:
        try:
            return settings.host(parse_url(url).host)
        except UrlError:
            return settings.host_default

    fetcher = Fetcher.over(Borrowed(store), Transport(), clock, contact=settings.contact, settings_for=settings.host)
    return Tools(
        store=store,
        fetcher=fetcher,
        clock=clock,
        jitter=lambda: 0.0,
        host_settings=host_settings,
        crowd=lambda url: 1,
        tell=lambda told: None,
    )
