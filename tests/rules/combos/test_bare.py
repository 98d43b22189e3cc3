import pytest

from controller.rules.combos.combo_judge import judge_contained_kinds, judge_play
from tests.rows import each_row


def notes(level: int, play: str, on: str | None = None, declare: str | None = None) -> list[str]:
    reasons = judge_play("international-000", level, play, on, declare).play.reasons
    return [one.en for one in reasons if one.article == "as written"]


MIXED = "written without suits: taken to be of mixed suits"


@pytest.mark.parametrize(
    ("play", "said"),
    [
        ("34567", [MIXED]),
        ("♠3♠4♠5♠6 7", [MIXED]),
        ("♠3 4567", [MIXED]),
        ("4567 ♥2", [MIXED]),
        ("♠3♠4♠5 6 ♥2", [MIXED]),
        ("♠3♥4 5 6 7", []),
        ("♠34567", []),
        ("♠3♥4♠5♠6♠7", []),
        ("334455", []),
    ],
)
def test_a_straight_that_rests_on_suits_nobody_wrote_says_so(play: str, said: list[str]) -> None:
    assert notes(2, play) == said


@pytest.mark.parametrize(
    ("level", "play", "on", "said"),
    [
        (2, "33 2", None, ["2 without a suit: taken not to be ♥2"]),
        (10, "33T", None, ["10 without a suit: taken not to be ♥10"]),
        (2, "KK 66 2", None, ["2 without a suit: taken not to be ♥2"]),
        (2, "33 ♠2", None, []),
        (2, "2", None, []),
        (2, "22", None, []),
        (2, "222", None, []),
        (3, "33 2", None, ["3 without a suit: taken not to be ♥3"]),
        (2, "33 2", "♥2♥2", []),
    ],
)
def test_a_card_of_the_level_that_might_be_wild_is_told(
    level: int, play: str, on: str | None, said: list[str]
) -> None:
    assert notes(level, play, on) == said


@each_row(
    ("play", "flush", "rules"),
    [
        ("34567", False, ["contained", "bare_suits"]),
        ("3344556677", False, ["contained", "bare_suits"]),
        ("345678 345678 345678", False, ["contained", "bare_suits"]),
        ("♠3♠4♠5♠6 7", False, ["contained", "bare_suits"]),
        ("♠34567 7", True, ["contained"]),
        ("♠3♠4♠5♠6 ♥2", True, ["contained"]),
        ("♠3♥4♣5♦6♠7 7", False, ["contained"]),
        ("3333 4444 5555 6666 7777", False, ["contained", "bare_suits"]),
        ("♥4♥5♥6♥8 2", False, ["contained", "bare_level"]),
        ("999J", False, ["contained"]),
        ("33 2", False, ["contained", "bare_level"]),
        ("33 ♠2", False, ["contained"]),
    ],
)
def test_no_straight_flush_is_contained_in_suits_that_nobody_wrote(
    play: str, flush: bool, rules: list[str]
) -> None:
    told = judge_contained_kinds("international-000", 2, play)
    assert ("straight_flush" in told.kinds) is flush
    assert [one.rule for one in told.reasons] == rules
    assert told.bare == tuple(word for word in told.play.split() if word in "3456789J2")
