"""Who shuffles, cuts, turns up a card, draws first and leads: what comes before the cards.

With a machine its program replaces shuffling and drawing (seed 000 A5.3), so that nobody
is the shuffler and nobody draws first; the cut and the turn-up stay. A deal whose hands
are drawn by hand follows the rulebook's order in all of it.
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
    """A duty that cannot be told from what was given; its text is one line."""


class NoPipsError(DutyError):
    """A joker was turned up, and nothing can be counted by it."""


class DealDuties(msgspec.Struct, frozen=True, gc=False):
    """What players do before a deal.

    `shufflers` and `cutters`: who may do it, any one of them; no shuffler where a machine
    shuffles. `shuffles`: least and most passes. `cuts`: least and most cards of the packet
    taken off. `turnup`: a card is turned up. `first_drawer`: None where a machine deals, or
    where the count by the turned-up card or the naming of a leader decides. `keys`: the
    rules it rests on.
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
        """Return who shuffles; None where several may, or a machine does."""
        return _only_seat(self.shufflers)

    @property
    def cutter(self) -> Seat | None:
        """Return who cuts; None where several may."""
        return _only_seat(self.cutters)


def duties_before_deal(
    profile: GuandanProfile,
    deal: int,
    previous: DealResult | None,
    *,
    by_hand: bool,
    shuffler: Seat | None = None,
) -> DealDuties:
    """Return who does what before deal `deal` (1, 2, …), by the result of the one before.

    `previous` is None where no deal of the match counts yet. `shuffler`: who did shuffle by
    hand, where several may; his opponents cut the first deal. Raises CeremonyError where he
    may not shuffle.
    """
    shufflers, shuffler_key = _allowed_shufflers(profile, previous) if by_hand else _BY_MACHINE
    if shuffler is not None:
        if shuffler not in shufflers:
            raise DutyError(f"{shuffler} may not shuffle: {' or '.join(shufflers) or 'nobody'}")
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
        first_drawer=_only_seat(drawers),
        keys=tuple(dict.fromkeys((shuffler_key, cutter_key, drawer_key))),
    )


_SeatsAndKey = tuple[tuple[Seat, ...], str]
"""Who may do it, and the key of the rule that says so."""

_BY_MACHINE: _SeatsAndKey = ((), "ceremony.machine_program")


def _only_seat(seats: tuple[Seat, ...]) -> Seat | None:
    return seats[0] if len(seats) == 1 else None


def _allowed_shufflers(profile: GuandanProfile, previous: DealResult | None) -> _SeatsAndKey:
    """Tell who may shuffle by hand.

    After a double-down two players are LAST: either of them (seed 000 A5.1.3, A10.2).
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
    """Tell who may cut; nobody is among the shufflers where a machine shuffles."""
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
    """Tell who draws first by hand; nobody yet where a count or a name decides."""
    if previous is None:
        return (), "ceremony.count_from"
    if isinstance(previous, ForfeitedDeal):
        named = previous.leader
        return (next_seat(named),) if named else (), "ceremony.first_drawer_forfeited"
    if previous.last is None:
        return (next_seat(previous.up),), "ceremony.first_drawer_double"
    return (previous.last,), "ceremony.first_drawer_single"


def first_drawer_by_count(profile: GuandanProfile, cutter: Seat, face: Face) -> Seat:
    """Return who draws the first deal's first card: counted by the turned-up card's pips.

    The cutter counts as 1 (or his next, `count_from`), and it goes the way hands are drawn
    (seed 000 A5.1.2, 004 CN5). What A, J, Q and K count is provisional (cards.pip_value).
    Raises NoPipsError for a joker.
    """
    pips = pip_value(face)
    if pips is None:
        raise NoPipsError("a joker has no pips to count: turn up another card")
    steps = pips - 1 if profile.ceremony.count_from == "cutter" else pips
    return seat_from(cutter, profile.direction.draw, steps)


def is_turnup_valid(profile: Profile, face: Face) -> bool:
    """Tell whether a turned-up card counts; else the cut and the turn-up are repeated."""
    return face not in profile.turnup.faces()


def drawer_of_card(profile: Profile, first_drawer: Seat, position: int) -> Seat:
    """Return who draws card `position` (1…108) where hands are drawn one card at a time.

    By hand only: a machine deals in an order of its own (seed 000 A5.1.6, A5.3). Raises
    CeremonyError for a position that the set does not have.
    """
    if not 1 <= position <= profile.deck.cards:
        raise DutyError(f"card {position}: the set has cards 1…{profile.deck.cards}")
    return seat_from(first_drawer, profile.direction.draw, position - 1)


def cut_problem(profile: Profile, n: int) -> Words | None:
    """Return in one line why a packet of `n` cards is no legal cut; None where it is one.

    Seed 000 A5.1.5 wants more than five from either end, 004 CN5 any number.
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
    """Return who leads the next deal; None while that is open.

    `turned_to`: who got the turned-up card of the first deal (seed 000 A3.8.1). `tribute`:
    the plan by the values that were paid, or tribute.anti_plan. After a forfeited deal the
    other side names the leader (seed 000 A15.3.3). Still open are a turn-up, a name or a
    tribute not known yet, and returns that decide (tribute.leader_by_returns).
    """
    if previous is None:
        return turned_to
    if finish_owing_tribute(profile, previous) is not None:
        return None if tribute is None else tribute.leader
    return previous.leader if isinstance(previous, ForfeitedDeal) else None
