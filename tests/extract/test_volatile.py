"""Noise no rule foresaw: found by two fetches in a row, left out afterwards, never more than that."""

from __future__ import annotations

from watcher.core.model import Record
from watcher.extract import extract_record, find_flapping, find_volatile, volatile_blocks

WORDS = "one two three four five six seven eight"
LINES = [f"Paragraph number {word} says something that stays." for word in WORDS.split()]


def page(*extra: tuple[int, str], title: str = "T") -> bytes:
    lines = list(LINES)
    for place, text in sorted(extra, reverse=True):
        lines.insert(place, text)
    return f"<title>{title}</title><main>{''.join(f'<p>{line}</p>' for line in lines)}</main>".encode()


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


def test_flapping_is_found_in_history() -> None:
    a, b = record(page((2, "Front end one"))), record(page((2, "Second machine")))
    assert [place.text for place in find_flapping([a, b, a, b])] == ["Front end one"]
    assert find_flapping([a, b, b, a]) == ()
    assert find_flapping([a, a, a, a]) == ()
    assert find_flapping([a, b, a]) == ()
