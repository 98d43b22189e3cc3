"""How well a reader reads is counted; no face comes out."""

import pickle
from dataclasses import dataclass

import pytest

from controller.acceptance.fed_cards import CardReads, ReadCounts
from controller.cards import composition
from controller.deal.observations import LookOutcome

TWO_PACKS = composition(2, jokers=True)
GOOD, POOR, NONE = 250, 100, 0xFF


@dataclass(frozen=True)
class Told:
    """A READ."""

    index: int
    face: int
    confidence: int = GOOD
    back: int = 0
    face_up: int = 0
    attempt: int = 1


def counted(*reads: Told) -> ReadCounts:
    readings = CardReads(TWO_PACKS, 0)
    for read in reads:
        readings.take_read(read)
    return readings.count({read.index for read in reads})


def test_good_looks_count_as_cards_alone() -> None:
    assert counted(Told(1, 7), Told(2, 7), Told(3, 8)) == ReadCounts(cards=3)


def test_a_poor_first_look_is_unreadable_and_one_that_stays_poor_is_unread() -> None:
    assert counted(Told(1, 7, POOR), Told(1, 7)) == ReadCounts(cards=1, unreadable=1)
    thrice = [Told(1, NONE)] * 3
    assert counted(*thrice) == ReadCounts(cards=1, unreadable=1, unread=1)


def test_a_face_that_comes_too_often_is_misread() -> None:
    assert counted(*(Told(index, 7) for index in range(1, 5))) == ReadCounts(cards=4, misread=2)


def test_a_card_face_up_or_with_another_back_is_wrong_and_not_unreadable() -> None:
    assert counted(*[Told(1, 7, back=2)] * 3) == ReadCounts(cards=1, wrong=1)
    assert counted(*[Told(1, 7, face_up=1)] * 3) == ReadCounts(cards=1, wrong=1)


def test_a_card_that_was_never_looked_at_is_unread() -> None:
    assert CardReads(TWO_PACKS, 0).count([1]) == ReadCounts(cards=1, unreadable=1, unread=1)


def test_another_look_is_wanted_until_one_is_good_or_there_were_three() -> None:
    readings = CardReads(TWO_PACKS, 0)
    looks = [readings.take_read(Told(1, NONE)) for _ in range(3)]
    assert looks == [LookOutcome.REREAD, LookOutcome.REREAD, LookOutcome.TRAY]
    assert readings.take_read(Told(2, 5)) is LookOutcome.ACCEPT


def test_it_says_no_face_cannot_be_copied_and_forgets() -> None:
    readings = CardReads(TWO_PACKS, 0)
    readings.take_read(Told(1, 7))
    assert repr(readings) == "Readings(cards=1)"
    with pytest.raises(TypeError):
        pickle.dumps(readings)
    readings.forget()
    assert repr(readings) == "Readings(cards=0)"
