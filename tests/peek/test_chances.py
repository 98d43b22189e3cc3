"""How often bytes that are of no deal look like a run of it."""

import pytest

from tests.peek.evidence import Evidence, search
from tests.peek.hidden import CARDS, LETTERS, NUMBERS, SORTED, Hidden, cards, chance

RUNS = {"cards": 100_000, "letters": 10_000, "numbers": 10_000}
"""Different runs of bytes that could be of a deal: more than a whole match shows."""
DEALS = 12


def test_eight_pockets_are_too_few_to_look_for() -> None:
    assert chance(8, 27, 4) > 1e-3


def test_a_match_raises_a_false_alarm_once_in_a_thousand_at_most() -> None:
    found = {
        "cards": chance(CARDS, 2, 54),
        "letters": chance(LETTERS, 27, 4),
        "numbers": chance(NUMBERS, 27, 4),
    }
    assert sum(found[kind] * runs * DEALS for kind, runs in RUNS.items()) < 1e-3


@pytest.mark.parametrize(
    "table",
    [
        [*range(SORTED)],
        [0, *range(SORTED - 1)],
        [*range(SORTED, 0, -1)],
        [5, 5, 6, 7, 7, 8, 9, 9, 10, 11, 12, 12],
    ],
)
def test_a_hand_that_lies_as_a_table_of_numbers_does_is_not_looked_for(table: list[int]) -> None:
    assert cards(table, SORTED) == ()
    assert cards(table[::-1], SORTED) == ()


@pytest.mark.parametrize("hand", [[0, 0, *range(2, SORTED)], [1, 1, *range(3, SORTED + 1)]])
def test_any_other_is(hand: list[int]) -> None:
    assert cards(hand, SORTED) == (bytes(hand),)


@pytest.mark.parametrize("coding", ["utf-8", "utf-16-le", "utf-32-le"])
def test_a_word_is_found_as_text_and_is_chance_in_every_8th_byte(coding: str) -> None:
    word, evidence = Hidden("tribute", (b'"BJ"',), is_text=True), Evidence()
    apart = bytes(byte for each in b'he said "BJ" to him' for byte in (each, *b",000000"))
    evidence.add("a file", "apart", apart)
    assert search(evidence, [word]) == []
    evidence.add("a file", "together", 'he said "BJ" to him'.encode(coding))
    assert len(search(evidence, [word])) > 0
