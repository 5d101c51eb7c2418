"""The log file: where what nobody foresaw is written down in full, so that the terminal needs one sentence."""

from __future__ import annotations

import argparse
import logging
import traceback
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path

from watcher import __version__, paths


def log_file(options: argparse.Namespace) -> Path:
    """``watcher.log`` in the data directory."""
    return paths.data_dir(getattr(options, "data_dir", None)) / "watcher.log"


class _Handler(logging.FileHandler):
    """Makes the folder of its file when there is something to write."""

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return super()._open()


def log_to_file(options: argparse.Namespace) -> None:
    """Send the program's own log messages to the file from here on; the libraries' stay silent."""
    handler = _Handler(log_file(options), encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("watcher")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


def write_traceback(error: BaseException, options: argparse.Namespace) -> str:
    """Append the traceback of ``error`` to the log; one sentence that says what happened and where to look."""
    what = f"this is a bug in watcher: {type(error).__name__}"
    try:
        path = log_file(options)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"--- {datetime.now(UTC).isoformat(timespec='seconds')} watcher {__version__}\n")
            file.writelines(traceback.format_exception(error))
    except OSError as cause:
        return f"{what}, and {cause.filename} cannot take its traceback: {cause.strerror}"
    return f"{what}; {path} holds its traceback, please report it"
