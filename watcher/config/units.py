"""Durations and sizes as people write them: ``1h30m``, ``5MiB``."""

from __future__ import annotations

import re
from functools import lru_cache

SECONDS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
BYTES = {"B": 1, "kB": 1000, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}

LONGEST = 3650 * 86_400
"""Ten years (seconds): a longer duration in a configuration is a slip."""

_DURATION = re.compile(r"(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_SIZE = re.compile(r"(\d+)\s?(B|[kK]B|MB|GB|KiB|MiB|GiB)")


@lru_cache(maxsize=1024)
def parse_duration(text: str) -> float:
    """Seconds of ``90s 15m 6h 3d 2w 1h30m``: whole numbers, larger units first, at most ten years.

    Raises :class:`ValueError` with a reason that reads on after the key.
    """
    found = _DURATION.fullmatch(text) if text.isascii() else None
    if found is None or not text:
        raise ValueError(f"{text!r} is not a duration")
    parts = [part or "0" for part in found.groups()]
    if any(len(part) > 12 for part in parts):
        raise ValueError(f"{text!r} is longer than ten years")
    seconds = sum(int(part) * size for part, size in zip(parts, SECONDS.values(), strict=True))
    if seconds > LONGEST:
        raise ValueError(f"{text!r} is longer than ten years")
    return float(seconds)


def format_duration(seconds: float) -> str:
    """The shortest spelling :func:`parse_duration` reads back (whole seconds): ``5400`` is ``1h30m``."""
    left = round(seconds)
    if left <= 0:
        return "0s"
    shown = ""
    for unit, size in SECONDS.items():
        # A week is worth naming only when nothing is left over: "10d", not "1w3d".
        if unit == "w" and left % size:
            continue
        count, left = divmod(left, size)
        shown += f"{count}{unit}" if count else ""
    return shown


def parse_size(text: str) -> int:
    """Bytes of ``500kB 5MiB 1GiB``. Raises :class:`ValueError` like :func:`parse_duration`."""
    found = _SIZE.fullmatch(text) if text.isascii() and len(text) < 20 else None
    if found is None:
        raise ValueError(f"{text!r} is not a size")
    return int(found[1]) * BYTES[found[2]]
