"""Wrong definitions are found when the config is loaded: all at once, by name, with what to do."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from watcher.core.model import Field
from watcher.extract import FieldError, compile_fields
from watcher.extract.selectors import compile_css, compile_json, compile_xpath


def problems(**definitions: Any) -> dict[str, str]:
    with pytest.raises(FieldError) as caught:
        compile_fields(definitions)
    return dict(caught.value.problems)


@pytest.mark.parametrize(
    ("definition", "sentence"),
    [
        (".x[", "`.x[` is not a CSS selector: expected an identifier at position 3"),
        ("//p", "this looks like XPath: write xpath = ..."),
        ('p:contains("x")', "CSS has no :contains(), use xpath"),
        ("h1::txt", "only ::text and ::attr(name) are known, at the end"),
        ("h1::text, h2", "must all end in the same ::text or ::attr(...)"),
        ({"xpath": "//a["}, "is not an XPath expression"),
        ({"xpath": "foo(1)"}, "unknown function"),
        ({"json": "a.["}, "is not a JMESPath expression"),
        ({"json": "$..price"}, "uses JSONPath that JMESPath has no word for"),
        ({"regex": "("}, "is not a regular expression"),
        ({"css": "a", "xpath": "//a"}, "only one of css, xpath can pick the value"),
        ({}, "nothing picks its value: give css, xpath, json or regex"),
        ({"cs": "a"}, "unknown key `cs`; did you mean `css`?"),
        ({"css": "a", "type": "prices"}, "did you mean `price`?"),
        ({"css": "a", "all": "yes"}, "Expected `bool`, got `str`"),
        ({"css": "a", "remove": ["b["]}, "remove: `b[` is not a CSS selector"),
        ({"css": "a", "remove": ["b::text"]}, "remove: drops elements"),
        ({"css": "a", "replace": [["(", "x"]]}, "replace: `(` is not a regular expression"),
        ({"css": "a", "replace": [["a", r"\2"]]}, "replace: "),
        ({"css": "a", "decimal": ";"}, 'decimal must be "." or ","'),
        ({"css": "a", "decimal": ".", "grouping": "."}, "cannot be the same"),
        ({"css": "a", "currency": "euro"}, "currency must be an ISO 4217 code"),
        ({"css": "a", "timezone": "Mars"}, "timezone must be an IANA name"),
        ({"css": "a::text", "attr": "href"}, "not both"),
        (5, "give a CSS selector, or a table"),
    ],
)
def test_a_wrong_definition_is_one_sentence(definition: Any, sentence: str) -> None:
    found = problems(f=definition)
    assert sentence in found["f"]
    assert "\n" not in found["f"]


def test_all_problems_come_at_once_under_their_names() -> None:
    found = problems(a=".x[", b={"xpath": "//["}, rows={"css": "li", "each": {"t": "a[", "u": {"typ": 1}}}, fine="h1")
    assert list(found) == ["rows.u", "a", "b"]
    assert list(problems(rows={"css": "li", "each": {"t": "a["}})) == ["rows.t"]


def test_watch_wide_options_are_checked_too() -> None:
    with pytest.raises(FieldError) as caught:
        compile_fields({}, remove=["a["], disabled_rules=["noise"])
    assert [name for name, _ in caught.value.problems] == ["remove", "disabled_rules"]
    assert "email-obfuscation" in str(caught.value)


def test_definitions_become_fields() -> None:
    fields = compile_fields({"t": "h1", "n": {"css": "p", "type": "datetime"}, "r": {"css": "li", "each": {"a": "a"}}})
    assert fields[0] == Field(name="t", css="h1")
    assert fields[1].type == "date"
    assert fields[2].each == (Field(name="a", css="a"),)
    assert compile_fields(fields) == fields


def test_suffixes_are_ours_and_the_rest_is_css() -> None:
    assert compile_css("a[href='::text'], b:is(i, u)") == ("a[href='::text'], b:is(i, u)", False, None)
    assert compile_css("h1 ::text , h2::text") == ("h1 , h2", True, None)
    assert compile_css("meta::attr( Content )") == ("meta", False, "content")


def test_prefixes_in_xpath_mean_the_prefix_in_the_document() -> None:
    assert compile_xpath("//m:a/@x:y[. = 'q:r']").path == "//*[name()='m:a']/@*[name()='x:y'][. = 'q:r']"
    assert compile_xpath("//a[re:test(., 'b')]/child::b").path == "//a[re:test(., 'b')]/child::b"


@pytest.mark.parametrize(
    ("query", "value", "expected"),
    [
        ("$.a.b", {"a": {"b": None}}, (True, None)),
        ("a.b", {"a": {}}, (False, None)),
        ("$['a b'].c", {"a b": {"c": 1}}, (True, 1)),
        ("$", [1], (True, [1])),
        ("$[0].x", [{"x": 0}], (True, 0)),
        ("a[-1]", {"a": [1, 2]}, (True, 2)),
        ("$.books[*].t", {"books": [{"t": 1}, {}]}, (True, [1])),
        ("$.books[*]", {"books": []}, (True, [])),
        ("$.books[*]", {}, (False, None)),
        ("sort_by(x, &n)[0].n", {"x": [{"n": 2}, {"n": 1}]}, (True, 1)),
        ("x[?n > `1`].n | [0]", {"x": [{"n": 1}, {"n": 2}]}, (True, 2)),
    ],
)
def test_json_paths(query: str, value: Any, expected: tuple[bool, Any]) -> None:
    assert compile_json(query)(value) == expected


def test_importing_the_package_loads_no_parser() -> None:
    code = "import sys, watcher.extract; print(sorted({'turbohtml', 'jmespath', 'pypdf'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
