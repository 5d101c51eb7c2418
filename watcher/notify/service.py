"""A notification service as the destination, by its Apprise URL (https://github.com/caronc/apprise/wiki)."""

from __future__ import annotations

import asyncio
import importlib
import logging
import re
from typing import Any

from watcher.notify.errors import NotDelivered
from watcher.notify.message import Message

MISSING = "Notification services need the extra `notify`: pip install 'watcher-tui[notify]'."


async def send_to_service(url: str, message: Message) -> None:
    """Hand ``message`` to the service at ``url``. Raises NotDelivered, which repeats of the URL only its kind."""
    await asyncio.to_thread(_send, url, message)


def _send(url: str, message: Message) -> None:
    apprise = _apprise()
    found = re.match(r"[a-z][a-z0-9]{0,19}(?=://)", url, re.IGNORECASE)
    kind = found[0] if found else "***"
    try:
        service = apprise.Apprise()
        usable = service.add(url)
        taken = usable and service.notify(title=message.title, body=message.body, body_format="text")
    except Exception as error:
        # A plugin's mistake may quote the URL, so only its name is repeated.
        raise NotDelivered(f"The service at {kind}://… failed on an unforeseen {type(error).__name__}.") from None
    if not usable:
        raise NotDelivered(f"This is no Apprise URL that can be used: {kind}://…")
    if not taken:
        raise NotDelivered(f"The service at {kind}://… did not take the notice.")


def _apprise() -> Any:
    """The library, silenced: what it logs may hold the URL's secrets."""
    try:
        apprise: Any = importlib.import_module("apprise")
    except ImportError:
        raise NotDelivered(MISSING) from None
    for name in ("apprise", "urllib3", "requests"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return apprise
