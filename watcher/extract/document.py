"""One response body, read once in each way the fields need: text, HTML tree, XML tree, JSON value."""

from __future__ import annotations

import html
import re
from functools import cached_property
from typing import TYPE_CHECKING

from watcher.core.charset import decode_text
from watcher.core.model import Value
from watcher.extract.errors import ExtractError
from watcher.extract.jsontext import parse_json
from watcher.extract.noise import clean_tree
from watcher.extract.sniff import Kind, binary_name, media_type, text_kind

if TYPE_CHECKING:
    from turbohtml import Document, Node

_NAMED_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]{1,31};)")
_BASE = re.compile("<base", re.I)
_XML_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class Page:
    """A body and everything read from it, each at most once. Raises :class:`ExtractError` when read wrongly."""

    def __init__(
        self,
        body: bytes,
        content_type: str | None,
        url: str,
        encoding: str | None = None,
        disabled: frozenset[str] = frozenset(),
    ) -> None:
        self.body = body
        self.content_type = content_type
        self.url = url
        self.encoding = encoding
        self.disabled = disabled
        self._trees: dict[tuple[str, ...], Document] = {}

    @cached_property
    def kind(self) -> Kind:
        """How the body is to be read; by its bytes first, by its label second."""
        binary = binary_name(self.body, self.content_type)
        if binary == "PDF":
            return Kind.PDF
        if binary:
            return Kind.BINARY
        return text_kind(self.text, self.content_type)

    @cached_property
    def text(self) -> str:
        """The decoded text, every line end as ``\\n``.

        Raises:
            ExtractError: ``broken:empty`` or ``broken:binary``.
        """
        if not self.body.strip(b" \t\r\n\0"):
            raise ExtractError("broken:empty", "the body is empty")
        binary = binary_name(self.body, self.content_type)
        if binary:
            raise ExtractError(
                "broken:binary",
                f'binary content ({binary}), not text: watch it with detect = "bytes", or correct the URL',
            )
        media = media_type(self.content_type)
        is_json = media == "application/json" or media.endswith("+json")
        text = decode_text(self.body, self.content_type, self.encoding, is_json).text
        text = text.removeprefix("\ufeff")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

    def tree(self, remove: tuple[str, ...] = ()) -> Document:
        """The HTML or XML tree without the nodes that the CSS selectors of ``remove`` match.

        Raises:
            ExtractError: the body is JSON or binary, or is not well-formed XML.
        """
        if remove not in self._trees:
            self._trees[remove] = self.own_tree(remove)
        return self._trees[remove]

    def own_tree(self, remove: tuple[str, ...] = ()) -> Document:
        """A tree for one reader alone, who may change it: nobody else sees it. Otherwise as :meth:`tree`."""
        tree = self._parse()
        _remove(tree, remove)
        return tree

    def _parse(self) -> Document:
        from turbohtml import parse

        text = self.text
        if self.kind is Kind.JSON:
            raise ExtractError("broken:selector", "the page is JSON; pick with json = ..., not css or xpath")
        if self.kind is Kind.XML:
            return parse_xml(text)
        tree = parse(text, positions=False)
        clean_tree(tree, self.disabled)
        return tree

    @cached_property
    def base_url(self) -> str:
        """What relative links of the page are resolved against; empty when the page's own address is unknown."""
        if not self.url or self.kind is not Kind.HTML or not _BASE.search(self.text):
            return self.url
        return self.tree().base_url(self.url)

    @cached_property
    def json(self) -> Value:
        """The body as a JSON value; of an HTML page, the list of its JSON-LD and JSON scripts.

        Raises:
            ExtractError: ``broken:json``.
        """
        if self.kind is not Kind.HTML:
            return parse_json(self.text)
        return self.embedded_json

    @cached_property
    def embedded_json(self) -> list[Value]:
        """What the page's ``application/ld+json`` and ``application/json`` scripts hold; bad ones are skipped."""
        found = []
        for script in self.tree().select('script[type*="json" i]'):
            try:
                found.append(parse_json(script.text))
            except ExtractError:
                continue
        return found


def _remove(tree: Node, selectors: tuple[str, ...]) -> None:
    for selector in selectors:
        for node in tree.select(selector):
            node.decompose()


def _numeric(entity: re.Match[str]) -> str:
    """HTML's ``&nbsp;`` as ``&#160;``; an entity that HTML does not know stays, and is an error."""
    known = html.unescape(entity[0])
    return entity[0] if known.endswith(";") and len(known) > 2 else "".join(f"&#{ord(char)};" for char in known)


def parse_xml(text: str) -> Document:
    """Parse XML strictly, but know HTML's named entities, which feeds often use undeclared.

    Raises:
        ExtractError: ``broken:xml``; not well-formed.
    """
    from turbohtml import HTMLParseError
    from turbohtml import parse_xml as parse

    text = _XML_FORBIDDEN.sub("", text.lstrip("\ufeff \t\r\n"))
    if "<!ENTITY" not in text:
        text = _NAMED_ENTITY.sub(_numeric, text)
    try:
        return parse(text)
    except HTMLParseError as error:
        raise ExtractError("broken:xml", f"not well-formed XML: {str(error).removeprefix('xml-')}") from None
