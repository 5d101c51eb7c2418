"""watcher: a local-first page watcher that lives in the terminal."""

__version__ = "0.1.0"
