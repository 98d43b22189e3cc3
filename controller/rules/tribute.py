"""Tribute (贡牌): the payers and receivers, the cards to pay, and the leader after tribute.

Before the next deal, the losers pay a card to the winners (tribute), and each receiver gives a card
back (return). Only functions for known hands take faces: has_anti_tribute, tribute_choices,
tribute_value and is_right_tribute. All other functions take the values of cards in level order
(ranks.value_at_level). tribute_returns.py has the rules for returns and the consequences of a wrong
card.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from controller.cards import BIG_JOKER, Face
from controller.messages import Seat
from controller.rules.deal_result import DealResult, FinishOrder
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import SMALL_JOKER_VALUE, Level, is_wild, value_at_level
from controller.seats import next_seat, partner, previous_seat

BIG_JOKERS = 2
"""The number of big jokers that frees payers from tribute: both of them (seed 000 A10.3)."""

_COMMON_ARTICLES = {
    "single": {"000": "A10.1", "001": "A10.1", "003": "R4.4", "004": "CN5"},
    "double": {"000": "A10.2", "001": "A10.2", "003": "R4.3, R4.5", "004": "CN5"},
    "anti": {"000": "A10.3", "001": "A10.3", "003": "R4.3–4", "004": "CN5"},
}
"""The article of each rulebook for rules that all rulebooks share, so these rules have no key."""

GiverAndReceiver = tuple[Seat, Seat]
"""The seat that gives a card, and the seat that receives it."""


class TributeError(ValueError):
    """The error for wrong or missing facts about a tribute or a return. Its text is one line."""


class TributePlan(msgspec.Struct, frozen=True, gc=False):
    """The seats that give and receive each tribute and each return.

    The tribute to UP, and the return of UP, come first. `payments`: payer and receiver. `returns`:
    giver and receiver of the return. `equal`: two tributes have the same value. `choice_open`: UP
    may still choose whose tribute to take. `leader`: None until the returns decide. `article`: the
    article of the rulebook. `keys`: the used rules that differ between rulebooks.
    """

    payments: tuple[GiverAndReceiver, ...]
    returns: tuple[GiverAndReceiver, ...]
    leader: Seat | None
    article: str
    keys: tuple[str, ...] = ()
    equal: bool = False
    choice_open: bool = False


def finish_owing_tribute(
    profile: GuandanProfile, previous: DealResult | None
) -> FinishOrder | None:
    """Return the finish order that decides who pays tribute, or None if no tribute is owed.

    The result is None in the first deal of a match, and after a forfeited deal (seed 000 A15.3.3).
    An event may have a different rule. Then the named leader counts as UP of a double-down.
    """
    if previous is None or isinstance(previous, FinishOrder):
        return previous
    if not profile.tribute.after_forfeit or previous.leader is None:
        return None
    return FinishOrder(previous.leader, partner(previous.leader))


def tribute_payers(profile: GuandanProfile, previous: DealResult | None) -> tuple[Seat, ...]:
    """Return the seats that must pay tribute, or () if no tribute is owed.

    They are LAST, or both losers of a double-down. Of two losers, the seat next to UP is first.
    """
    owed = finish_owing_tribute(profile, previous)
    return () if owed is None else owed.payers


def has_anti_tribute(
    profile: GuandanProfile, payers: Sequence[Seat], hands: Mapping[Seat, Sequence[Face]]
) -> bool:
    """Return True if the payers together hold both big jokers and so pay no tribute (抗贡).

    The rulebook must allow this. A player who owes nothing does not count, even as the partner of
    LAST (seed 000 A10.3).
    """
    rules = profile.tribute
    allowed = rules.anti_single if len(payers) == 1 else rules.anti_double
    return allowed and sum(list(hands[seat]).count(BIG_JOKER) for seat in payers) == BIG_JOKERS


def must_claim_anti_tribute(profile: GuandanProfile) -> bool:
    """Return True if payers with both big jokers must claim that they owe nothing (抗贡).

    Otherwise 抗贡 applies automatically. Seeds 003 R4.3–4 and 004 CN5 use "may". Under seed 000
    A10.3 no tribute is needed.
    """
    return profile.tribute.anti == "declared"


def tribute_choices(profile: GuandanProfile, hand: Sequence[Face], level: Level) -> frozenset[Face]:
    """Return the faces of `hand` with the highest value. The player must pay one of them.

    With `exclude_wild` no wild card is paid. `level` is the level of the next deal. Suits do not
    matter, so there may be several faces (seed 000 A8.1, A10.1). Raises TributeError for a hand
    that has nothing to pay.
    """
    payable = [face for face in hand if not (profile.tribute.exclude_wild and is_wild(face, level))]
    if not payable:
        raise TributeError("a hand of wild cards alone has no tribute to pay")
    best = max(value_at_level(face, level) for face in payable)
    return frozenset(face for face in payable if value_at_level(face, level) == best)


def tribute_value(profile: GuandanProfile, hand: Sequence[Face], level: Level) -> int:
    """Return the value of the tribute that `hand` must pay. Raises as `tribute_choices` does."""
    return value_at_level(next(iter(tribute_choices(profile, hand, level))), level)


def is_right_tribute(
    profile: GuandanProfile, hand: Sequence[Face], level: Level, card: Face
) -> bool:
    """Return True if `card` is a valid tribute. False means 贡错牌 (seed 000 A18.1)."""
    return card in tribute_choices(profile, hand, level)


def chooser_of_tribute(
    profile: GuandanProfile, payer: Seat, receiver: Seat, tribute: int, *, double: bool = False
) -> Seat:
    """Return the seat that chooses the tribute if the payer has several equally high cards.

    A receiver has this choice only in a `double` tribute, and not for jokers, because jokers of one
    size have one face (seed 003 R4.5). In all other cases the payer chooses (provisional).
    """
    asked = double and tribute < SMALL_JOKER_VALUE
    return receiver if asked and profile.tribute.tie_choice == "receiver" else payer


def plan_without_tribute(profile: GuandanProfile, finish: FinishOrder) -> TributePlan:
    """Return the plan for a deal in which the payers hold both big jokers and pay nothing (抗贡).

    No tribute is paid and UP leads. Source: seed 000 A10.3, A3.8.2.
    """
    key = "tribute.anti_single" if len(finish.payers) == 1 else "tribute.anti_double"
    return TributePlan(
        (), (), finish.up, _COMMON_ARTICLES["anti"][profile.text], (key, "tribute.anti")
    )


def plan_tribute(
    profile: GuandanProfile,
    finish: FinishOrder,
    values: Mapping[Seat, int],
    payer_chosen_by_up: Seat | None = None,
) -> TributePlan:
    """Return the plan of tributes and returns that follows from the values of the paid cards.

    `values`: the value of each payer's card, for exactly the payers. `payer_chosen_by_up`: the
    payer whose card UP chose, if the rulebook lets UP choose between equal cards. Raises
    TributeError for any other input.
    """
    owed = finish.payers
    if set(values) != set(owed):
        raise TributeError(f"tributes of {', '.join(values)}: expected {', '.join(owed)}")
    equal = len(owed) == 2 and values[owed[0]] == values[owed[1]]
    if equal:
        return _plan_equal_tributes(profile, finish, values[owed[0]], payer_chosen_by_up)
    if payer_chosen_by_up is not None:
        raise TributeError("UP chooses a tribute only where two of one value are paid")
    larger = max(owed, key=lambda seat: values[seat])
    pairs = _pair_payers(finish, larger) if len(owed) == 2 else ((larger, finish.up),)
    returns = tuple((receiver, payer) for payer, receiver in pairs)
    article = _COMMON_ARTICLES["double" if len(owed) == 2 else "single"][profile.text]
    return TributePlan(pairs, returns, larger, article)


_Neighbour = Callable[[Seat], Seat]

_TIE_NEIGHBOURS: dict[str, tuple[_Neighbour, _Neighbour]] = {
    "clockwise": (next_seat, next_seat),
    "from_left": (previous_seat, next_seat),
    "choice": (next_seat, next_seat),
}
"""The neighbour of UP that pays UP, and the one that UP gives back to, after equal tributes.

Clockwise: every payer gives to the left, and every return goes back the same way (seed 000 A10.2).
From the left (左贡右还): winners take from the left and give back to the right, so returns cross
(seed 004 CN5). If UP makes no choice, clockwise applies (provisional).
"""


def _plan_equal_tributes(
    profile: GuandanProfile, finish: FinishOrder, tribute: int, payer_chosen_by_up: Seat | None
) -> TributePlan:
    rules = profile.tribute
    # Jokers give no choice: R4.5.
    choice = rules.double_tie == "choice" and tribute < SMALL_JOKER_VALUE
    if payer_chosen_by_up is not None and not (choice and payer_chosen_by_up in finish.payers):
        raise TributeError(f"UP cannot choose the tribute of {payer_chosen_by_up}")
    pays, gets = (neighbour(finish.up) for neighbour in _TIE_NEIGHBOURS[rules.double_tie])
    if payer_chosen_by_up is not None:
        pays = gets = payer_chosen_by_up  # The chosen payer also gets the return.
    returns = tuple((receiver, payer) for payer, receiver in _pair_payers(finish, gets))
    by_returns = rules.tie_leader == "smaller_return"
    return TributePlan(
        payments=_pair_payers(finish, pays),
        returns=returns,
        leader=None if by_returns else next_seat(finish.up),
        article=_COMMON_ARTICLES["double"][profile.text],
        keys=("tribute.double_tie", "tribute.tie_leader"),
        equal=True,
        choice_open=choice and payer_chosen_by_up is None,
    )


def _pair_payers(finish: FinishOrder, with_up: Seat) -> tuple[GiverAndReceiver, ...]:
    """Return (payer, receiver) of both tributes: `with_up` pays the player who finished first.

    The other payer pays the player who finished second.
    """
    return ((with_up, finish.up), (partner(with_up), finish.second))


def leader_by_returns(
    profile: GuandanProfile, finish: FinishOrder, plan: TributePlan, returned: Mapping[Seat, int]
) -> Seat:
    """Return `plan.leader`, or, if that is None, the leader that the returned cards decide.

    `returned`: the values of the returned cards, by receiver. After equal tributes the payer with
    the smaller return leads. If the returns are equal too, UP's next leads (seed 003 R4.3, R4.5).
    Otherwise the plan names the leader. Raises TributeError while a return is missing.
    """
    if plan.leader is not None:
        return plan.leader
    if set(returned) != set(finish.payers):
        raise TributeError(f"returns to {', '.join(returned)}: expected both payers")
    first, other = finish.payers
    if returned[first] == returned[other]:
        return next_seat(finish.up)
    return min(first, other, key=lambda seat: returned[seat])
