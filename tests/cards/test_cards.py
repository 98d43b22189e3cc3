import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.cards import (
    BIG_JOKER,
    FACE_COUNT,
    SMALL_JOKER,
    composition,
    face_text,
    parse_face,
    pip_value,
)
from controller.seats import SEATS, next_seat, partner, side_of

faces = st.integers(0, FACE_COUNT - 1)


@given(faces)
def test_a_face_is_read_as_it_is_written(face: int) -> None:
    assert parse_face(face_text(face)) == face


def test_all_faces_are_written_differently() -> None:
    assert len({face_text(face) for face in range(FACE_COUNT)}) == FACE_COUNT


@pytest.mark.parametrize(
    ("text", "face"),
    [("♠2", 0), ("SA", 12), ("h10", 21), ("HT", 21), ("♣J", 35), (" D3 ", 40), ("♠J", 9)],
)
def test_suits_may_be_signs_or_letters(text: str, face: int) -> None:
    assert parse_face(text) == face


def test_sj_is_the_small_joker_and_not_the_jack_of_spades() -> None:
    assert (parse_face("SJ"), parse_face("BJ")) == (SMALL_JOKER, BIG_JOKER)


@pytest.mark.parametrize("text", ["", "♠", "♠1", "X5", "10", "♠♠", "joker"])
def test_what_is_no_card_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no card is called"):
        parse_face(text)


@pytest.mark.parametrize("face", [-1, FACE_COUNT])
def test_a_number_out_of_range_is_no_face(face: int) -> None:
    with pytest.raises(ValueError, match=r"0\.\.53"):
        face_text(face)


def test_play_goes_counter_clockwise_round_the_table() -> None:
    assert [next_seat(seat) for seat in SEATS] == ["W", "S", "E", "N"]


def test_partners_sit_opposite_and_play_for_one_side() -> None:
    for seat in SEATS:
        assert partner(partner(seat)) == seat
        assert side_of(seat) == side_of(partner(seat)) != side_of(next_seat(seat))


def test_a_guandan_set_has_two_of_every_face() -> None:
    assert composition(2, jokers=True) == (2,) * FACE_COUNT


def test_a_pack_without_jokers_has_fifty_two_cards() -> None:
    assert sum(composition(1, jokers=False)) == 52


@pytest.mark.parametrize(
    ("text", "pips"), [("♠A", 1), ("♥7", 7), ("♣10", 10), ("♦J", 11), ("♠Q", 12), ("♥K", 13)]
)
def test_a_card_counts_its_pips(text: str, pips: int) -> None:
    assert pip_value(parse_face(text)) == pips


def test_a_joker_has_no_pips() -> None:
    assert pip_value(SMALL_JOKER) is pip_value(BIG_JOKER) is None
