"""What a page says in machine-readable form: JSON-LD first, then microdata, then OpenGraph (RECORDS.md section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from watcher.core.fingerprint import normalise
from watcher.core.model import Value
from watcher.extract.dates import parse_date
from watcher.extract.errors import ExtractError
from watcher.extract.jsontext import parse_json
from watcher.extract.numbers import machine_price

if TYPE_CHECKING:
    from turbohtml import Document

TYPES = (
    "Product", "ProductGroup", "NewsArticle", "Article", "BlogPosting", "Event", "JobPosting", "Recipe", "Book",
    "SoftwareApplication", "MobileApplication", "Dataset", "Offer",
)  # fmt: skip
"""schema.org types whose node speaks for the page, the most telling first."""
_COPIED = {"version": "softwareVersion", "valid_through": "validThrough", "starts": "startDate", "ends": "endDate"}
_DATES = ("valid_through", "starts", "ends")

Node = Mapping[str, Any]


def _first(value: Any) -> Any:
    """schema.org lets every property repeat: the first value stands for all."""
    while isinstance(value, list):
        value = value[0] if value else None
    return value


def _text(value: Any) -> str | None:
    value = _first(value)
    if isinstance(value, Mapping):
        value = _first(value.get("@value", value.get("name")))
    return normalise(str(value)) or None if isinstance(value, str | int) and not isinstance(value, bool) else None


def _node(value: Any) -> Node:
    value = _first(value)
    return value if isinstance(value, Mapping) else {}


def _type_of(node: Node) -> str:
    return str(_first(node.get("@type")) or "").rsplit("/", 1)[-1]


def _walk(value: Any) -> Iterator[Node]:
    if isinstance(value, Mapping):
        yield value
        for item in value.values():
            yield from _walk(item)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item)


def _json_ld(tree: Document) -> Iterator[Node]:
    for script in tree.select('script[type="application/ld+json" i]'):
        try:
            yield from _walk(parse_json(script.text))
        except ExtractError:
            continue  # one broken block must not hide the others


def _as_node(item: Any, depth: int = 0) -> Any:
    """A microdata item in the shape of JSON-LD."""
    if not hasattr(item, "properties") or depth > 20:
        return item
    properties = {name: [_as_node(value, depth + 1) for value in values] for name, values in item.properties.items()}
    return {"@type": item.type or "", **properties}


def _best(nodes: Iterable[Node]) -> Node:
    ranked = [(TYPES.index(kind), place, node) for place, node in enumerate(nodes) if (kind := _type_of(node)) in TYPES]
    return min(ranked, key=lambda entry: entry[:2])[2] if ranked else {}


def _meta(tree: Document) -> dict[str, str]:
    found: dict[str, str] = {}
    for meta in tree.select("meta[property][content]"):
        found.setdefault((meta.attr("property") or "").lower(), meta.attr("content") or "")
    return found


def _price(node: Node, offer: Node, meta: Mapping[str, str]) -> Value:
    spec = _node(offer.get("priceSpecification"))
    currency = _first(
        offer.get("priceCurrency") or spec.get("priceCurrency") or node.get("priceCurrency")
        or meta.get("product:price:currency") or meta.get("og:price:currency")
    )  # fmt: skip
    for source, name in ((offer, "price"), (spec, "price"), (offer, "lowPrice"), (node, "price")):
        amount = _first(source.get(name))
        if amount is not None:
            return machine_price(amount, currency if isinstance(currency, str) and len(currency) == 3 else None)
    amount = meta.get("product:price:amount") or meta.get("og:price:amount")
    return machine_price(amount, currency if isinstance(currency, str) else None) if amount else None


def structured_values(tree: Document) -> dict[str, Value]:
    """Title, price, availability, dates and version as far as the page says them for machines; never null.

    A broken block is skipped. What is absent is left out: absence here says nothing about the thing itself.
    """
    node = _best(_json_ld(tree)) or _best(_as_node(item) for item in tree.microdata())
    meta = _meta(tree)
    offer = node if _type_of(node) == "Offer" else _node(node.get("offers"))
    offer = (
        _node(offer.get("offers")) or offer if _type_of(offer) == "AggregateOffer" and "price" not in offer else offer
    )
    availability = _text(offer.get("availability")) or meta.get("product:availability") or meta.get("og:availability")
    values: dict[str, Value] = {
        "title": _text(node.get("name")) or _text(node.get("headline")) or normalise(meta.get("og:title", "")) or None,
        "price": _price(node, offer, meta),
        "availability": normalise(availability.rsplit("/", 1)[-1]) if availability else None,
        "modified": _text(node.get("dateModified")) or meta.get("article:modified_time"),
    }
    values.update({name: _text(node.get(key)) for name, key in _COPIED.items()})
    for name in ("modified", *_DATES):
        text = values.get(name)
        values[name] = parse_date(text) or text if isinstance(text, str) else None
    return {name: value for name, value in values.items() if value is not None}
