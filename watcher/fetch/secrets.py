"""Secrets: read where they are kept at the moment of use, and taken out of whatever is written down."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Iterable
from urllib.parse import quote, unquote

import msgspec

from watcher.core.model import Secret
from watcher.core.urls import Url

PATIENCE = 20.0
"""Seconds a ``command:`` may take."""

HIDDEN = "***"
SHORTEST = 6


class SecretError(Exception):
    """A secret could not be read. ``str()`` is one sentence and repeats nothing of it."""


class Vault:
    """The secrets of one visit: told to whom they are for, and taken out of every text that is kept.

    ``keys`` are the query keys whose values are secret wherever they stand.
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys = tuple(keys)
        self._told: set[str] = set()

    async def reveal(self, value: str | Secret) -> str:
        """The text of a value, secret or not. Raises SecretError."""
        if isinstance(value, str):
            return value
        text = await _read(value)
        self.keep(text)
        return text

    def keep(self, text: str) -> None:
        """Hide ``text`` from now on. One too short to tell apart from ordinary words is hidden by its place only."""
        if len(text) >= SHORTEST:
            self._told |= {text, quote(text, safe=""), quote(text)}

    def hide(self, text: str) -> str:
        """``text`` (a URL, a header, a sentence) without userinfo, secret query values and secrets that were told."""
        for key in self._keys:
            text = re.sub(rf"([?&;]{re.escape(quote(key, safe=''))}=)[^&;#\s]*", rf"\g<1>{HIDDEN}", text)
        if self._told:
            for told in sorted(self._told, key=len, reverse=True):
                text = text.replace(told, HIDDEN)
        return re.sub(r"(//)[^/?#@\s]*@", r"\g<1>", text) if "@" in text else text

    async def with_query(self, url: Url) -> Url:
        """``url`` with ``env:NAME`` or ``command:...`` in the secret query keys replaced by their text.

        A secret that stands there as it is, is one all the same. Raises SecretError.
        """
        query = url.query or ""
        for key in self._keys:
            found = re.search(rf"(?:^|&){re.escape(quote(key, safe=''))}=([^&]*)", query)
            if found is None:
                continue
            held = unquote(found[1])
            if held.startswith(("env:", "command:")):
                held = await self.reveal(Secret(held))
                query = query[: found.start(1)] + quote(held, safe="") + query[found.end(1) :]
            self.keep(held)
        return url if not query else msgspec.structs.replace(url, query=query)


async def _read(value: Secret) -> str:
    kind, _, rest = value.source.partition(":")
    if kind == "literal":
        return rest
    if kind == "env":
        if (found := os.environ.get(rest)) is None:
            raise SecretError(f"The environment has no variable {rest}, which holds a secret of this watch.")
        return found
    if kind == "command":
        return await _output_of(rest)
    raise SecretError(f"A secret is given as {kind}: and is neither env:NAME nor command:...")


async def _output_of(command: str) -> str:
    argv = shlex.split(command)
    name = argv[0] if argv else ""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
    except (OSError, TypeError):
        raise SecretError(f"The command {name!r}, which tells a secret of this watch, cannot be run.") from None
    try:
        async with asyncio.timeout(PATIENCE):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise SecretError(f"The command {name!r}, which tells a secret, did not end within {PATIENCE:g} s.") from None
    if process.returncode:
        raise SecretError(f"The command {name!r}, which tells a secret, failed with status {process.returncode}.")
    return output.decode("utf-8", "replace").rstrip("\r\n")
