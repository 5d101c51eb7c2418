"""Text for terminals: safe, cut and wrapped by cells, not by characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from watcher.tui.ink import Ink, clean, cut, fit, padded, plain, width, wrap


def test_nothing_a_terminal_would_obey_survives() -> None:
    assert clean("a\x1b[31mb\x07\x9bc\u202ed\tend\n") == "a�[31mb��cd end "


def test_fit_cuts_and_pads_by_cells() -> None:
    assert fit("abc", 5) == "abc  "
    assert fit("abc", 5, right=True) == "  abc"
    assert fit("abcdef", 4) == "abc…"
    assert fit("日本語", 4) == "日 …"
    assert fit("abc", 0) == ""


@given(st.text(max_size=40), st.integers(1, 30))
def test_fit_is_always_exact(text: str, cells: int) -> None:
    assert width([Ink(fit(text, cells))]) == cells


@given(st.lists(st.text(max_size=20), max_size=4), st.integers(1, 30))
def test_cut_never_exceeds_and_padded_is_exact(texts: list[str], cells: int) -> None:
    line = [Ink(clean(text)) for text in texts]
    assert width(cut(line, cells)) <= cells
    assert width(padded(line, cells)) == cells


def test_cut_shows_that_something_is_missing_even_between_inks() -> None:
    assert plain(cut([Ink("abcd"), Ink("ef")], 4)) == "abc…"
    assert plain(cut([Ink("abcd"), Ink("ef")], 5)) == "abcd…"
    assert plain(cut([Ink("abcd"), Ink("ef")], 6)) == "abcdef"


def test_wrap_breaks_at_blanks_keeps_styles_and_indents() -> None:
    lines = wrap([Ink("one two ", "key"), Ink("three\nfour")], 8, indent=2)
    assert [plain(line) for line in lines] == ["one two", "  three", "  four"]
    assert lines[0][0].style == "key"


def test_wrap_breaks_words_longer_than_a_line() -> None:
    assert [plain(line) for line in wrap([Ink("abcdefghij")], 4)] == ["abcd", "efgh", "ij"]
    assert [plain(line) for line in wrap([Ink("日本語日本語")], 4)] == ["日本", "語日", "本語"]


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=80), st.integers(5, 30), st.integers(0, 3))
def test_wrap_never_exceeds_and_loses_no_word(text: str, cells: int, indent: int) -> None:
    lines = wrap([Ink(text)], cells, indent)
    assert lines
    assert all(width(line) <= cells for line in lines)
    kept = "".join("".join(plain(line) for line in lines).split())
    assert kept == "".join(clean(text).split())
