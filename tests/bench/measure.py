"""CPU of commands, measured from outside and interleaved, so that ratios hold on a busy machine."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
from collections.abc import Mapping, Sequence


def cpu_of(command: Sequence[str], cwd: str | None = None) -> float:
    """User and system seconds of ``command`` and its children.

    Raises:
        SystemExit: it failed; the message shows what it said.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=os.environ, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.decode()[-800:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def interleaved(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, float]:
    """The median CPU seconds of each command over ``rounds``, run A B C, A B C ..."""
    seen: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            seen[name].append(cpu_of(command))
    return {name: statistics.median(values) for name, values in seen.items()}
