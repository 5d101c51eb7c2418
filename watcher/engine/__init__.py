"""The engine owns the program: it decides what is checked, checks it, and tells what is on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from watcher.engine.engine import Engine

__all__ = ["Engine"]


def __getattr__(name: str) -> Any:
    """``Engine``, loaded when it is first asked for: a screen needs only the handle (PEP 562)."""
    if name == "Engine":
        from watcher.engine.engine import Engine

        return Engine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
