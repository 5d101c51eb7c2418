"""How each field matched: what ``watcher test`` prints. Never raises for what a page is like; it says so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import msgspec

from watcher.core.model import Field, Value, Values
from watcher.extract.compile import compile_fields
from watcher.extract.document import Page
from watcher.extract.errors import ExtractError
from watcher.extract.fields import Definitions
from watcher.extract.pick import Scope, pick
from watcher.extract.selectors import compile_css
from watcher.extract.smart import Options, smart_values
from watcher.extract.sniff import Kind
from watcher.extract.values import value_of

if TYPE_CHECKING:
    from turbohtml import Document

MOST_HINTS = 3
_CSS_NAME = re.compile(r"([.#])(-?[A-Za-z_][\w-]*)")
_JSON_NAME = re.compile(r"[A-Za-z_]\w*")


class FieldReport(msgspec.Struct, frozen=True, kw_only=True):
    """One field on one page: its value, or the error instead of it; how many nodes matched; what nearly did."""

    field: str
    value: Value = None
    matched: int = 0
    error: str | None = None
    hints: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A dry run: what the body was read as, and each field. ``error`` is the page's own.

    ``left_out`` holds the texts that are volatile or to be ignored.
    """

    kind: str
    fields: tuple[FieldReport, ...]
    error: str | None = None
    left_out: tuple[str, ...] = ()

    @property
    def fine(self) -> bool:
        """Whether a record could be made."""
        return self.error is None and all(field.error is None for field in self.fields)


def _names(tree: Document, sign: str) -> set[str]:
    if sign == "#":
        return {node.attr("id") or "" for node in tree.select("[id]")} - {""}
    return {name for node in tree.select("[class]") for name in (node.attr("class") or "").split()}


def _nearby(tree: Document, selector: str) -> Iterator[str]:
    """The selector with one class or id replaced by one of the page that is spelled like it."""
    for found in _CSS_NAME.finditer(selector):
        sign, name = found[1], found[2]
        for other in get_close_matches(name, _names(tree, sign), n=2, cutoff=0.7):
            if other != name:
                yield selector[: found.start()] + sign + other + selector[found.end() :]


def _shortened(selector: str) -> Iterator[str]:
    """The selector with its leading parts left out one by one, as far as a redesign may have kept the end."""
    parts = re.split(r"\s*>\s*|\s+", selector)
    for start in range(1, len(parts)):
        yield " ".join(parts[start:])


def _css_hints(field: Field, page: Page, remove: tuple[str, ...]) -> Iterator[str]:
    assert field.css is not None
    tree, selector = page.tree((*remove, *field.remove)), compile_css(field.css).selector
    without = page.tree()
    attr = field.attr or compile_css(field.css).attr
    count = len(tree.select(selector))
    if count and attr:
        have = sorted({name for node in tree.select(selector) for name in node.attrs})
        yield f"`{selector}` matches {count}, none with an attribute `{attr}`; they have {', '.join(have) or 'none'}"
    elif count:
        yield f"`{selector}` matches {count}, without text of their own; leave out ::text"
    elif without.select(selector):
        yield f"`{selector}` matches {len(without.select(selector))} before remove, which drops them"
    if count:
        return
    for candidate in [*_nearby(tree, selector), *_shortened(selector)]:
        try:
            found = len(tree.select(candidate))
        except ValueError:
            continue
        if found:
            yield f"`{selector}` matches nothing; `{candidate}` matches {found}"


def _keys(value: Value, depth: int = 0) -> set[str]:
    if depth > 6:
        return set()
    if isinstance(value, dict):
        return set(value).union(*(_keys(item, depth + 1) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(_keys(item, depth + 1) for item in value[:50]))
    return set()


def _json_hints(field: Field, page: Page) -> Iterator[str]:
    assert field.json is not None
    keys = _keys(page.json)
    for name in _JSON_NAME.findall(field.json):
        if name not in keys:
            for near in get_close_matches(name, keys, n=1, cutoff=0.6):
                yield f"there is no key `{name}`; there is `{near}`"
    if page.kind is Kind.HTML and not page.embedded_json:
        yield "the page is HTML and holds no JSON; pick with css or xpath"


def _xpath_hints(field: Field) -> Iterator[str]:
    assert field.xpath is not None
    if re.search(r"(?:^|/)(?:\w+::)?[A-Z]", field.xpath):
        yield "element names of HTML are lower case in XPath"


def _hints(field: Field, page: Page, remove: tuple[str, ...]) -> tuple[str, ...]:
    hints: Iterable[str] = ()
    if field.css is not None:
        hints = _css_hints(field, page, remove)
    elif field.json is not None:
        hints = _json_hints(field, page)
    elif field.xpath is not None:
        hints = _xpath_hints(field)
    return tuple(dict.fromkeys(hints))[:MOST_HINTS]


def _report(field: Field, page: Page, options: Options) -> FieldReport:
    matched, hints = 0, tuple[str, ...]()
    try:
        found = pick(field, Scope(page), options.remove)
        matched = len(found)
        if not found:
            hints = _hints(field, page, options.remove)
        value = value_of(field, found, Scope(page), options.disabled, options.ignore)
    except ExtractError as error:
        return FieldReport(field=field.name, matched=matched, error=error.message, hints=hints)
    return FieldReport(field=field.name, value=value, matched=matched, hints=hints)


def explain(
    body: bytes,
    *,
    content_type: str | None = None,
    url: str = "",
    fields: Definitions | None = None,
    encoding: str | None = None,
    remove: Sequence[str] = (),
    disabled_rules: Sequence[str] = (),
    volatile: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Report:
    """Read a body as :func:`extract_record` does, and say of each field how it matched or what nearly did.

    Raises:
        FieldError: the definitions themselves are wrong.
    """
    compiled = compile_fields(fields or {}, remove=remove, disabled_rules=disabled_rules)
    options = Options(tuple(remove), frozenset(disabled_rules), tuple(volatile), tuple(ignore))
    page = Page(body, content_type, url, encoding, options.disabled)
    try:
        kind = str(page.kind)
        if compiled:
            return Report(kind=kind, fields=tuple(_report(field, page, options) for field in compiled))
        values = smart_values(page, options)
        left_out = _left_out(page, options, values)
    except ExtractError as error:
        return Report(kind=str(page.kind) if body.strip() else "empty", fields=(), error=str(error))
    reports = (FieldReport(field=name, value=value, matched=_count(value)) for name, value in values.items())
    return Report(kind=kind, fields=tuple(reports), left_out=left_out)


def _left_out(page: Page, options: Options, values: Values) -> tuple[str, ...]:
    if not options.volatile and not options.ignore:
        return ()
    whole: list[str] = smart_values(page, Options(options.remove, options.disabled)).get("content", [])
    return tuple((Counter(whole) - Counter(values.get("content", ()))).elements())


def _count(value: Value) -> int:
    return len(value) if isinstance(value, list) else int(value is not None)
