"""Questions about bound hands: what is told, and that nothing is told before they are bound."""

import random
from collections.abc import Callable

import pytest

from controller.cards import BIG_JOKER, composition, parse_face
from controller.messages import Seat
from controller.rules.deal_result import FinishOrder
from controller.rules.profile import GuandanProfile
from controller.rules.profile_files import load_profile
from controller.rules.tribute_returns import ReturnError
from controller.seats import SEATS
from controller.vault import dealt_hands
from controller.vault.vault import Vault

LEVEL = 13
FINISH = FinishOrder("N", "W", "S", "E")  # E is LAST, N and S are partners
SINGLE: tuple[Seat, ...] = ("E",)
DOUBLE: tuple[Seat, ...] = ("W", "E")


def guandan() -> GuandanProfile:
    profile = load_profile("international-000")
    assert isinstance(profile, GuandanProfile)
    return profile


def table(hands: dict[Seat, list[str]]) -> tuple[Vault, str]:
    """Return a vault with these cards among the hands, the rest as it falls, and the sequence."""
    left = [face for face, count in enumerate(composition(2, True)) for _ in range(count)]
    dealt = {seat: [parse_face(text) for text in hands.get(seat, [])] for seat in SEATS}
    for cards in dealt.values():
        for face in cards:
            left.remove(face)
    low = sorted(left, key=lambda face: face % 13 if face < 52 else 20)
    for seat in SEATS:  # low cards first to those whose hands a test names
        if seat in hands:
            take = 27 - len(dealt[seat])
            dealt[seat] += low[:take]
            del low[:take]
    for seat in SEATS:
        take = 27 - len(dealt[seat])
        dealt[seat] += low[:take]
        del low[:take]
    places = [(seat, face) for seat in SEATS for face in dealt[seat]]
    random.Random(1).shuffle(places)
    vault = Vault(composition(2, True), 0)
    vault.restore_hands(1, bytes(face for _, face in places))
    return vault, "".join(seat for seat, _ in places)


def test_a_hand_is_what_the_sequence_dealt_to_its_seat() -> None:
    vault, sequence = table({"E": ["BJ", "♠A"]})
    held = dealt_hands.dealt_hand(vault, sequence, "E")
    assert len(held) == 27
    assert {BIG_JOKER, parse_face("♠A")} <= set(held)
    assert sorted(
        b"".join(dealt_hands.dealt_hand(vault, sequence, seat) for seat in SEATS)
    ) == sorted(vault.hands or b"")


def test_no_question_is_answered_before_the_hands_are_bound() -> None:
    vault, sequence = Vault(composition(2, True), 0), "NWSE" * 27
    vault.begin(1)
    profile = guandan()
    questions: list[Callable[[], object]] = [
        lambda: dealt_hands.dealt_hand(vault, sequence, "N"),
        lambda: dealt_hands.seat_with(vault, sequence, 0),
        lambda: dealt_hands.is_anti_tribute(vault, sequence, profile, SINGLE),
        lambda: dealt_hands.required_tributes(vault, sequence, profile, SINGLE, LEVEL),
        lambda: dealt_hands.is_right_tribute(vault, sequence, profile, "E", LEVEL, 0),
        lambda: dealt_hands.judge_return_card(vault, sequence, profile, FINISH, "N", "E", LEVEL, 0),
    ]
    for ask in questions:
        with pytest.raises(ValueError, match="not bound"):
            ask()


def test_who_holds_the_card_that_leads_is_told_and_not_where_nobody_does() -> None:
    vault, sequence = table({"S": ["♦3", "♦3"]})
    assert dealt_hands.seat_with(vault, sequence, parse_face("♦3")) == "S"
    with pytest.raises(ValueError, match="no seat"):
        dealt_hands.seat_with(vault, sequence, 60)


@pytest.mark.parametrize(
    ("payers", "hands", "stands"),
    [
        (SINGLE, {"E": ["BJ", "BJ"]}, True),
        (SINGLE, {"E": ["BJ"], "W": ["BJ"]}, False),
        (DOUBLE, {"E": ["BJ"], "W": ["BJ"]}, True),
        (DOUBLE, {"E": ["BJ"], "N": ["BJ"]}, False),
    ],
)
def test_anti_tribute_stands_by_the_big_jokers_of_those_who_owe(
    payers: tuple[Seat, ...], hands: dict[Seat, list[str]], stands: bool
) -> None:
    vault, sequence = table(hands)
    assert dealt_hands.is_anti_tribute(vault, sequence, guandan(), payers) is stands


def test_the_required_card_is_the_largest_but_the_wild_one_and_any_of_its_suits_is_right() -> None:
    vault, sequence = table({"E": ["♥K", "♠A", "♣A"], "W": ["SJ"]})
    profile = guandan()
    values = dealt_hands.required_tributes(vault, sequence, profile, DOUBLE, LEVEL)
    assert values["W"] > values["E"]
    right = [
        text
        for text in ("♥K", "♠A", "♣A", "♦A")
        if dealt_hands.is_right_tribute(vault, sequence, profile, "E", LEVEL, parse_face(text))
    ]
    assert right == ["♠A", "♣A"]


def test_a_return_is_judged_by_the_hand_and_by_the_tribute_where_that_is_known() -> None:
    vault, sequence = table({"N": ["♠9", "♠K"]})
    profile = guandan()

    def state(card: str, received: str | None = None) -> str:
        got = None if received is None else parse_face(received)
        return dealt_hands.judge_return_card(
            vault, sequence, profile, FINISH, "N", "E", LEVEL, parse_face(card), got
        ).state

    assert state("♠9") == "right"
    assert state("BJ", received="BJ") in ("warn", "wrong")
    with pytest.raises(ReturnError):
        state("BJ")
