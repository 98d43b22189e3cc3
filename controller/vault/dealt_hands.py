"""Questions about hands that are out: tribute, return, leader.

A referee's card is passed in. Faces come out only of `dealt_hand`, for an answer that is sealed to
its sender. Every other answer is yes or no, the value of a card, or a seat. Every question raises
ValueError before the hands are bound.
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
    """Released hands, in the state in which they were dealt."""

    vault: Vault
    sequence: str

    def __repr__(self) -> str:
        """Hide the hands."""
        return f"DealtHands({self.vault!r})"


def dealt_hand(vault: Vault, sequence: str, seat: Seat) -> bytes:
    """Return the faces that were dealt to a seat, a byte each, by place.

    `sequence` has the pocket letter of every place. The hand is the dealt one: later tributes and
    plays are not known here.
    """
    if vault.hands is None:
        raise ValueError("the hands of this attempt are not bound")
    return bytes(face for face, to in zip(vault.hands, sequence, strict=True) if to == seat)


def seat_with(vault: Vault, sequence: str, face: Face) -> Seat:
    """Return the seat that was dealt a face, the first in playing order from N.

    Raises ValueError if no seat was.
    """
    seats: tuple[Seat, ...] = get_args(Seat)
    for seat in seats:
        if face in dealt_hand(vault, sequence, seat):
            return seat
    raise ValueError("no seat was dealt the card that leads")


def is_anti_tribute(
    vault: Vault, sequence: str, profile: GuandanProfile, payers: Sequence[Seat]
) -> bool:
    """Return whether 抗贡 applies: the payers have both big jokers (seed 000 A10.3)."""
    return tribute.has_anti_tribute(
        profile, payers, {seat: dealt_hand(vault, sequence, seat) for seat in payers}
    )


def required_tributes(
    vault: Vault, sequence: str, profile: GuandanProfile, payers: Iterable[Seat], level: Level
) -> dict[Seat, int]:
    """Return the value of the card that each payer must pay, in the order of `level`.

    Call this after every payer has laid a card, because the answer reveals a part of a hand (seed
    000 A10.1).
    """
    return {
        seat: tribute.tribute_value(profile, dealt_hand(vault, sequence, seat), level)
        for seat in payers
    }


def is_right_tribute(
    vault: Vault,
    sequence: str,
    profile: GuandanProfile,
    seat: Seat,
    level: Level,
    card: Face,
) -> bool:
    """Return whether `card` is a right tribute from a seat. A wrong one is 贡错牌 (seed 000
    A18.1).
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
    """Return the verdict of the rulebook on `card`, given back by `giver` to `to`.

    `received` is the tribute that `giver` got, if known, because the vault saw only the dealt hand.
    Raises ReturnError for a card that `giver` cannot have.
    """
    held = [*dealt_hand(vault, sequence, giver), *([] if received is None else [received])]
    return judge_return(profile, finish, giver, to, card, level, held, received)
