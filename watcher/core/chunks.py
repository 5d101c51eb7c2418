"""Content-defined chunks of unstructured text: where a chunk ends depends on its last few words only.

An insertion therefore moves the borders of the chunks it touches and of no others, so that two versions of a
text with no paragraphs (a PDF, one giant ``<pre>``, one 5 MB line) can be compared chunk by chunk. The rolling
hash is of the Gear kind: Xia et al., "FastCDC", USENIX ATC 2016.
"""

from __future__ import annotations

import re
import zlib

SHORTEST, LONGEST = 8, 96
"""Words in a chunk, at least and at most."""
_MASK = 15 << 16
_PIECE = re.compile(r"\S+\s*")


def chunk(text: str) -> list[str]:
    """``text`` in chunks of 8 to 96 words (24 on average), in order; joined they are the text again."""
    pieces = _PIECE.findall(text)
    if pieces:
        pieces[0] = text[: len(text) - len(text.lstrip())] + pieces[0]
    chunks, start, rolling = [], 0, 0
    for end, piece in enumerate(pieces, start=1):
        rolling = ((rolling << 2) + zlib.crc32(piece.rstrip().encode("utf-8", "replace"))) & 0xFFFFFFFF
        words = end - start
        if words >= LONGEST or (words >= SHORTEST and not rolling & _MASK):
            chunks.append("".join(pieces[start:end]))
            start = end
    if start < len(pieces) or not pieces:
        chunks.append("".join(pieces[start:]) if pieces else text)
    return chunks
