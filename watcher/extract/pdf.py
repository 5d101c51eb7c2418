"""The text of a PDF, behind the extra ``pdf`` (pypdf)."""

from __future__ import annotations

import io
import logging

from watcher.core.chunks import chunk
from watcher.core.fingerprint import normalise
from watcher.core.model import Value
from watcher.extract.errors import ExtractError

MAX_PAGES = 500
"""Pages read at most; a longer document is compared by its first ones."""


def pdf_values(body: bytes) -> dict[str, Value]:
    """``title`` and ``content`` of a PDF: each page's text, cut into content-defined chunks.

    Raises:
        ExtractError: ``broken:binary`` without the extra, ``broken:pdf`` for what pypdf cannot read.
    """
    try:
        from pypdf import PdfReader  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise ExtractError(
            "broken:binary",
            'binary content (PDF): install watcher-tui[pdf] to read it, or watch it with detect = "bytes"',
        ) from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # its warnings would land on the screen
    try:
        reader = PdfReader(io.BytesIO(body))
        texts = [page.extract_text() for page in reader.pages[:MAX_PAGES]]
        title = reader.metadata.title if reader.metadata else None
    except Exception as error:  # pypdf raises whatever its parser stumbles upon
        raise ExtractError("broken:pdf", f"not a readable PDF: {type(error).__name__}") from None
    blocks = [normalise(piece) for text in texts for piece in chunk(text)]
    return {"title": normalise(title) if title else None, "content": [block for block in blocks if block]}
