"""``notify_when``: which changes a watch is announced for, as a sentence over its fields.

::

    price < 20 or availability changed
    price -10% and not title contains "refurbished"
    price new low
    items only added

Comparisons look at the new value; ``+10%``, ``-10%`` and ``10%`` at how far it moved; ``new low`` and ``new high`` at
every earlier value; ``contains`` at the new text; ``only added`` and ``only removed`` hold when something was added
(removed), whatever else happened, for one field or, alone, for any. ``not`` binds before ``and``, ``and`` before
``or``; parentheses group. A name or text with blanks stands in quotes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from watcher.core.diff import Kind, diff_values, show
from watcher.core.fingerprint import canonical, normalise
from watcher.core.model import Field, FieldType, Value, Values
from watcher.core.money import amount, is_price

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"[^"]*"|'[^']*')|(?P<percent>[+-]?\d+(?:\.\d+)?\s*%)|(?P<number>[+-]?\d+(?:\.\d+)?(?![\w.-]))"""
    r"""|(?P<op><=|>=|==|!=|<|>|=)|(?P<paren>[()])|(?P<word>[^\s()<>=!"']+))"""
)
_SMART = {
    "title": "text", "price": "price", "availability": "text", "modified": "date", "content": "list", "json": "any",
    "entries": "list", "version": "text", "valid_through": "date", "starts": "date", "ends": "date", "body": "text",
}  # fmt: skip
"""The fields of a record made without definitions, and what they are."""
_ORDERED = ("number", "price", "date", "any")
_VERBS = 'changed, contains "…", only added, only removed, new low, new high, +10%, or a comparison such as < 20'


class ConditionError(ValueError):
    """A ``notify_when`` that cannot be understood; ``str()`` is one sentence."""


class Change(NamedTuple):
    """What a condition judges: the values before and after, and all earlier values of a field, in any order."""

    before: Values
    after: Values
    past: Callable[[str], Iterable[Value]] = lambda field: ()


Check = Callable[[Change], bool]


class Condition(NamedTuple):
    """A condition ready to be asked. ``needs_past`` names the fields whose earlier values it looks at."""

    text: str
    check: Check
    needs_past: frozenset[str]

    def holds(self, change: Change) -> bool:
        """Whether ``change`` is to be announced."""
        return self.check(change)


class _Token(NamedTuple):
    kind: str
    text: str


def _tokens(text: str) -> list[_Token]:
    tokens, place = [], 0
    text = text.rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None or found.lastgroup is None:
            raise ConditionError(f"`{text[place:].strip()[:20]}` makes no sense here (an open quote?)")
        tokens.append(_Token(found.lastgroup, found[found.lastgroup]))
        place = found.end()
    return tokens


def _number(value: Value) -> Decimal | None:
    if is_price(value):
        return amount(value)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return Decimal(value)
    return None


_COMPARE: Mapping[str, Callable[[int], bool]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
    "=": lambda order: order == 0,
    "==": lambda order: order == 0,
    "!=": lambda order: order != 0,
}


def _order(value: Value, wanted: Decimal | str) -> int | None:
    """How ``value`` compares with ``wanted``: -1, 0, 1; None where the two cannot be compared."""
    if isinstance(wanted, Decimal):
        number = _number(value)
        return None if number is None else (number > wanted) - (number < wanted)
    if not isinstance(value, str):
        return None
    text = normalise(value)
    return (text > wanted) - (text < wanted)


def _contains(value: Value, needle: str) -> bool:
    if isinstance(value, list):
        return any(_contains(item, needle) for item in value)
    return value is not None and needle.casefold() in normalise(show(value)).casefold()


def _moved(before: Value, after: Value, sign: str, least: Decimal) -> bool:
    old, new = _number(before), _number(after)
    if old is None or new is None or not old:
        return False
    percent = (new - old) / abs(old) * 100
    return percent >= least if sign == "+" else -percent >= least if sign == "-" else abs(percent) >= least


def _extreme(change: Change, field: str, sign: int) -> bool:
    now = _number(change.after.get(field))
    earlier = [_number(value) for value in (change.before.get(field), *change.past(field))]
    known = [number * sign for number in earlier if number is not None]
    return now is not None and bool(known) and now * sign > max(known)


def _has_kind(change: Change, fields: Iterable[str], kind: Kind) -> bool:
    for field in fields:
        before, after = change.before.get(field), change.after.get(field)
        diff = diff_values(before, after)
        if diff is None:
            continue
        if diff.whole and (before is None) != (after is None):
            if (kind is Kind.ADDED) == (before is None):
                return True
        elif any(block.kind is kind for block in diff.blocks):
            return True
    return False


class _Parser:
    """Recursive descent over the tokens; every method leaves ``place`` behind what it read."""

    def __init__(self, text: str, kinds: Mapping[str, str]) -> None:
        self.tokens = _tokens(text)
        self.place = 0
        self.kinds = kinds
        self.needs_past: set[str] = set()

    def next_is(self, *words: str) -> bool:
        here = self.tokens[self.place : self.place + len(words)]
        if [token.text for token in here if token.kind in ("word", "paren")] != list(words):
            return False
        self.place += len(words)
        return True

    def take(self, expected: str) -> _Token:
        if self.place >= len(self.tokens):
            raise ConditionError(f"it ends where {expected} is expected")
        self.place += 1
        return self.tokens[self.place - 1]

    def whole(self) -> Check:
        check = self.either()
        if self.place < len(self.tokens):
            raise ConditionError(f"`{self.tokens[self.place].text}` is not expected here; join clauses with and, or")
        return check

    def either(self) -> Check:
        checks = [self.both()]
        while self.next_is("or"):
            checks.append(self.both())
        return checks[0] if len(checks) == 1 else lambda change: any(check(change) for check in checks)

    def both(self) -> Check:
        checks = [self.negated()]
        while self.next_is("and"):
            checks.append(self.negated())
        return checks[0] if len(checks) == 1 else lambda change: all(check(change) for check in checks)

    def negated(self) -> Check:
        if self.next_is("not"):
            inner = self.negated()
            return lambda change: not inner(change)
        if self.next_is("("):
            inner = self.either()
            if not self.next_is(")"):
                raise ConditionError("a parenthesis is not closed")
            return inner
        return self.clause()

    def only(self) -> Kind | None:
        for word, kind in (("added", Kind.ADDED), ("removed", Kind.REMOVED)):
            if self.next_is("only", word):
                return kind
        return None

    def clause(self) -> Check:
        kind = self.only()
        if kind is not None:
            wanted = kind
            return lambda change: _has_kind(change, {**change.before, **change.after}, wanted)
        field = self.field()
        kind = self.only()
        if kind is not None:
            wanted = kind
            return lambda change: _has_kind(change, [field], wanted)
        if self.next_is("changed"):
            return lambda change: canonical(change.before.get(field)) != canonical(change.after.get(field))
        if self.next_is("new", "low") or self.next_is("new", "high"):
            return self.extreme(field, 1 if self.tokens[self.place - 1].text == "high" else -1)
        if self.next_is("contains"):
            needle = normalise(self.value("a text"))
            return lambda change: _contains(change.after.get(field), needle)
        return self.measured(field)

    def field(self) -> str:
        token = self.take("a field")
        name = token.text.strip("\"'") if token.kind == "text" else token.text
        if token.kind not in ("word", "text"):
            raise ConditionError(f"`{token.text}` stands where a field is expected")
        if name not in self.kinds:
            near = difflib.get_close_matches(name, self.kinds, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(self.kinds)}"
            raise ConditionError(f"there is no field `{name}`; {hint}")
        return name

    def value(self, expected: str) -> str:
        token = self.take(expected)
        if token.kind in ("op", "paren"):
            raise ConditionError(f"`{token.text}` stands where {expected} is expected")
        return token.text[1:-1] if token.kind == "text" else token.text

    def ordered(self, field: str, what: str) -> None:
        if self.kinds[field] not in _ORDERED:
            raise ConditionError(
                f"`{field}` is {self.kinds[field]}, and {what} needs a number, a price or a date: give it such a type"
            )

    def extreme(self, field: str, sign: int) -> Check:
        self.ordered(field, "a new low or high")
        self.needs_past.add(field)
        return lambda change: _extreme(change, field, sign)

    def measured(self, field: str) -> Check:
        token = self.take(_VERBS)
        if token.kind == "percent":
            self.ordered(field, f"`{token.text}`")
            least = Decimal(token.text.strip("+-% "))
            return lambda change: _moved(change.before.get(field), change.after.get(field), token.text[0], least)
        if token.kind != "op":
            raise ConditionError(f"`{token.text}` is not known after `{field}`; say {_VERBS}")
        return self.comparison(field, token.text)

    def comparison(self, field: str, op: str) -> Check:
        equality = op in ("=", "==", "!=")
        if not equality:
            self.ordered(field, f"`{op}`")
        token = self.take("a value")
        kind = self.kinds[field]
        wanted: Decimal | str = normalise(token.text[1:-1] if token.kind == "text" else token.text)
        if token.kind == "number" and kind not in ("text", "date"):
            wanted = Decimal(token.text)
        elif kind in ("number", "price"):
            raise ConditionError(f"`{field}` is a {kind}, and `{token.text}` is not a number")
        accept = _COMPARE[op]

        def check(change: Change) -> bool:
            order = _order(change.after.get(field), wanted)
            return op == "!=" if order is None else accept(order)

        return check


def _kinds(fields: Sequence[Field]) -> Mapping[str, str]:
    if not fields:
        return _SMART
    kinds = {}
    for field in fields:
        many = field.all or field.unordered or field.each or field.type in (FieldType.LIST, FieldType.CONTENT)
        kind = "any" if field.json is not None and field.type is FieldType.TEXT else str(field.type)
        kinds[field.name] = "list" if many else kind
    return kinds


def compile_condition(text: str, fields: Sequence[Field] = ()) -> Condition:
    """Read a ``notify_when`` against the watch's fields (none: those of the smart record).

    Raises:
        ConditionError: it does not parse, names no field, or compares what has no order.
    """
    parser = _Parser(text, _kinds(fields))
    if not parser.tokens:
        raise ConditionError("it is empty")
    check = parser.whole()
    return Condition(text, check, frozenset(parser.needs_past))
