"""The line-aware reader against ``tomllib``, which stays the judge of what TOML is."""

from __future__ import annotations

import re
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from watcher.config.toml import TomlError, read_toml

KEYS = st.sampled_from(
    ["a", "b", "c", '"a"', "'b'", '"q.r"', "a.b", "a . c", "b.'c'", '"\\u0061"', "1", "-", "", "a b", "ä"]
)
VALUES = st.sampled_from(
    [
        '"x"',
        '""',
        '"a\\tb"',
        '"#no"',
        "'lit # eral'",
        "1",
        "0",
        "-3",
        "01",
        "1_000",
        "0x1f",
        "1.5",
        "inf",
        "true",
        "false",
        "TRUE",
        "2026-12-01",
        "2026-12-01T08:00:00Z",
        "[]",
        "[1, 2]",
        "[\n  1, # one\n  2,\n]",
        "{ a = 1 }",
        "{ a = 1, a = 2 }",
        "{}",
        '[{ a = "]" }, { b = "#" }]',
        '"""\nthree\n"lines" # here\n"""',
        "'''a\n[b]\nc = 1'''",
        '""""quoted""""',
        '"unclosed',
        "[1, 2",
        "",
        "x",
    ]
)
TAILS = st.sampled_from(["\n", "  \n", " # why\n", "\r\n", "\n\n# note\n", " #\x01\n", ""])
STATEMENTS = st.one_of(
    st.tuples(st.sampled_from(["", "  ", "\t"]), KEYS, st.sampled_from([" = ", "=", " "]), VALUES, TAILS).map("".join),
    st.tuples(st.sampled_from(["[", "[[", "[ "]), KEYS, st.sampled_from(["]", "]]", " ]"]), TAILS).map("".join),
    st.tuples(KEYS, TAILS).map(lambda parts: f"[{parts[0]}]{parts[1]}"),
    st.tuples(KEYS, TAILS).map(lambda parts: f"[[{parts[0]}]]{parts[1]}"),
    st.tuples(KEYS, VALUES).map(lambda parts: f"{parts[0]} = {parts[1]}\n"),
)


def refused_on_lines(text: str) -> list[int]:
    try:
        return [duplicate.line for duplicate in read_toml(text).duplicates]
    except TomlError as error:
        return [error.line]


def agrees(text: str) -> None:
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assert refused_on_lines(text), f"accepted what tomllib refuses: {text!r}"
        assert set(refused_on_lines(text)) <= set(range(1, text.count("\n") + 2))
        return
    document = read_toml(text)
    assert document.duplicates == []
    assert document.data == expected
    lines = re.split(r"\r?\n", text)
    for key in document.data:
        line = document.line(document.data, key)
        assert line is not None
        assert key in lines[line - 1].replace("\\u0061", "a")


@settings(max_examples=1500, deadline=None)
@given(st.lists(STATEMENTS, max_size=7))
def test_reads_what_tomllib_reads(statements: list[str]) -> None:
    agrees("".join(statements))


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet="ab=.[]{}\"'#\\\n\r ,1", max_size=30))
def test_any_text_is_judged_as_tomllib_does(text: str) -> None:
    agrees(text)


@pytest.mark.parametrize(
    "text",
    [
        "[a.b.c]\nz = 1\n[a]\ny = 2\n",
        "[fruit]\napple.color = 1\napple.taste.sweet = true\n[fruit.apple.texture]\nsmooth = true\n",
        "[fruit]\napple.color = 1\n[fruit.apple]\n",
        "[a.b.c]\n[a]\nb.c.t = 1\n",
        "[[a]]\n[a.b]\nx = 1\n[[a]]\n[a.b]\nx = 2\n[[a.c]]\n[[a.c]]\n",
        "[[a]]\n[a]\n",
        "a = []\n[[a]]\n",
        "a = { b = 1 }\n[a.c]\n",
        "a = { b = 1 }\na.c = 2\n",
        "a.b = 1\n[a]\n",
        "[a]\nb = 1\n[a.b]\n",
        "[a]\n[a]\n",
        "[a.b]\n[a]\n[a]\n",
    ],
)
def test_the_rules_for_defining_tables(text: str) -> None:
    agrees(text)


def test_every_key_and_table_has_its_line() -> None:
    document = read_toml(
        'top = 1\n\n# a note\n[[watch]]\nname = "a" # why\nlist = [\n  1,\n  2,\n]\ntext = """\nx\n"""\n'
        "[watch.fields]\np.css = 'x'\n\n[[watch]]\nname = \"b\"\n"
    )
    first, second = document.data["watch"]
    assert document.line(document.data, "top") == 1
    assert document.line(first) == 4
    assert [document.line(first, key) for key in ("name", "list", "text", "fields")] == [5, 6, 10, 13]
    assert document.line(first["fields"], "p") == 14
    assert document.line(first["fields"]["p"], "css") == 14
    assert (document.line(second), document.line(second, "name")) == (16, 17)
    assert document.line(second, "absent") is None


def test_duplicates_are_collected_with_both_lines() -> None:
    document = read_toml(
        '[[watch]]\nname = "k"\nname = "l"\nurl = "1"\n[a]\n[a]\nb = 1\n[[watch]]\nurl = "2"\nurl = "3"\n'
    )
    found = [(one.key, one.line, one.first) for one in document.duplicates]
    assert found == [("name", 3, 2), ("a", 6, 5), ("url", 10, 9)]
    assert document.data["watch"] == [{"name": "k", "url": "1"}, {"url": "2"}]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [('[[watch]]\nname = "kettle\nurl = "x"\n', 2, 15), ("a = 1\nb = [1,\n", 2, None), ("a = 1\n\nb\n", 3, 2)],
)
def test_a_syntax_error_has_a_place(text: str, line: int, column: int | None) -> None:
    with pytest.raises(TomlError) as caught:
        read_toml(text)
    assert (caught.value.line, caught.value.column) == (line, column)
