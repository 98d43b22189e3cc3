"""Play in a deal of Big Two: the objections to a play.

`BigTwoTrickState` contains no hand, so it may be public. Rules that need a hand take the hand as an
argument. Without the hand these rules are not checked.
"""

from collections.abc import Collection, Sequence

import msgspec

from controller.cards import Face
from controller.messages import Seat
from controller.rules.big_two import BigTwoRules, LastCardRules
from controller.rules.combos.big_two_combos import (
    BigTwoCombo,
    can_beat,
    can_follow,
    readings,
    single_value,
)
from controller.seats import SEATS, next_seat


class BigTwoTrickState(msgspec.Struct, frozen=True, gc=False):
    """The public state of a deal of Big Two during play.

    `left`: the number of cards of each seat, in the order of SEATS. `top` is the highest play of
    the trick, None if the seat `turn` leads. `opened`: a play has been made in this deal.
    """

    turn: Seat
    left: tuple[int, ...]
    opened: bool = False
    top: BigTwoCombo | None = None


def play_objections(
    playing: BigTwoTrickState,
    cards: Sequence[Face],
    rules: BigTwoRules,
    hand: Collection[Face] | None = None,
) -> tuple[str, ...]:
    """Return the names of the reasons why the seat `turn` may not play `cards`.

    An empty result means that the play is legal. `hand` is the hand before the play. Without
    `hand`, the function checks neither for cards that the seat lacks nor for its largest single.
    Source: seed 002 A7–A10.
    """
    if not all(playing.left):
        return ("deal_over",)
    if hand is not None and not set(cards) <= set(hand):
        return ("not_held",)
    found = readings(cards, rules.combos)
    if not found:
        return ("no_combination",)
    follows = playing.top is None or can_follow(found[0], playing.top, rules.combos)
    lead, top = rules.lead, playing.top
    checks = {
        "without_lead_card": lead.must_include and not playing.opened and lead.face() not in cards,
        "other_type": not follows,
        "not_higher": top is not None and follows and not can_beat(found[0], top, rules.combos),
        "not_largest": (
            must_play_largest_single(playing, rules.last_card)
            and hand is not None
            and tuple(cards) != (max(hand, key=single_value),)
            and len(cards) == 1
        ),
    }
    return tuple(key for key, broken in checks.items() if broken)


def must_play_largest_single(playing: BigTwoTrickState, last_card: LastCardRules) -> bool:
    """Return True if the largest single is the only single that the seat `turn` may play.

    This applies to the 上家 of a player with one card: the seat that plays just before (seed 002
    A7).
    """
    return last_card.largest_single and playing.left[SEATS.index(next_seat(playing.turn))] == 1
