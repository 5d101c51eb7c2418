"""What a body is read as: by its bytes first, by its label second."""

from __future__ import annotations

import pytest

from watcher.extract.sniff import Kind, binary_name, text_kind


@pytest.mark.parametrize(
    ("text", "content_type", "kind"),
    [
        ("<!doctype html><p>x", None, Kind.HTML),
        ("<!-- c --><html>", None, Kind.HTML),
        ("<p>x", "text/html", Kind.HTML),
        ("<!DOCTYPE html><p>x", "text/plain", Kind.HTML),
        ("<p>x", "text/plain", Kind.TEXT),
        ("<none>: x", None, Kind.TEXT),
        ("plain words", None, Kind.TEXT),
        ('<?xml version="1.0"?><rss/>', "text/html", Kind.XML),
        ("<rdf:RDF>", "text/html", Kind.XML),
        ("<!DOCTYPE rss [<!ENTITY a 'b'>]><rss>", None, Kind.XML),
        ("<urlset/>", "application/xml", Kind.XML),
        ('<?xml version="1.0"?><html>', "application/xhtml+xml", Kind.HTML),
        ('{"a":1}', "application/ld+json", Kind.JSON),
        ('{"a":1}', None, Kind.JSON),
        ("  [1]", "application/octet-stream", Kind.JSON),
        ("cb({})", "text/javascript", Kind.JSON),
        ("cb({})", "text/plain", Kind.TEXT),
        ("a,b\n[1]", "text/csv", Kind.TEXT),
    ],
)
def test_text_is_read_by_its_beginning_and_its_label(text: str, content_type: str | None, kind: Kind) -> None:
    assert text_kind(text, content_type) is kind


@pytest.mark.parametrize(
    ("body", "content_type", "name"),
    [
        (b"%PDF-1.7", "text/html", "PDF"),
        (b"\xef\xbb\xbf\n%PDF-1.7", None, "PDF"),
        (b"GIF89a", None, "GIF image"),
        (b"\0\0\0\x18ftypmp42", None, "MP4 media"),
        (b"\0\x01\x02\x03" * 9, None, "unknown format"),
        (b"\0\x01\x02\x03" * 9, "application/x-thing", "application/x-thing"),
        (b"\0\x01\x02\x03" * 9, "text/html", "unknown format"),
        (b"<p>a stray \0 in a long enough page</p>" * 3, "text/html", None),
        (b"\xff\xfe<\0p\0>\0", None, None),
        (b"<\0p\0>\0", "text/html; charset=UTF-16LE", None),
        ("äöü".encode("latin-1"), None, None),
        (b"<svg/>", "image/svg+xml", None),
    ],
)
def test_binary_content_is_known_by_its_bytes(body: bytes, content_type: str | None, name: str | None) -> None:
    assert binary_name(body, content_type) == name
