"""Noise no rule foresaw: found by two fetches in a row, left out afterwards, never more than that."""

from __future__ import annotations

from watcher.core.model import Record
from watcher.extract import Flapping, extract_record, find_flapping, find_volatile, volatile_blocks

WORDS = "one two three four five six seven eight"
LINES = [f"Paragraph number {word} says something that stays." for word in WORDS.split()]


def page(*extra: tuple[int, str], title: str = "T") -> bytes:
    lines = list(LINES)
    for place, text in sorted(extra, reverse=True):
        lines.insert(place, text)
    return f"<title>{title}</title><main>{''.join(f'<p>{line}</p>' for line in lines)}</main>".encode()


def paragraphs(*lines: str) -> bytes:
    return f"<title>T</title><main>{''.join(f'<p>{line}</p>' for line in lines)}</main>".encode()


def record(body: bytes, volatile: tuple[str, ...] = ()) -> Record:
    return extract_record(body, content_type="text/html", volatile=volatile)


def test_a_counter_no_rule_knows_is_left_out_for_ever() -> None:
    first, second = (record(page((3, f"Slots taken so far {n}"))) for n in (17, 23))
    places = find_volatile(first, second)
    assert [place.text for place in places] == ["Slots taken so far 17"]
    keys = tuple(place.key for place in places)
    fingerprints = {record(page((3, f"Slots taken so far {n}")), keys).fingerprint for n in (17, 23, 99)}
    assert len(fingerprints) == 1


def test_a_rotating_text_is_left_out_by_its_neighbours() -> None:
    first, second = (record(page((5, text))) for text in ("Ann says: wonderful!", "Never had a better one, says Bob"))
    keys = volatile_blocks(first, second)
    bodies = [page((5, text)) for text in ("Ann says: wonderful!", "Carol: a third voice", "x")]
    assert len({record(body, keys).fingerprint for body in bodies}) == 1
    assert record(page(), keys).fingerprint == record(bodies[0], keys).fingerprint


def test_what_is_volatile_at_the_ends_is_known_there() -> None:
    first, second = (record(page((0, text), (8, text + " end"))) for text in ("alpha beta", "gamma"))
    keys = volatile_blocks(first, second)
    assert record(page((0, "delta"), (8, "omega")), keys).values["content"] == LINES


def test_a_real_change_beside_a_volatile_place_is_seen() -> None:
    keys = volatile_blocks(*(record(page((5, text))) for text in ("Ann: wonderful", "Bob: a bargain")))
    changed = page((5, "Carol: fine")).replace(b"number two", b"number 2")
    assert record(changed, keys).fingerprint != record(page((5, "Carol: fine")), keys).fingerprint


def test_a_title_or_price_is_never_volatile() -> None:
    first, second = record(page(title="A")), record(page(title="B"))
    assert find_volatile(first, second) == ()


def test_another_page_is_not_noise() -> None:
    first, second = record(page()), record(page().replace(b"stays", b"is quite another"))
    assert volatile_blocks(first, second) == ()


def test_the_same_page_has_no_volatile_place() -> None:
    assert volatile_blocks(record(page()), record(page())) == ()


def test_the_same_neighbours_elsewhere_make_a_place_unsure() -> None:
    star = "Five of five stars"
    first, second = (record(paragraphs(*LINES, star, "Ann liked it", star, last, star)) for last in ("Bob", "Carol"))
    assert find_volatile(first, second) == ()


def test_a_price_or_an_availability_in_the_text_stays_where_no_field_has_it() -> None:
    for texts in (("only 17 EUR", "only 19 EUR"), ("€5 now", "€6 now"), ("3 left in stock", "2 left in stock")):
        assert find_volatile(*(record(page((3, text))) for text in texts)) == (), texts
    keys = volatile_blocks(*(record(page((3, text))) for text in ("Ann says hello", "Bob waves")))
    assert "Sale: 5 EUR" in record(page((3, "Sale: 5 EUR")), keys).values["content"]


def test_two_places_after_the_same_block_are_both_known() -> None:
    middle = [f"Another paragraph, {word} of those between." for word in (WORDS + " nine ten eleven twelve").split()]

    def two(one: str, other: str) -> bytes:
        return paragraphs("Heading", one, "Ends one", *LINES, *middle, "Heading", other, "Ends two")

    keys = volatile_blocks(record(two("alpha beta", "gamma")), record(two("delta", "epsilon zeta")))
    assert len(keys) == 2
    assert len({key.split("-")[0] for key in keys}) == 1
    assert len({record(two(one, other), keys).fingerprint for one, other in ("xy", "zw")}) == 1


def test_the_rule_can_be_switched_off() -> None:
    keys = volatile_blocks(*(record(page((3, f"Slots taken so far {n}"))) for n in (17, 23)))
    kept = extract_record(page((3, "x")), content_type="text/html", volatile=keys, disabled_rules=["volatile"])
    assert "x" in kept.values["content"]


def test_flapping_is_found_in_history() -> None:
    a, b = record(page((2, "Front end one"))), record(page((2, "Second machine")))
    assert find_flapping([a, b, a, b]) == (Flapping(("Front end one",), ("Second machine",)),)
    assert find_flapping([a, b, b, a]) == ()
    assert find_flapping([a, a, a, a]) == ()
    assert find_flapping([a, b, a]) == ()
    assert find_flapping([]) == ()


def test_flapping_is_found_beside_other_changes() -> None:
    def version(front: str, news: str) -> Record:
        return record(page((2, front), (7, news)))

    rows = [("one", "old"), ("two", "old"), ("two", "new"), ("one", "new"), ("two", "newest")]
    assert find_flapping([version(*row) for row in rows]) == (Flapping(("one",), ("two",)),)
    assert find_flapping([version(*row) for row in [*rows, ("two", "last")]]) == (), "it is over, as far as we know"


def test_a_block_that_comes_and_goes_flaps_too() -> None:
    a, b = record(page()), record(page((2, "Sometimes here")))
    assert find_flapping([a, b, a, b]) == (Flapping((), ("Sometimes here",)),)


def ignoring(body: bytes, *texts: str) -> list[str]:
    content: list[str] = extract_record(body, content_type="text/html", ignore=texts).values["content"]
    return content


def test_texts_to_ignore_are_left_out_whatever_their_numbers() -> None:
    body = paragraphs("Visitors today 17", *LINES, "A long teaser about nothing at all", "42")
    assert ignoring(body, "Visitors today 3", "A long teaser…", "42") == LINES
    assert ignoring(body, "A long teaser...", "visitors today 3", "41", "…") == ["Visitors today 17", *LINES, "42"]
