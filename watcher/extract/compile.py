"""Field definitions checked as a whole, so that a wrong selector is found when the config is loaded."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from zoneinfo import ZoneInfo

from watcher.core.model import Field, FieldType
from watcher.extract.errors import FieldError
from watcher.extract.fields import Definitions, read_all
from watcher.extract.noise import RULES
from watcher.extract.selectors import compile_css, compile_json, compile_regex, compile_xpath

_COMPILERS: dict[str, Callable[[str], object]] = {
    "css": compile_css,
    "xpath": compile_xpath,
    "json": compile_json,
    "regex": compile_regex,
}


def _selector_problems(field: Field) -> list[str]:
    problems = []
    picking = [name for name in ("css", "xpath", "json") if getattr(field, name) is not None]
    if len(picking) > 1:
        problems.append(f"only one of {', '.join(picking)} can pick the value")
    if not picking and field.regex is None:
        problems.append("nothing picks its value: give css, xpath, json or regex")
    for name, compiler in _COMPILERS.items():
        selector = getattr(field, name)
        if selector is None:
            continue
        try:
            compiler(selector)
        except ValueError as error:
            problems.append(str(error))
    return problems


def _pattern_problems(field: Field) -> list[str]:
    problems = []
    for selector in field.remove:
        problems.extend(_removal_problem(selector))
    for pattern, instead in field.replace:
        try:
            compile_regex(pattern).sub(instead, "")
        except (ValueError, IndexError, re.error) as error:
            problems.append(f"replace: {error}")
    return problems


def _removal_problem(selector: str) -> list[str]:
    try:
        css = compile_css(selector)
    except ValueError as error:
        return [f"remove: {error}"]
    return ["remove: drops elements; ::text and ::attr have no place there"] if css.own_text or css.attr else []


def _option_problems(field: Field) -> list[str]:
    problems = []
    for name in ("decimal", "grouping"):
        value = getattr(field, name)
        if value is not None and value not in (".", ","):
            problems.append(f'{name} must be "." or ",", not "{value}"')
    if field.decimal is not None and field.decimal == field.grouping:
        problems.append("decimal and grouping cannot be the same character")
    if field.currency is not None and not (
        len(field.currency) == 3 and field.currency.isascii() and field.currency.isupper()
    ):
        problems.append(f'currency must be an ISO 4217 code such as "EUR", not "{field.currency}"')
    if field.attr is not None and field.css is not None and "::" in field.css:
        problems.append("give attr, or ::text / ::attr(...) in the selector, not both")
    if field.timezone is not None:
        problems.extend(_zone_problem(field.timezone))
    if field.each and field.type is FieldType.CONTENT:
        problems.append("each gives rows; its fields have types, it has none")
    return problems


def _zone_problem(zone: str) -> list[str]:
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        return [f'timezone must be an IANA name such as "Europe/Berlin", not "{zone}"']
    return []


@lru_cache(maxsize=4096)  # thousands of watches share a handful of definitions
def _problems(field: Field, prefix: str = "") -> tuple[tuple[str, str], ...]:
    name = prefix + field.name
    found = [*_selector_problems(field), *_pattern_problems(field), *_option_problems(field)]
    cells = [problem for cell in field.each for problem in _problems(cell, f"{name}.")]
    return (*((name, sentence) for sentence in found), *cells)


def compile_fields(
    definitions: Definitions, *, remove: Sequence[str] = (), disabled_rules: Sequence[str] = ()
) -> tuple[Field, ...]:
    """The fields of a watch, with every selector, pattern and option checked.

    Raises:
        FieldError: everything that is wrong, at once; the watch's own ``remove`` and ``disabled_rules`` stand under
            those names.
    """
    fields, problems = read_all(definitions)
    problems += [problem for field in fields for problem in _problems(field)]
    problems.extend(("remove", text.removeprefix("remove: ")) for s in remove for text in _removal_problem(s))
    known = [rule.name for rule in RULES]
    problems.extend(
        ("disabled_rules", f"`{name}` is no noise rule; there are {', '.join(known)}")
        for name in disabled_rules
        if name not in known
    )
    if problems:
        raise FieldError(tuple(problems))
    return fields
