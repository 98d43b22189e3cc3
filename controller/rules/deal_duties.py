"""The duties before a deal: the seats that shuffle, cut, turn up a card, draw first and lead.

If a machine deals, its program replaces the shuffle and the draw (seed 000 A5.3). There is then no
shuffler and no first drawer, but the cut and the turn-up remain. If people draw the hands, the deal
follows all of the order in the rulebook.
"""

import msgspec

from controller.cards import Face, pip_value
from controller.messages import Seat
from controller.rules.deal_result import DealResult, ForfeitedDeal
from controller.rules.profile import GuandanProfile, Profile
from controller.rules.tribute import TributePlan, finish_owing_tribute
from controller.seats import SEATS, next_seat, opponents, previous_seat, seat_from, seats_of_side
from controller.words import Words


class DutyError(ValueError):
    """The error for a duty that cannot be determined from the given facts. Its text is one line."""


class NoPipsError(DutyError):
    """The error for a turned-up joker, because a joker has no pips (points) to count."""


class DealDuties(msgspec.Struct, frozen=True, gc=False):
    """The duties of the players before a deal.

    `shufflers` and `cutters`: the seats that may shuffle and cut. Any one of them is enough. There
    is no shuffler if a machine shuffles. `shuffles`: the least and the greatest number of shuffles.
    `cuts`: the least and the greatest number of cards in the packet that is taken off. `turnup`: a
    card is turned up. `first_drawer`: None if a machine deals, or if the count by the turned-up
    card or the naming of a leader decides. `keys`: the rules that these duties depend on.
    """

    shufflers: tuple[Seat, ...]
    cutters: tuple[Seat, ...]
    shuffles: tuple[int, int]
    cuts: tuple[int, int]
    turnup: bool
    first_drawer: Seat | None
    keys: tuple[str, ...]

    @property
    def shuffler(self) -> Seat | None:
        """Return the only seat that may shuffle, or None if several may or a machine shuffles."""
        return self.shufflers[0] if len(self.shufflers) == 1 else None

    @property
    def cutter(self) -> Seat | None:
        """Return the only seat that may cut, or None if several seats may cut."""
        return self.cutters[0] if len(self.cutters) == 1 else None


def duties_before_deal(
    profile: GuandanProfile,
    deal: int,
    previous: DealResult | None,
    *,
    by_hand: bool,
    shuffler: Seat | None = None,
) -> DealDuties:
    """Return the duties (shuffling, cutting and so on) before deal number `deal` (1, 2, …).

    `previous`: the result of the deal before, None if no deal of the match counts yet. `by_hand`:
    people shuffle and deal. `shuffler`: the seat that shuffled by hand, if several seats may. The
    opponents of that seat cut the first deal. Raises DutyError if that seat may not shuffle.
    """
    shufflers, shuffler_key = _allowed_shufflers(profile, previous) if by_hand else _BY_MACHINE
    if shuffler is not None:
        if shuffler not in shufflers:
            raise DutyError(f"{shuffler} may not shuffle: {' or '.join(shufflers) or 'no seat'}")
        shufflers = (shuffler,)
    cutters, cutter_key = _allowed_cutters(profile, previous, shufflers)
    drawers, drawer_key = _possible_first_drawers(profile, previous) if by_hand else _BY_MACHINE
    cuts = profile.cuts()
    return DealDuties(
        shufflers=shufflers,
        cutters=cutters,
        shuffles=profile.shuffles_first if deal == 1 else profile.shuffles_later,
        cuts=(cuts[0], cuts[-1]),
        turnup=previous is None and profile.turnup.deal1,
        first_drawer=drawers[0] if len(drawers) == 1 else None,
        keys=tuple(dict.fromkeys((shuffler_key, cutter_key, drawer_key))),
    )


_SeatsAndKey = tuple[tuple[Seat, ...], str]
"""The seats that may do a duty, and the key of the rule for this duty in the profile."""

_BY_MACHINE: _SeatsAndKey = ((), "ceremony.machine_program")


def _allowed_shufflers(profile: GuandanProfile, previous: DealResult | None) -> _SeatsAndKey:
    """Return the seats that may shuffle by hand, and the key of this rule in the profile.

    After a double-down both losers are last, and either of them may shuffle (seed 000 A5.1.3,
    A10.2).
    """
    rules = profile.ceremony
    if previous is None:
        first = rules.shuffler_first
        return (SEATS if first == "any" else (first,)), "ceremony.shuffler_first"
    if isinstance(previous, ForfeitedDeal):
        return seats_of_side(previous.loser), "ceremony.shuffler_forfeited"
    if rules.shuffler_later == "prev_UP":
        return (previous_seat(previous.up),), "ceremony.shuffler_later"
    return previous.payers, "ceremony.shuffler_later"


def _allowed_cutters(
    profile: GuandanProfile, previous: DealResult | None, shufflers: tuple[Seat, ...]
) -> _SeatsAndKey:
    """Return the seats that may cut, and the key of this rule in the profile.

    `shufflers` is empty if a machine shuffles.
    """
    rules = profile.ceremony
    if isinstance(previous, ForfeitedDeal):
        named = previous.leader
        may = (named,) if named else seats_of_side(previous.winners)
        return may, "ceremony.cutter_forfeited"
    if previous is not None:
        return (previous.up,), "cutter_later"
    if not shufflers:
        return (profile.cutter_first,), "cutter_first"
    if rules.cutter_by_hand != "opponent":
        return (rules.cutter_by_hand,), "ceremony.cutter_by_hand"
    across = [seat for seat in SEATS if any(seat in opponents(one) for one in shufflers)]
    return tuple(across), "ceremony.cutter_by_hand"


def _possible_first_drawers(profile: GuandanProfile, previous: DealResult | None) -> _SeatsAndKey:
    """Return the seats (one or none) that may draw first by hand, and the key of this rule.

    The tuple is empty while the turned-up card or the name of the leader must decide.
    """
    if previous is None:
        return (), "ceremony.count_from"
    if isinstance(previous, ForfeitedDeal):
        named = previous.leader
        return (next_seat(named),) if named else (), "ceremony.first_drawer_forfeited"
    if previous.last is None:
        return (next_seat(previous.up),), "ceremony.first_drawer_double"
    return (previous.last,), "ceremony.first_drawer_single"


def first_drawer_by_count(profile: GuandanProfile, cutter: Seat, face: Face) -> Seat:
    """Return the seat that draws first in the first deal, as the turned-up card `face` decides.

    The pips of the card are counted along the seats. The count begins with 1 at the cutter, or at
    the next seat (`count_from`), and follows the direction of the draw (seed 000 A5.1.2, 004 CN5).
    The pips of A, J, Q and K are provisional (cards.pip_value). Raises NoPipsError for a joker.
    """
    pips = pip_value(face)
    if pips is None:
        raise NoPipsError("a joker has no pips to count: turn up another card")
    steps = pips - 1 if profile.ceremony.count_from == "cutter" else pips
    return seat_from(cutter, profile.direction.draw, steps)


def is_turnup_valid(profile: Profile, face: Face) -> bool:
    """Return True if the rulebook accepts the turned-up card.

    Otherwise people cut and turn up again.
    """
    return face not in profile.turnup.faces()


def drawer_of_card(profile: Profile, first_drawer: Seat, position: int) -> Seat:
    """Return the seat that draws card number `position` (1…108) in a deal by hand.

    People draw one card at a time. A machine uses its own order (seed 000 A5.1.6, A5.3). Raises
    DutyError for a position that the set does not have.
    """
    if not 1 <= position <= profile.deck.cards:
        raise DutyError(f"card {position}: the set has cards 1…{profile.deck.cards}")
    return seat_from(first_drawer, profile.direction.draw, position - 1)


def cut_problem(profile: Profile, n: int) -> Words | None:
    """Return the reason why a cut of `n` cards is not legal, or None if the cut is legal.

    Seed 000 A5.1.5 requires more than five cards from either end, 004 CN5 allows any number.
    """
    legal = profile.cuts()
    if n in legal:
        return None
    least, most, cards = legal[0], legal[-1], profile.deck.cards
    return Words(
        f"a cut of {n} cards: take off {least}…{most} of {cards}",
        f"切了{n}张，{cards}张应切{least}至{most}张",
    )


def leader_of_deal(
    profile: GuandanProfile,
    previous: DealResult | None,
    *,
    turned_to: Seat | None = None,
    tribute: TributePlan | None = None,
) -> Seat | None:
    """Return the seat that leads the next deal, or None while that is not decided.

    `turned_to`: the seat that got the turned-up card of the first deal (seed 000 A3.8.1).
    `tribute`: the plan by the paid values, or tribute.plan_without_tribute. After a forfeited deal
    the other side names the leader (seed 000 A15.3.3). The leader is open while the turn-up, the
    name or the tribute is unknown, or while the returns must decide (tribute.leader_by_returns).
    """
    if previous is None:
        return turned_to
    if finish_owing_tribute(profile, previous) is not None:
        return None if tribute is None else tribute.leader
    return previous.leader if isinstance(previous, ForfeitedDeal) else None
