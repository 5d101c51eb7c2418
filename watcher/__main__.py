"""``python -m watcher`` and the ``watcher`` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; exits the process with its code."""
    from watcher.cli.main import main as run

    sys.exit(run())


if __name__ == "__main__":
    main()
