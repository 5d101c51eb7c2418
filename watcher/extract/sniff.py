"""What a body is: by its first bytes first, by its label second (WHATWG MIME Sniffing, simplified)."""

from __future__ import annotations

import re
from enum import StrEnum

HEAD = 1445
"""How many bytes tell a format (WHATWG MIME Sniffing section 5.1)."""


class Kind(StrEnum):
    """How a body is to be read."""

    HTML = "HTML"
    XML = "XML"
    JSON = "JSON"
    TEXT = "text"
    PDF = "PDF"
    BINARY = "binary"


_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"RIFF", "RIFF media"),
    (b"PK\x03\x04", "ZIP archive or office document"),
    (b"\x1f\x8b\x08", "gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\x00", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "office document"),
    (b"\x7fELF", "ELF program"),
    (b"MZ\x90\x00", "Windows program"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
    (b"\x1aE\xdf\xa3", "Matroska media"),
    (b"wOFF", "font"),
    (b"wOF2", "font"),
    (b"\x00asm", "WebAssembly"),
    (b"SQLite format 3\x00", "SQLite database"),
)
_MAGICS = tuple(magic for magic, _ in _MAGIC)
_UTF16_32 = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_CONTROL = bytes(b for b in range(0x20) if b not in b"\t\n\x0c\r\x1b")
_MEDIA = re.compile(r"(?:image/(?!svg)|audio/|video/|font/|application/(?:zip|gzip|x-tar|vnd\.rar|msword|vnd\.ms-))")
_XML_ROOT = re.compile(r"(?:<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^>\[]*(?:\[[^\]]*\])?\s*>|\s)*<([A-Za-z_][\w.:-]*)", re.S)
_HTML_START = re.compile(
    r"(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body|title|meta|link|script|style|iframe|main|article|section|nav"
    r"|h[1-6]|div|font|table|ul|ol|dl|form|img|span|a|b|br|p)[\s/>]",
    re.I | re.S,
)
_FEED_ROOTS = ("rss", "feed", "rdf:RDF")
_JSON_START = re.compile(
    r"\s*(?:\)\]\}',?\s*|while\s*\(1\);\s*|for\s*\(;;\);\s*|(?:/\*.*?\*/)?\s*[\w$.]+\s*\(\s*)?[\[{]", re.S
)


def media_type(content_type: str | None) -> str:
    """The lower-case type/subtype of a Content-Type header, without parameters; empty when there is none."""
    return (content_type or "").split(";", 1)[0].strip().lower()


def binary_name(body: bytes, content_type: str | None) -> str | None:
    """A name for binary content (``PDF``, ``PNG image`` ...), or None for what may be text."""
    head = body[:HEAD]
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"%PDF-"):
        return "PDF"
    if head.startswith(_MAGICS):
        return next(name for magic, name in _MAGIC if head.startswith(magic))
    if head[4:8] == b"ftyp":
        return "MP4 media"
    if head.startswith(_UTF16_32) or "charset=utf-16" in (content_type or "").lower():
        return None
    controls = len(head) - len(head.translate(None, _CONTROL))
    media = media_type(content_type)
    # A stray control byte is tolerated in what is called text; in what is not, one is enough.
    allowed = len(head) // 10 if media.startswith("text/") or "html" in media or "xml" in media else 0
    if controls > allowed:
        return media if media and not media.startswith("text/") else "unknown format"
    return media if _MEDIA.match(media) and controls else None


def _xml_root(text: str) -> str | None:
    found = _XML_ROOT.match(text[:4096])
    return found[1] if found else None


def text_kind(text: str, content_type: str | None) -> Kind:
    """How decoded ``text`` is to be read. A feed is XML whatever its label says (MIME Sniffing section 7.3)."""
    media = media_type(content_type)
    start = text[:HEAD].lstrip("\ufeff \t\r\n")
    if media == "application/json" or media.endswith("+json"):
        return Kind.JSON
    root = _xml_root(start) if start.startswith("<") else None
    if root in _FEED_ROOTS:
        return Kind.XML
    if "html" in media:
        return Kind.HTML
    if media.endswith(("/xml", "+xml")) or start.startswith("<?xml"):
        return Kind.HTML if root and root.lower() == "html" else Kind.XML
    if media not in ("text/css", "text/csv") and _JSON_START.match(start) and ("script" in media or start[0] in "[{)"):
        return Kind.JSON
    looks_like_html = _HTML_START.match(start) and (not media.startswith("text/") or start[:9].lower() == "<!doctype")
    return Kind.HTML if looks_like_html else Kind.TEXT
