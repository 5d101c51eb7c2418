"""Times as people type them."""

from __future__ import annotations

from datetime import datetime

from watcher.cli.errors import CommandError


def parse_time(text: str, now: float) -> float:
    """The instant ``text`` means (unix seconds): RFC 3339, a date or time of this place, or a duration before ``now``.

    Raises :class:`CommandError`.
    """
    from watcher.config.units import parse_duration

    try:
        return now - parse_duration(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise CommandError(
            f"{text!r} is no time: write 2026-12-01, '2026-12-01 08:00', 2026-12-01T08:00:00Z, or 3d for three days ago"
        ) from None


def parse_span(text: str) -> float:
    """Seconds of a duration option, above zero. Raises :class:`CommandError`."""
    from watcher.config.units import parse_duration

    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise CommandError(f"{error}: write 6h, 3d or 2w") from None
    if seconds <= 0:
        raise CommandError("the time must be longer than 0s")
    return seconds
