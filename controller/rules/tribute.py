"""Tribute (贡牌): who pays whom, with what, and who leads after it.

Faces go only into what is asked where hands are known: anti_stands, required,
required_value, is_right.
Everything else counts with the values of cards, in the order of the level (order.value).
What is given back for it stands in returns.py, and what a wrong card costs in
wrong_card.py.
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
"""Big jokers that let payers off: both there are (seed 000 A10.3)."""

_COMMON_ARTICLES = {
    "single": {"000": "A10.1", "001": "A10.1", "003": "R4.4", "004": "CN5"},
    "double": {"000": "A10.2", "001": "A10.2", "003": "R4.3, R4.5", "004": "CN5"},
    "anti": {"000": "A10.3", "001": "A10.3", "003": "R4.3–4", "004": "CN5"},
}
"""Where each rulebook says what all of them have alike and what therefore is no key."""

GiverAndReceiver = tuple[Seat, Seat]
"""Who gives a card, and who gets it."""


class TributeError(ValueError):
    """A tribute or return that cannot be told from what was given; its text is one line."""


class TributePlan(msgspec.Struct, frozen=True, gc=False):
    """Where tributes and returns go, UP's first.

    `payments`: payer and receiver. `returns`: who gives back, and to whom. `equal`: two
    tributes of one value. `choice_open`: UP may still choose whose card he takes. `leader`:
    None until the returns decide. `article`: where the rulebook says it; `keys`: the rules
    used in which rulebooks differ.
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
    """Return the finish order by which tribute is owed; None where none is.

    None in a match's first deal, and after a forfeited one (seed 000 A15.3.3). An event may
    say otherwise: then the named leader counts as UP of a double-down.
    """
    if previous is None or isinstance(previous, FinishOrder):
        return previous
    if not profile.tribute.after_forfeit or previous.leader is None:
        return None
    return FinishOrder(previous.leader, partner(previous.leader))


def tribute_payers(profile: GuandanProfile, previous: DealResult | None) -> tuple[Seat, ...]:
    """Return who owes tribute: LAST, or both losers, UP's next first; () for nobody."""
    owed = finish_owing_tribute(profile, previous)
    return () if owed is None else owed.payers


def has_anti_tribute(
    profile: GuandanProfile, payers: Sequence[Seat], hands: Mapping[Seat, Sequence[Face]]
) -> bool:
    """Tell whether those who owe tribute hold both big jokers among them (抗贡).

    Who owes nothing does not count, though he be LAST's partner (seed 000 A10.3).
    """
    rules = profile.tribute
    allowed = rules.anti_single if len(payers) == 1 else rules.anti_double
    return allowed and sum(list(hands[seat]).count(BIG_JOKER) for seat in payers) == BIG_JOKERS


def must_claim_anti_tribute(profile: GuandanProfile) -> bool:
    """Tell whether payers have to claim 抗贡; else it stands by itself.

    Seeds 003 R4.3–4 and 004 CN5 say "may", seed 000 A10.3 that no tribute is needed.
    """
    return profile.tribute.anti == "declared"


def tribute_choices(profile: GuandanProfile, hand: Sequence[Face], level: Level) -> frozenset[Face]:
    """Return the faces of which one must be paid: the largest of the hand, but no wild card.

    `level` is that of the deal about to be played. Suits do not matter, so there may be
    several (seed 000 A8.1, A10.1). Raises TributeError for a hand that has nothing to pay.
    """
    payable = [face for face in hand if not (profile.tribute.exclude_wild and is_wild(face, level))]
    if not payable:
        raise TributeError("a hand of wild cards alone has no tribute to pay")
    best = max(value_at_level(face, level) for face in payable)
    return frozenset(face for face in payable if value_at_level(face, level) == best)


def tribute_value(profile: GuandanProfile, hand: Sequence[Face], level: Level) -> int:
    """Return what the card counts that must be paid. Raises TributeError as `required`."""
    return value_at_level(next(iter(tribute_choices(profile, hand, level))), level)


def is_right_tribute(
    profile: GuandanProfile, hand: Sequence[Face], level: Level, card: Face
) -> bool:
    """Tell whether `card` is a right tribute from `hand`; if not: 贡错牌 (seed 000 A18.1)."""
    return card in tribute_choices(profile, hand, level)


def chooser_of_tribute(
    profile: GuandanProfile, payer: Seat, receiver: Seat, tribute: int, *, double: bool = False
) -> Seat:
    """Return who says which one is paid, where a payer holds several of the value `tribute`.

    A receiver has that choice in a `double` tribute alone, and not of jokers: those of one
    size have one face (seed 003 R4.5). Everywhere else the payer has it (provisional).
    """
    asked = double and tribute < SMALL_JOKER_VALUE
    return receiver if asked and profile.tribute.tie_choice == "receiver" else payer


def plan_without_tribute(profile: GuandanProfile, finish: FinishOrder) -> TributePlan:
    """Return the plan where 抗贡 stands: nobody pays and UP leads (seed 000 A10.3, A3.8.2)."""
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
    """Return where tributes and returns go, by the values of the cards that were laid.

    `values` has every payer and nobody else. `up_takes`: the payer whose card UP chose,
    where a rulebook lets him choose between equal ones. Raises TributeError for anything else.
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
"""Which neighbour of UP pays him, and which one UP gives back to, where tributes are equal.

Clockwise: every payer gives to his left, every return goes back the same way (seed 000
A10.2). From the left (左贡右还): winners take from their left and give back to their right,
so that returns cross (seed 004 CN5). A choice not made falls as clockwise (provisional).
"""


def _plan_equal_tributes(
    profile: GuandanProfile, finish: FinishOrder, tribute: int, payer_chosen_by_up: Seat | None
) -> TributePlan:
    rules = profile.tribute
    choice = rules.double_tie == "choice" and tribute < SMALL_JOKER_VALUE  # not of jokers: R4.5
    if payer_chosen_by_up is not None and not (choice and payer_chosen_by_up in finish.payers):
        raise TributeError(f"UP cannot choose the tribute of {payer_chosen_by_up}")
    pays, gets = (neighbour(finish.up) for neighbour in _TIE_NEIGHBOURS[rules.double_tie])
    if payer_chosen_by_up is not None:
        pays = gets = payer_chosen_by_up  # who was chosen gets the return, too
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
    """Pair one payer with UP and his partner with 2ND."""
    return ((with_up, finish.up), (partner(with_up), finish.second))


def leader_by_returns(
    profile: GuandanProfile, finish: FinishOrder, plan: TributePlan, returned: Mapping[Seat, int]
) -> Seat:
    """Return who leads once returns are known: `returned` has their values, by who got them.

    After equal tributes the payer who got the smaller return leads, and UP's next where
    the returns are equal, too (seed 003 R4.3, R4.5); else whom the plan names. Raises
    TributeError while a return is missing.
    """
    if plan.leader is not None:
        return plan.leader
    if set(returned) != set(finish.payers):
        raise TributeError(f"returns to {', '.join(returned)}: expected both payers")
    first, other = finish.payers
    if returned[first] == returned[other]:
        return next_seat(finish.up)
    return min(first, other, key=lambda seat: returned[seat])
