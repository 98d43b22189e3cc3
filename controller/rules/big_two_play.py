"""Play in a deal of Big Two: the turn, the legal plays, and the end of a trick and of the deal.

`BigTwoTrickState` contains no hand, so it may be public. Rules that need a hand take the hand as an
argument. Without the hand these rules are not checked.
"""

from collections.abc import Collection, Sequence

import msgspec

from controller.cards import Face
from controller.messages import Seat
from controller.rules.big_two import HAND_CARDS, BigTwoRules, LastCardRules
from controller.rules.combos.big_two_combos import (
    BigTwoCombo,
    can_beat,
    can_follow,
    readings,
    single_value,
)
from controller.seats import SEATS, next_seat

PASSES_TO_END_TRICK = len(SEATS) - 1
"""This many passes in a row end a trick (seed 002 A4.5)."""


class BigTwoTrickState(msgspec.Struct, frozen=True, gc=False):
    """The state of a deal during play. `left`: cards of each seat, in the order of SEATS.

    `owner` laid `top`, the highest play of the trick. Both are None if the seat `turn` leads.
    `opened`: a play has been made in this deal.
    """

    turn: Seat
    left: tuple[int, ...]
    opened: bool = False
    top: BigTwoCombo | None = None
    owner: Seat | None = None
    passes: int = 0

    def cards(self, seat: str) -> int:
        """Return how many cards a seat has left."""
        return self.left[SEATS.index(seat)]

    def seat_out(self) -> Seat | None:
        """Return the seat that is out, which ends the deal (seed 002 A10), or None."""
        empty = [seat for seat in SEATS if not self.cards(seat)]
        return empty[0] if empty else None


class PlayObjection(msgspec.Struct, frozen=True, gc=False):
    """The reason why a play or a pass is not legal.

    `provisional`: the seed has another possible reading.
    """

    article: str
    en: str
    zh: str
    provisional: bool = False


OBJECTIONS: dict[str, PlayObjection] = {
    "deal_over": PlayObjection(
        "002 A10", "somebody is out: the deal is over", "已有人出完，本副牌结束"
    ),
    "not_held": PlayObjection("002 A4.4", "the player does not hold these cards", "手中没有这些牌"),
    "no_combination": PlayObjection("002 A8", "this is no combination", "不是合理牌型"),
    "without_lead_card": PlayObjection(
        "002 A7", "the first play must contain the card that leads", "第一手牌必须包含首引的牌"
    ),
    "other_type": PlayObjection(
        "002 A7, A9", "another type than the play on the table", "与台面牌型不同"
    ),
    "not_higher": PlayObjection(
        "002 A7, A9", "not higher than the play on the table", "大不过台面的牌"
    ),
    "not_largest": PlayObjection(
        "002 A7",
        "the next player has one card: play the largest single, or more than one card",
        "下家报单：须出最大的单牌或一张以上的牌组",
    ),
    "leader_passes": PlayObjection("002 A4.6", "the trick's leader may not pass", "引牌者不得过牌"),
    "passes_last_card": PlayObjection(
        "002 A7",
        "the next player has one card: do not pass a single that the largest single beats",
        "下家报单：最大的单牌能盖时不得过牌",
        provisional=True,
    ),
}


def begin_play(first_hand: Seat, hand: int = HAND_CARDS) -> BigTwoTrickState:
    """Return a deal before its first play. `first_hand` holds ♦3 (seed 002 A7)."""
    return BigTwoTrickState(turn=first_hand, left=(hand,) * len(SEATS))


def after_play(playing: BigTwoTrickState, combo: BigTwoCombo) -> BigTwoTrickState:
    """Return the deal after a play of the seat `turn`.

    The caller has already checked that the play is legal. Raises ValueError if the deal is over or
    if the seat has fewer cards.
    """
    _refuse_when_over(playing)
    seat = SEATS.index(playing.turn)
    if combo.size > playing.left[seat]:
        raise ValueError(
            f"{playing.turn} has {playing.left[seat]} cards left, cannot play {combo.size}"
        )
    left = (*playing.left[:seat], playing.left[seat] - combo.size, *playing.left[seat + 1 :])
    after = next_seat(playing.turn)
    return BigTwoTrickState(turn=after, left=left, opened=True, top=combo, owner=playing.turn)


def after_pass(playing: BigTwoTrickState) -> BigTwoTrickState:
    """Return the deal after a pass. The third pass in a row ends the trick, and its owner leads.

    Seed 002 A4.5–6. A player who passed may play again in the same trick. Raises ValueError if the
    deal is over or if there is no play to pass on.
    """
    _refuse_when_over(playing)
    if playing.owner is None:
        raise ValueError(f"{playing.turn} leads: there is nothing to pass")
    if playing.passes + 1 == PASSES_TO_END_TRICK:
        return BigTwoTrickState(turn=playing.owner, left=playing.left, opened=True)
    after = next_seat(playing.turn)
    return msgspec.structs.replace(playing, turn=after, passes=playing.passes + 1)


def play_objections(
    playing: BigTwoTrickState,
    cards: Sequence[Face],
    rules: BigTwoRules,
    hand: Collection[Face] | None = None,
) -> tuple[str, ...]:
    """Return the reasons why the seat `turn` may not play `cards`, as keys of OBJECTIONS.

    An empty result means that the play is legal. `hand` is the hand before the play. Without
    `hand`, the function does not check for cards that the seat lacks, nor for its largest single.
    """
    if playing.seat_out():
        return ("deal_over",)
    if hand is not None and not set(cards) <= set(hand):
        return ("not_held",)
    found = readings(cards, rules.combos)
    if not found:
        return ("no_combination",)
    checks = {
        "without_lead_card": _lacks_lead_card(playing, cards, rules),
        **_objections_to_top(playing, found[0], rules),
        "not_largest": (
            must_play_largest_single(playing, rules.last_card)
            and hand is not None
            and tuple(cards) != (largest_single(hand),)
            and len(cards) == 1
        ),
    }
    return tuple(key for key, broken in checks.items() if broken)


def pass_objections(
    playing: BigTwoTrickState, rules: BigTwoRules, hand: Collection[Face] | None = None
) -> tuple[str, ...]:
    """Return why the seat `turn` may not pass, as keys of OBJECTIONS (empty: it may pass)."""
    if playing.seat_out():
        return ("deal_over",)
    if playing.top is None:
        return ("leader_passes",)
    if (
        rules.last_card.may_pass
        or not hand
        or not must_play_largest_single(playing, rules.last_card)
    ):
        return ()
    (best,) = readings([largest_single(hand)], rules.combos)
    return ("passes_last_card",) if can_beat(best, playing.top, rules.combos) else ()


def must_play_largest_single(playing: BigTwoTrickState, last_card: LastCardRules) -> bool:
    """Return True if the seat `turn` may play no single except its largest.

    This applies to the 上家 of a player with one card: the seat that plays just before (seed 002
    A7).
    """
    return last_card.largest_single and playing.cards(next_seat(playing.turn)) == 1


def largest_single(hand: Collection[Face]) -> Face:
    """Return the highest single of a hand. Raises ValueError for an empty hand."""
    return max(hand, key=single_value)


def seats_to_report(playing: BigTwoTrickState, last_card: LastCardRules) -> tuple[Seat, ...]:
    """Return the seats whose number of cards left is public (报单, seed 002 A4.8, A7)."""
    few = range(1, last_card.report_at + 1)
    return tuple(seat for seat in SEATS if playing.cards(seat) in few)


def _lacks_lead_card(playing: BigTwoTrickState, cards: Sequence[Face], rules: BigTwoRules) -> bool:
    return rules.lead.must_include and not playing.opened and rules.lead.face() not in cards


def _objections_to_top(
    playing: BigTwoTrickState, combo: BigTwoCombo, rules: BigTwoRules
) -> dict[str, bool]:
    if playing.top is None:
        return {}
    if not can_follow(combo, playing.top, rules.combos):
        return {"other_type": True}
    return {"not_higher": not can_beat(combo, playing.top, rules.combos)}


def _refuse_when_over(playing: BigTwoTrickState) -> None:
    if (seat := playing.seat_out()) is not None:
        raise ValueError(f"the deal is over: {seat} is out")
