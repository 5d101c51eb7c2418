"""The configuration as frozen values. ``watcher.config`` makes them from TOML; everybody else is handed them."""

from __future__ import annotations

import msgspec

from watcher.core.model import PageType, Secret, Watch


class HostSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How one host is treated: least gap between requests (seconds), requests a day, its terms page.

    ``private`` says that its name may lead to an address that is not on the public Internet.
    """

    min_gap: float = 5.0
    checks_per_day: int = 2000
    terms: str | None = None
    private: bool = False


class NotifyRule(msgspec.Struct, frozen=True, kw_only=True):
    """Where news of matching watches goes. ``match`` is a query in the ``/`` filter language; empty matches all."""

    match: str = ""
    events: tuple[str, ...] = ("changed", "gone", "returned", "failing", "recovered")
    command: tuple[str, ...] = ()
    url: str | Secret | None = None
    digest_after: int = 5


class NotifySettings(msgspec.Struct, frozen=True, kw_only=True):
    """Notices: bell and desktop notification (opt-in), quiet hours as ``22:00-07:00``, rules for hooks."""

    bell: bool = False
    desktop: bool = False
    title: bool = True
    quiet: str | None = None
    timezone: str | None = None
    rules: tuple[NotifyRule, ...] = ()


class ScreenSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the terminal screen looks and listens. ``keys`` maps an action id to the keys that trigger it."""

    theme: str = "harbor"
    ascii: bool = False
    mouse: bool = True
    confirm_quit: bool = False
    differ: tuple[str, ...] = ()
    keys: dict[str, str] = {}


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything configured. ``retention`` maps a class to seconds kept (None = for ever).

    ``warnings`` are sentences about what is allowed but looks like a slip.
    """

    watches: tuple[Watch, ...] = ()
    contact: str | None = None
    page_types: dict[str, PageType] = {}
    host_default: HostSettings = HostSettings()
    hosts: dict[str, HostSettings] = {}
    retention: dict[str, float | None] = msgspec.field(default_factory=lambda: {"default": None})
    concurrency: int = 32
    durability: str = "batch"
    screen: ScreenSettings = ScreenSettings()
    notify: NotifySettings = NotifySettings()
    warnings: tuple[str, ...] = ()

    def host(self, host: str) -> HostSettings:
        """The settings of ``host`` (a lower-case name, no port), or the default ones."""
        return self.hosts.get(host, self.host_default)
