"""How a command ends other than well."""

from __future__ import annotations

FINE, FAILED, USAGE, STORE = 0, 1, 2, 3
"""Exit codes: all fine, some watch failed, usage or configuration, store in use or unreadable."""

INTERRUPTED = 130
"""As a shell reports a program ended by Ctrl-C."""


class CommandError(Exception):
    """A command that cannot go on: one sentence for standard error, and the exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code
