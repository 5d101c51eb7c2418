"""``python -m tests.replay``: play every case and print what became of it."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.replay import cases, player


def main() -> int:
    """Print one line a case; exit 1 when one failed."""
    seen: Counter[str] = Counter()
    for case in cases.load():
        with tempfile.TemporaryDirectory() as root:
            verdict, why = judge(case, Path(root))
        seen[verdict] += 1
        print(f"{verdict:9}  {case.name}{''.join(f'{chr(10)}{chr(32) * 13}{line}' for line in why)}")
    print(", ".join(f"{count} {verdict}" for verdict, count in seen.items()) or f"no cases in {cases.directory()}")
    return 1 if seen["failed"] else 0


def judge(case: cases.Case, root: Path) -> tuple[str, list[str]]:
    """``passed``, ``overruled``, ``skipped`` or ``failed``, and why."""
    try:
        overruled = player.play(case, root)
    except cases.NotPlayable as reason:
        return "skipped", [str(reason)]
    except Exception as failure:
        return "failed", [f"{type(failure).__name__}: {failure}"]
    return ("overruled", overruled) if overruled else ("passed", [])


if __name__ == "__main__":
    sys.exit(main())
