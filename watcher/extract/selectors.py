"""Selectors compiled once: CSS with ``::text`` and ``::attr(x)``, XPath, JMESPath, regular expressions.

The parsers behind them are imported on first use, because a start that only lists watches needs none of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from watcher.core.model import Value

if TYPE_CHECKING:
    from turbohtml import XPath

_PSEUDO = re.compile(r"::(?:(text)|attr\(\s*([^\s()]+)\s*\))\s*$")
_QUOTED = re.compile(r"""("[^"]*"|'[^']*')""")
# A namespaced name: not an axis (`child::a`), not a function call (`re:test(`), not inside another name.
_PREFIXED = re.compile(r"(?:(?<=::)|(?<![\w:.-]))([A-Za-z_][\w.-]*:(?:[A-Za-z_][\w.-]*))(?![\w.-]|\s*\(|::)")
_PLAIN_JSON = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[-?\d+\])*|(?:\[-?\d+\])(?:\.[A-Za-z_]\w*|\[-?\d+\])*")
_JSON_STEP = re.compile(r"([A-Za-z_]\w*)|\[(-?\d+)\]")
_BRACKET_KEY = re.compile(r"""\[(?:'([^']*)'|"([^"]*)")\]""")


class Css(NamedTuple):
    """A CSS selector without our suffix, and what the suffix asked for."""

    selector: str
    own_text: bool = False
    attr: str | None = None


def _parts(selector: str) -> list[str]:
    """The selectors of a list, split at the commas outside brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for i, char in enumerate(selector):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(selector[start:i])
            start = i + 1
    return [*parts, selector[start:]]


@lru_cache(maxsize=4096)
def compile_css(selector: str) -> Css:
    """Check a CSS selector and take ``::text`` or ``::attr(x)`` off its end.

    Raises:
        ValueError: it does not parse, or the parts of a list end in different suffixes. One sentence.
    """
    from turbohtml import parse_fragment

    parts = [(part, _PSEUDO.search(part)) for part in _parts(selector)]
    suffixes = {(bool(m and m[1]), m[2] if m else None) for _, m in parts}
    if len(suffixes) > 1:
        raise ValueError(f"the parts of `{selector}` must all end in the same ::text or ::attr(...)")
    bare = ",".join(part[: m.start()] if m else part for part, m in parts).strip()
    try:
        parse_fragment("").select(bare)
    except ValueError as error:
        raise ValueError(_css_sentence(selector, bare, str(error))) from None
    own_text, attr = suffixes.pop()
    return Css(bare, own_text, attr.lower() if attr else None)


def _css_sentence(selector: str, bare: str, error: str) -> str:
    reason = error.rsplit('": ', 1)[-1]
    hint = ""
    if ":contains(" in bare:
        hint = "; CSS has no :contains(), use xpath = \"//p[contains(., 'text')]\""
    elif bare.startswith(("/", "./")):
        hint = "; this looks like XPath: write xpath = ..."
    elif "::" in bare:
        hint = "; only ::text and ::attr(name) are known, at the end"
    return f"`{selector}` is not a CSS selector: {reason}{hint}"


def _spell_out_prefixes(expression: str) -> str:
    """``//m:price`` as ``//*[name()='m:price']``: feeds are read by the prefixes they are written with."""
    pieces = _QUOTED.split(expression)
    pieces[::2] = [_PREFIXED.sub(r"*[name()='\1']", piece) for piece in pieces[::2]]
    return "".join(pieces)


@lru_cache(maxsize=4096)
def compile_xpath(expression: str) -> XPath:
    """Compile an XPath 1.0 expression; namespace prefixes are matched as written in the document.

    Raises:
        ValueError: it does not parse, or calls an unknown function. One sentence.
    """
    from turbohtml import XPath, parse_fragment

    try:
        compiled = XPath(_spell_out_prefixes(expression))
        compiled(parse_fragment("<p>"))
    except (ValueError, TypeError) as error:
        reason = str(error).removeprefix("xpath: ")
        raise ValueError(f"`{expression}` is not an XPath expression: {reason}") from None
    return compiled


Query = Callable[[Value], tuple[bool, Value]]
"""Asks a JSON value; answers whether anything was there, and what (``null`` can be there)."""


def _walk(path: str) -> Query:
    steps = [key or int(index) for key, index in _JSON_STEP.findall(path)]

    def query(value: Value) -> tuple[bool, Value]:
        for step in steps:
            if isinstance(step, str):
                if not isinstance(value, dict) or step not in value:
                    return False, None
            elif not isinstance(value, list) or not -len(value) <= step < len(value):
                return False, None
            value = value[step]
        return True, value

    return query


def _as_jmespath(expression: str) -> str:
    """Simple JSONPath (``$.a[0]['b'].c[*]``) as JMESPath; JMESPath as it is."""
    text = expression.strip()
    if not text.startswith("$"):
        return text
    if ".." in text or "[?(" in text:
        raise ValueError(
            f"`{expression}` uses JSONPath that JMESPath has no word for: spell the path out, "
            "or filter as in items[?price < `20`]"
        )
    text = _BRACKET_KEY.sub(lambda m: f'."{m[1] if m[1] is not None else m[2]}"', text[1:])
    return text.removeprefix(".") or "@"


@lru_cache(maxsize=4096)
def compile_json(expression: str) -> Query:
    """Compile a JMESPath expression, or a simple JSONPath beginning with ``$``.

    A plain path tells an absent key from a ``null``; of other expressions a ``null`` result counts as absent,
    because JMESPath has only the one word for both.

    Raises:
        ValueError: it does not parse. One sentence.
    """
    path = _as_jmespath(expression)
    if _PLAIN_JSON.fullmatch(path):
        return _walk(path)
    from watcher.extract.jsonquery import compile_query

    return compile_query(path, expression)


@lru_cache(maxsize=4096)
def compile_regex(pattern: str) -> re.Pattern[str]:
    """Compile a regular expression (Python syntax).

    Raises:
        ValueError: it does not parse. One sentence.
    """
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"`{pattern}` is not a regular expression: {error}") from None
