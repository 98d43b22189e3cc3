"""Answers to a referee's questions about the cards of released hands, for example for tribute.

A referee's card is passed in. Only `dealt_hand` returns faces, and its answer is sealed to the
person who asked. Every other answer is yes or no, the value of a card, or a seat. Every function
raises ValueError before the hands are bound.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from controller.cards import Face
from controller.messages import Seat
from controller.rules import tribute
from controller.rules.deal_result import FinishOrder
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import Level
from controller.rules.tribute_returns import ReturnVerdict, judge_return
from controller.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class DealtHands:
    """The released hands of one attempt, as they were dealt, before any tribute or play."""

    vault: Vault
    sequence: str

    def __repr__(self) -> str:
        """Return a text without the hands, because the text may be logged."""
        return f"DealtHands({self.vault!r})"


def dealt_hand(vault: Vault, sequence: str, seat: Seat) -> bytes:
    """Return the faces of the cards that `seat` was dealt, one byte for each card.

    `sequence` has the pocket letter of every place, and the faces are in the order of the places.
    Later tributes and plays do not change this hand.
    """
    if vault.hands is None:
        raise ValueError("the hands of this attempt are not bound")
    return bytes(face for face, to in zip(vault.hands, sequence, strict=True) if to == seat)


def seat_with(vault: Vault, sequence: str, face: Face) -> Seat:
    """Return the first seat, in playing order from N, that was dealt a card with this face.

    Raises ValueError if no seat was dealt such a card.
    """
    seats: tuple[Seat, ...] = get_args(Seat)
    for seat in seats:
        if face in dealt_hand(vault, sequence, seat):
            return seat
    raise ValueError("no seat was dealt the card that leads")


def is_anti_tribute(
    vault: Vault, sequence: str, profile: GuandanProfile, payers: Sequence[Seat]
) -> bool:
    """Return whether no tribute is due because the payers together got both big jokers (抗贡).

    False if the rulebook does not allow this. Source: seed 000 A10.3.
    """
    hands = {seat: dealt_hand(vault, sequence, seat) for seat in payers}
    return tribute.has_anti_tribute(profile, payers, hands)


def required_tributes(
    vault: Vault, sequence: str, profile: GuandanProfile, payers: Iterable[Seat], level: Level
) -> dict[Seat, int]:
    """Return, for each payer, the value of the card that this payer must pay as tribute.

    `level` determines the order of the cards, and so their values. Call this only after every payer
    has laid a card, because the answer reveals a part of a hand. Source: seed 000 A10.1.
    """
    hands = {seat: dealt_hand(vault, sequence, seat) for seat in payers}
    return {seat: tribute.tribute_value(profile, hand, level) for seat, hand in hands.items()}


def is_right_tribute(
    vault: Vault, sequence: str, profile: GuandanProfile, seat: Seat, level: Level, card: Face
) -> bool:
    """Return whether the rulebook allows `seat` to pay `card` as tribute.

    A wrong tribute is the offence 贡错牌. Source: seed 000 A18.1.
    """
    return tribute.is_right_tribute(profile, dealt_hand(vault, sequence, seat), level, card)


def judge_return_card(
    vault: Vault,
    sequence: str,
    profile: GuandanProfile,
    finish: FinishOrder,
    giver: Seat,
    to: Seat,
    level: Level,
    card: Face,
    received: Face | None = None,
) -> ReturnVerdict:
    """Return the rulebook's verdict on `card`, which `giver` gave back to `to` for a tribute.

    `received` is the card of this tribute, or None if unknown. The vault has only the hand as it
    was dealt. Raises ReturnError for a card that `giver` cannot have.
    """
    held = [*dealt_hand(vault, sequence, giver), *([] if received is None else [received])]
    return judge_return(profile, finish, giver, to, card, level, held, received)
