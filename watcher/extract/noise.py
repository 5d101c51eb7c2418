"""The noise rules: what differs between two fetches of a page that nobody would call a change.

One table, :data:`RULES`: each rule is small, has a name under which a watch can switch it off (``disabled_rules``),
and says what it was seen to do. A rule that changes what any page gives raises :data:`RULES_VERSION`, so that stored
records are re-read (``redefined``) rather than compared. No rule touches a price, an availability or a title.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from turbohtml import Node

RULES_VERSION = 1
VOLATILE = "volatile"
"""The rule that the engine follows: it fetches the first page twice."""

PROSE = 160
"""Characters from which a block is prose, in which such words are content."""


class Rule(NamedTuple):
    """One kind of noise. At most one of the callables says where it works; without one, its description does.

    ``tree`` changes the parsed page in place, for every field; ``link`` rewrites a link target of ``content``;
    ``text`` rewrites a short block of the smart record, which is dropped when nothing is left; with ``everywhere`` also
    a long one, and one of a ``content`` field. ``hints`` are lower-case words, without one
    of which it has nothing to do.
    """

    name: str
    what: str
    evidence: str
    tree: Callable[[Node], None] | None = None
    link: Callable[[str], str] | None = None
    text: Callable[[str], str] | None = None
    hints: tuple[str, ...] = ()
    everywhere: bool = False


# -- e-mail obfuscation ------------------------------------------------------------------------------------------

_PROTECTED = "/cdn-cgi/l/email-protection"


def decode_email(code: str) -> str | None:
    """The address behind Cloudflare's ``data-cfemail``: hex bytes, each XOR the first one; None for anything else."""
    try:
        raw = bytes.fromhex(code)
        return bytes(byte ^ raw[0] for byte in raw[1:]).decode() if len(raw) > 1 else None
    except (ValueError, IndexError):
        return None


def _decode_emails(tree: Node) -> None:
    """Decode in place; the words ``[email protected]`` stay, because they are what the page says."""
    for link in tree.select(f'a[href*="{_PROTECTED}"]'):
        _, _, code = (link.attr("href") or "").partition("#")
        inside = link.select_one("[data-cfemail]")
        address = decode_email(code or (inside and inside.attr("data-cfemail")) or "")
        link.attrs["href"] = f"mailto:{address}" if address else "mailto:"
        for node in link.select("[data-cfemail]"):
            del node.attrs["data-cfemail"]
    for node in tree.select("[data-cfemail]"):
        address = decode_email(node.attr("data-cfemail") or "")
        if address and not node.text.endswith(f"<{address}>"):
            node.set_text(f"{node.text} <{address}>")


# -- characters as references --------------------------------------------------------------------------------------

_REFERENCES = re.compile(r"(?:\\?&\\?#(?:\d{1,7}|[xX][0-9a-fA-F]{1,6});){3,}")


def _spell_references(text: str) -> str:
    return _REFERENCES.sub(lambda m: html.unescape(m[0].replace("\\", "")), text)


# -- link targets ------------------------------------------------------------------------------------------------

_SESSION_NAMES = (
    r"phpsessid|jsessionid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|sid|sessid|session_?id|s?session"
    r"|_?csrf(?:_?token)?|csrfmiddlewaretoken|xsrf|authenticity_token|_?nonce|_wpnonce|token|request_?id|req_?id"
    r"|trace_?id|cb|cachebust(?:er)?|nocache|rnd|rand(?:om)?|_|ts|timestamp|time"
)
_TRACKING_NAMES = r"utm_\w+|gclid|gclsrc|dclid|fbclid|msclkid|yclid|mc_[ce]id|_ga|_gl|_hs\w+|hs\w+tracking|vero_id"
_PATH_SESSION = re.compile(r"(?i);jsessionid=[^/?#]*")


def _parameters(names: str) -> re.Pattern[str]:
    return re.compile(rf"(?i)(?<=[?&;])(?:{names})(?:=[^&;#]*)?(?:[&;]|(?=#)|$)")


_SESSION, _TRACKING = _parameters(_SESSION_NAMES), _parameters(_TRACKING_NAMES)


def _without(parameters: re.Pattern[str], url: str) -> str:
    """``url`` without these parameters of its query, and without the sign that would then stand at its end."""
    if "?" not in url or not parameters.search(url):
        return url
    head, hash_mark, fragment = parameters.sub("", url).partition("#")
    return head.rstrip("?&;") + hash_mark + fragment


def _without_session(url: str) -> str:
    return _without(_SESSION, _PATH_SESSION.sub("", url) if ";" in url else url)


def _without_tracking(url: str) -> str:
    return _without(_TRACKING, url)


# -- words that move by themselves ---------------------------------------------------------------------------------

_DIGIT = re.compile(r"\d")
_UNIT = r"(?:sec(?:ond)?|min(?:ute)?|hour|hr|day|week|month|year)s?"
_RELATIVE = re.compile(
    rf"\b(?:just now|moments? ago|(?:about |over |almost )?(?:an?|one|a few|\d+)\s?(?:{_UNIT}|[smhd])\s+ago)\b"
    r"|\bvor (?:einem|einer|\d+) (?:Sekunde|Minute|Stunde|Tag|Woche|Monat|Jahr)(?:e?n)?\b"
    r"|\bil y a (?:une?|\d+) (?:seconde|minute|heure|jour|semaine|mois|an)s?\b"
    r"|\bhace (?:una?|\d+) (?:segundo|minuto|hora|día|semana|mes|año)(?:e?s)?\b",
    re.I,
)
_COUNT = r"\b\d[\d.,]*\s?[kKmM]?\s+"
_COUNTERS = re.compile(
    rf"{_COUNT}(?:people|persons|users|visitors|others|guests|members|customers)\s+(?:(?:are|is|have)\s+)?(?:currently\s+)?"
    r"(?:view(?:ing|ed)|watching|online)\b(?:\s+(?:at\s+)?(?:this|now)\b(?:\s+(?:page|item|now))?)?"
    rf"|{_COUNT}(?:page\s?)?(?:views|hits)\b"
    r"|\b(?:views|hits|visits|visitors|visitor number|viewed)\s*:?\s+\d[\d.,]*(?:\s+times)?\b",
    re.I,
)
_MACHINE = re.compile(
    r"\b(?:page|site)?\s*(?:generated|rendered)\s+(?:in|at|on|by)\b.*\d.*"
    r"|\bserver time\s*:?.*\d.*|\b(?:request|ray|trace|session)[\s-]?id\s*:?\s*[\w-]{8,}",
    re.I,
)
_COPYRIGHT = re.compile(r"(©|\(c\)|copyright)((?:\s|©|\(c\))*)(?:(?:19|20)\d\d\s*[-–—]\s*)?(?:19|20)\d\d\b", re.I)


def _drop_words(pattern: re.Pattern[str], numbers_only: bool = False) -> Callable[[str], str]:
    """A rule that takes ``pattern`` out of a block; a block of nothing but signs is then dropped."""

    def drop(text: str) -> str:
        if numbers_only and not _DIGIT.search(text):
            return text
        rest = pattern.sub(" ", text)
        if rest == text:
            return text
        return " ".join(rest.split()) if any(char.isalnum() for char in rest) else ""

    return drop


RULES: tuple[Rule, ...] = (
    Rule(
        "email-obfuscation",
        "Cloudflare's e-mail obfuscation is decoded to the address",
        "another code at every response: 144 false alarms instead of 7 in 720 pairs of archived pages",
        tree=_decode_emails,
    ),
    Rule(
        "character-references",
        "runs of numeric character references that show as text (`&#105;&#x6e;...`) are spelled out",
        "Markdown renderers that mangle addresses choose the base at random: 60 false alarms instead of 7 in 720 pairs",
        text=_spell_references,
        hints=("&#",),
        everywhere=True,
    ),
    Rule(
        "session-links",
        "session ids, nonces and cache busters are dropped from link targets",
        "a new id at every visit without cookies",
        link=_without_session,
    ),
    Rule(
        "tracking-links",
        "campaign parameters (utm_*, gclid ...) are dropped from link targets",
        "the page behind the link is the same",
        link=_without_tracking,
    ),
    Rule(
        "relative-times",
        "`3 hours ago`, `just now` and the like are taken out",
        "they age by themselves: another text at every visit (apify/actor-content-checker#23)",
        text=_drop_words(_RELATIVE),
        hints=("ago", "just now", "vor ", "il y a", "hace "),
    ),
    Rule(
        "counters",
        "numbers of views and of people looking are taken out",
        "another number at every visit, and our own visit counts",
        text=_drop_words(_COUNTERS, numbers_only=True),
        hints=("view", "visit", "watching", "online", "hits"),
    ),
    Rule(
        "machine-notes",
        "`page generated in 0.12 s`, server times and request ids are taken out",
        "written anew for every response",
        text=_drop_words(_MACHINE, numbers_only=True),
        hints=("generated", "rendered", "server time", " id"),
    ),
    Rule(
        "copyright-years",
        "the year beside a copyright sign is taken out",
        "every page of a site changes on the first of January",
        text=lambda text: _COPYRIGHT.sub(r"\1", text),
        hints=("©", "(c)", "copyright"),
    ),
    Rule(
        "page-furniture",
        "menus, banners, footers, forms and buttons are not content (watcher.extract.furniture)",
        "menus and banners move on every page of a site: 163 false alarms instead of 7 in 720",
    ),
    Rule(
        VOLATILE,
        "what differs between two fetches in a row is left out of the content (watcher.extract.volatile)",
        "quotes of the day, rotating teasers, counters nobody foresaw: they differ at every fetch, so each would ring",
    ),
)
NAMES = tuple(rule.name for rule in RULES)


def clean_tree(tree: Node, disabled: frozenset[str]) -> None:
    """Apply every tree rule that is not disabled, in place."""
    for rule in RULES:
        if rule.tree is not None and rule.name not in disabled:
            rule.tree(tree)


def link_cleaner(disabled: frozenset[str]) -> Callable[[str], str]:
    """A function that applies every link rule that is not disabled."""
    rules = [rule.link for rule in RULES if rule.link is not None and rule.name not in disabled]

    def clean(url: str) -> str:
        for rule in rules:
            url = rule(url)
        return url

    return clean


def clean_blocks(blocks: list[str], disabled: frozenset[str], smart: bool) -> list[str]:
    """``blocks`` after every text rule that is not disabled, without those of which nothing is left."""
    whole = "\n".join(blocks)
    short = "\n".join(block for block in blocks if len(block) <= PROSE).lower() if smart else ""
    hinted = [
        (hint, rule.text, rule.everywhere)
        for rule in RULES
        if rule.text is not None and rule.name not in disabled
        for hint in rule.hints
        if hint in (whole if rule.everywhere else short)
    ]
    return [block for block in (_clean(block, hinted) for block in blocks) if block] if hinted else blocks


def _clean(block: str, hinted: list[tuple[str, Callable[[str], str], bool]]) -> str:
    lowered = block.lower()
    for hint, rule, everywhere in hinted:
        if hint in lowered and (everywhere or len(block) <= PROSE):
            block = rule(block)
    return block
