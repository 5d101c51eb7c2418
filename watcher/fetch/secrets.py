"""Secrets: read where they are kept at the moment of use, and taken out of whatever is written down."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Iterable
from urllib.parse import quote, unquote

from watcher.core.model import Secret
from watcher.core.urls import Url, parse_url

PATIENCE = 20.0
"""Seconds a ``command:`` may take."""

HIDDEN = "***"


class SecretError(Exception):
    """A secret could not be read. ``str()`` is one sentence and repeats nothing of it."""


async def reveal(value: str | Secret) -> str:
    """The text of a value, secret or not. Raises SecretError."""
    if isinstance(value, str):
        return value
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


def hide(text: str, keys: Iterable[str]) -> str:
    """``text`` (a URL or what may hold one) with the values of these query keys hidden, and any userinfo."""
    for key in keys:
        text = re.sub(rf"([?&;]{re.escape(quote(key, safe=''))}=)[^&;#\s]*", rf"\g<1>{HIDDEN}", text)
    return re.sub(r"(//)[^/?#@\s]*@", r"\g<1>", text)


async def with_secret_query(url: Url, keys: Iterable[str]) -> Url:
    """``url`` with ``env:NAME`` or ``command:...`` in these query keys replaced by their text. Raises SecretError."""
    query = url.query
    if not query:
        return url
    for key in keys:
        found = re.search(rf"(?:^|&){re.escape(quote(key, safe=''))}=((?:env|command)(?::|%3[Aa])[^&]*)", query)
        if found:
            held = await reveal(Secret(unquote(found[1])))
            query = query[: found.start(1)] + quote(held, safe="") + query[found.end(1) :]
    return parse_url(f"{url.scheme}://{url.netloc}{url.path}?{query}")
