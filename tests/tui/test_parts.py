"""The pure parts: graphs, diffs as ink, picking of fields, tallies, the key table."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.tui.support import DAY, HOUR, NOW, check, town, watch
from watcher.core.diff import diff_values
from watcher.core.model import Field, FieldType, Outcome, Record
from watcher.engine.handle import Preview
from watcher.tui import changes, graphs, keys, picking
from watcher.tui.ink import plain, width
from watcher.tui.signs import ASCII, UNICODE
from watcher.tui.tally import Tally, Trial, page_of, top

# -- graphs


def test_a_sparkline_shows_anything_above_nothing() -> None:
    assert graphs.sparkline([0, 1, 50, 100], UNICODE) == " ▁▄█"
    assert graphs.sparkline([], UNICODE) == ""
    assert graphs.sparkline([0, 0], UNICODE) == "  "


def test_resampling_keeps_the_mean() -> None:
    values = [float(n) for n in range(100)]
    thin = graphs.resample(values, 10)
    assert len(thin) == 10
    assert sum(thin) / 10 == sum(values) / 100
    assert graphs.resample(values, 200) == values


def test_the_heat_map_has_a_row_a_day_and_is_ascii_when_asked() -> None:
    heat = graphs.HeatMap()
    heat.add(NOW)
    lines = heat.lines(ASCII)
    assert len(lines) == 8
    assert len({width(line) for line in lines[1:]}) == 1
    assert all(plain(line).isascii() for line in lines)
    assert "*" not in plain(lines[1])
    assert heat.counts[3][14] == 1


# -- diffs


def _diff(before: object, after: object) -> tuple:
    found = diff_values(before, after, "field")
    assert found is not None
    return (found,)


def test_short_values_stand_on_one_line() -> None:
    lines = changes.unified(_diff({"minor": 1990, "currency": "EUR"}, {"minor": 1750, "currency": "EUR"}), 60, UNICODE)
    assert [plain(line) for line in lines] == ["field  19.90 EUR → 17.50 EUR  -12.1 %"]


@pytest.mark.parametrize("cells", [12, 20, 40, 80])
def test_diffs_never_exceed_their_width(cells: int) -> None:
    before = ["one two three four five " * 5, "stays", "日本語" * 20]
    after = ["one two three 4 five " * 5, "stays", "new " * 30]
    diffs = _diff(before, after)
    for draw in (changes.unified, changes.side_by_side):
        for wrapped in (True, False):
            assert all(width(line) <= max(cells, 19) for line in draw(diffs, cells, UNICODE, wrapped=wrapped))


def test_a_diff_as_text_keeps_its_signs() -> None:
    assert changes.as_text(_diff("old text", "new text")) == "field\n- old text\n+ new text\n"
    assert changes.as_text(()) == ""


def test_the_last_change_skips_what_is_none() -> None:
    handle = town()
    found = changes.last_change(handle.versions["shop.example/desk-lamp"][2:])
    assert found is None
    version, diffs = changes.last_change(handle.versions["shop.example/desk-lamp"]) or (None, ())
    assert version is not None
    assert [diff.field for diff in diffs] == ["title", "price", "stock"]


# -- picking fields


@pytest.mark.parametrize(
    ("text", "field", "written"),
    [
        ("title = h1", Field(name="title", css="h1"), "h1"),
        ("t=h1::text", Field(name="t", css="h1"), "h1"),
        ("link = a.more::attr(href)", Field(name="link", css="a.more", attr="href"), "a.more::attr(href)"),
        (
            "price = .price as price",
            Field(name="price", css=".price", type=FieldType.PRICE),
            {"css": ".price", "type": "price"},
        ),
        ("x = xpath://h1", Field(name="x", xpath="//h1"), {"xpath": "//h1"}),
        (
            "n = json:a.b as number",
            Field(name="n", json="a.b", type=FieldType.NUMBER),
            {"json": "a.b", "type": "number"},
        ),
        ("v = css:li:first-child", Field(name="v", css="li:first-child"), "li:first-child"),
        ("v = li:first-child", Field(name="v", css="li:first-child"), "li:first-child"),
    ],
)
def test_fields_are_typed_read_and_written(text: str, field: Field, written: object) -> None:
    assert picking.parse_field(text) == field
    assert picking.definition(field) == written


@pytest.mark.parametrize("text", ["", "title", "= h1", "title =", "price = .p as money"])
def test_what_is_no_field_says_how_to_write_one(text: str) -> None:
    with pytest.raises(picking.FieldMistake) as caught:
        picking.parse_field(text)
    assert "write NAME = SELECTOR" in str(caught.value) or "there are text" in str(caught.value)


def test_the_values_of_a_json_page_are_offered_by_their_paths() -> None:
    record = Record(values={"document": {"name": "x", "stock": {"left": 3}, "sizes": [{"name": "S"}], "odd key": 1}})
    preview = Preview(url="https://a.example", record=record, content_type="application/json; charset=utf-8")
    found = {field.name: field.json for field in picking.candidates(preview)}
    assert found == {"name": "name", "left": "stock.left", "name_2": "sizes[0].name", "odd_key": '"odd key"'}


def test_values_are_shown_in_short() -> None:
    assert picking.in_short(["a", "b"]) == "2 parts: a"
    assert picking.in_short([]) == "empty"
    assert picking.in_short("a\n b") == "a b"


# -- tallies


def test_checks_are_counted_and_silent_ones_are_not() -> None:
    tally = Tally(start=NOW - DAY, end=NOW)
    for outcome in (Outcome.CHANGED, Outcome.NOT_MODIFIED, Outcome.ERROR):
        tally.add(check("a.example", NOW - HOUR, outcome))
    tally.add(check("a.example", NOW, Outcome.CHANGED, silent=True))
    assert (len(tally.kept), tally.changes, tally.failures) == (3, Counter({"a.example": 1}), Counter({"a.example": 1}))
    assert tally.checks_over_time.total() == 3
    assert tally.percentile(0.5) == 0.083
    assert not any(kept.exchanges for kept in tally.kept)
    assert top(tally.changes, 3) == [("a.example", 1)]


def test_a_history_becomes_a_page_only_when_it_is_a_day_long() -> None:
    page = watch("a.example")
    young = [check("a.example", NOW - HOUR, Outcome.FIRST)]
    assert page_of(page, young, NOW) is None
    old = [
        check("a.example", NOW - 3 * DAY, Outcome.FIRST),
        check("a.example", NOW - 2 * DAY, Outcome.CHANGED, gap=DAY, modified_at=NOW - 2.5 * DAY),
        check("a.example", NOW - DAY, Outcome.CHANGED, gap=DAY, modified_at=NOW - 9 * DAY),
    ]
    found = page_of(page, old, NOW)
    assert found is not None
    assert found.changes == (NOW - 2.5 * DAY, NOW - DAY)


def test_policies_are_told_apart_by_what_they_cost() -> None:
    page = watch("a.example")
    checks = [check("a.example", NOW - (30 - day) * DAY, Outcome.CHANGED, gap=DAY) for day in range(30)]
    trial = Trial()
    found = page_of(page, checks, NOW)
    assert found is not None
    trial.add(found, page.cadence)
    results = {row.policy: row for row in trial.results()}
    assert list(results) == ["adaptive", "estimated", "fixed"]
    assert results["fixed"].checks_per_page_day == pytest.approx(96, rel=0.1), "every quarter of an hour"
    assert results["adaptive"].checks_per_page_day < 96


# -- the table of keys


def test_ids_are_unique_and_keys_clash_nowhere() -> None:
    assert len(keys.BY_ID) == len(keys.TABLE)
    screens = {
        keys.WATCHES: (keys.WATCHES, keys.PANE, keys.ROWS, keys.ALL),
        keys.DIFF: (keys.DIFF, keys.PANE, keys.ROWS, keys.ALL),
        keys.NUMBERS: (keys.NUMBERS, keys.ROWS, keys.ALL),
        keys.ACTIVITY: (keys.ACTIVITY, keys.ROWS, keys.ALL),
    }
    for scopes in screens.values():
        bound = Counter(name for key in keys.TABLE if key.scope in scopes for name in key.keys.split(","))
        assert [name for name, count in bound.items() if count > 1] == []


def test_the_table_names_every_key() -> None:
    table = keys.markdown()
    for key in keys.TABLE:
        assert f"`{key.id}`" in table
        assert key.help in table


def test_the_footer_leads_back_where_one_cannot_quit() -> None:
    main = [key.id for key, _ in keys.footer((keys.WATCHES,), {})]
    other = [key.id for key, _ in keys.footer((keys.DIFF,), {})]
    assert main[0] == other[0] == "help"
    assert other[1] == "back"
    assert "quit" in main
    assert "quit" not in other
    assert {key.id: name for key, name in keys.footer((keys.WATCHES,), {"check": "c"})}["check"] == "c"
