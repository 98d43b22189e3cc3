"""Big Two (锄大地), a practice profile: the rules as data, card points and deal scores.

Seed 002 requires approved software and the same deals at several tables (A3, A13). A table that
deals its own cards can therefore only offer practice. regulations.toml lists the rules that the
seed lacks.
"""

from collections.abc import Collection, Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from controller.cards import Face, parse_face
from controller.messages import Seat
from controller.rules.ranks import is_joker
from controller.seats import SEATS

CardCount = Annotated[int, Meta(ge=0, le=13)]
Factor = Annotated[int, Meta(ge=1, le=16)]
Points = Annotated[int, Meta(ge=0, le=1_000_000)]
TieBreakName = Literal["beaten_average", "round_places", "total_time", "trimmed_time"]


class LeadRules(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The rules for the first lead of a deal.

    The seat that holds the card `holder` (♦3 in bigtwo-2017-002) leads, and is the first hand
    (首家). `must_include`: the first play must contain that card. Source: seed 002 A7.
    """

    holder: str
    must_include: bool

    def __post_init__(self) -> None:
        """Raise ValueError if `holder` is not a card, or is a joker. Big Two has no jokers."""
        try:
            joker = is_joker(self.face())
        except ValueError as mistake:
            raise ValueError(f"holder: {mistake}") from None
        if joker:
            raise ValueError(f'holder = "{self.holder}": expected a card that is no joker')

    def face(self) -> Face:
        """Return the card that `holder` names. The player who has this card leads first."""
        return parse_face(self.holder)


class BigTwoComboRules(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The rules that define the combinations and decide between two combinations of the same kind.

    `a_low`: A2345 is a straight (seed 002 A8.4). All other keys are provisional.
    `two_in_straights`: a 2 may be part of a straight. `straights_by`: the cards of a straight rank
    in natural order or as singles do. `full_house_by` and `four_one_by`: the meaning of "the
    highest card" (A9.4) in a full house and in 铁枝. `five_cards`: five cards may be followed by
    any other five (A9.4) or only by the same kind (A7).
    """

    a_low: bool
    two_in_straights: bool
    straights_by: Literal["natural", "singles"]
    full_house_by: Literal["triple", "highest_card"]
    four_one_by: Literal["four", "highest_card"]
    five_cards: Literal["one_class", "same_kind"]

    def __post_init__(self) -> None:
        """Raise ValueError if A2345 is a straight although no straight may contain a 2."""
        if self.a_low and not self.two_in_straights:
            raise ValueError("a_low = true: expected false where two_in_straights is false")


class LastCardRules(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The duties of players when one player has few cards left (报单).

    From `report_at` cards on, the player reports the number of cards to the others.
    `largest_single`: the player before a player with one card must play the largest single, or more
    than one card. `may_pass`: that player may pass on a single that the largest single would beat
    (provisional). Source: seed 002 A4.8, A7.
    """

    report_at: Annotated[int, Meta(ge=1, le=13)]
    largest_single: bool
    may_pass: bool


class ChoiceRules(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The rules for one choice before play: open hand (明牌) or doubling (加倍).

    `order`: all seats at once, or in turn from the first hand. After `limit_s` seconds the answer
    is `default`. A seat that answers yes plays for `factor` times the points. Source: seed 002 A6,
    App1.1.
    """

    order: Literal["at_once", "in_turn"]
    limit_s: Annotated[int, Meta(ge=1, le=600)]
    factor: Factor
    default: bool


class CardPointBand(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A scoring band: each card left counts `times` points if `least` to `most` cards are left."""

    least: CardCount
    most: CardCount
    times: Factor


class ScoringRules(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The rules for the points that a player pays for the cards left in the hand after a deal.

    `card_points`: the bands in rising order, from 0 cards up. Source: seed 002 App1.1.
    """

    card_points: tuple[CardPointBand, ...]

    def __post_init__(self) -> None:
        """Raise ValueError if the bands overlap or leave out a number of cards."""
        if not self.card_points:
            raise ValueError(f"card_points: empty, expected bands from 0 to {HAND_CARDS} cards")
        due = 0
        for n, band in enumerate(self.card_points):
            if band.least != due or band.most < band.least:
                raise ValueError(
                    f"card_points[{n}]: from {band.least} to {band.most} cards, "
                    f"expected a band that begins with {due}"
                )
            due = band.most + 1
        if due != HAND_CARDS + 1:
            raise ValueError(f"card_points: end with {due - 1} cards, expected {HAND_CARDS}")


class MatchpointRules(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The matchpoints that an entrant gets for each other entrant who has a worse or equal score.

    `among`: places are assigned among the entrants of the same seat, or among all who played the
    deal at any seat. The seed does not define this (provisional). Source: seed 002 App2.1.
    """

    worse: Annotated[int, Meta(ge=1, le=100)]
    equal: Annotated[int, Meta(ge=0, le=100)]
    among: Literal["seat", "deal"]

    def __post_init__(self) -> None:
        """Raise ValueError if an equal score gives more matchpoints than a better score."""
        if self.equal > self.worse:
            raise ValueError(f"equal = {self.equal}: expected at most {self.worse}, as worse is")


class RankingPointRules(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The ranking points for each place in one deal.

    `listed`: places 1, 2, … `rest`: the places after the listed ones. The seed lost the factor, so
    half of the points two places above is provisional. `decimals` are kept, and halves are rounded
    up (provisional). `shared`: after a shared 1st place comes the 3rd (skip, the rule) or the 2nd
    (dense, the printed example). Source: seed 002 App2.1.
    """

    listed: tuple[Points, ...]
    rest: Literal["half_of_two_above", "zero"]
    decimals: Annotated[int, Meta(ge=0, le=6)]
    shared: Literal["skip", "dense"]

    def __post_init__(self) -> None:
        """Raise ValueError if a worse place gets more points than a better place, or if `listed`
        has fewer places than the rule `rest` needs.
        """
        if tuple(sorted(self.listed, reverse=True)) != self.listed:
            raise ValueError(
                "listed: rises, expected every place to be worth no more than the last"
            )
        least = 2 if self.rest == "half_of_two_above" else 1
        if len(self.listed) < least:
            raise ValueError(f"listed: {len(self.listed)} places, expected {least} or more")


class FinalRankingRules(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The rules that rank entrants with equal totals (tie-breaks), in the order of their use.

    After them comes a play-off (加赛, seed 002 App2.2).
    """

    tie_breaks: tuple[TieBreakName, ...]

    def __post_init__(self) -> None:
        """Raise ValueError if the list names the same tie-break rule twice."""
        for n, name in enumerate(self.tie_breaks):
            if name in self.tie_breaks[:n]:
                raise ValueError(f'tie_breaks[{n}] = "{name}": expected each of them once')


class BigTwoRules(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """All rules that only a profile of Big Two has. The keys of every profile come in addition."""

    lead: LeadRules
    combos: BigTwoComboRules
    last_card: LastCardRules
    open_hand: ChoiceRules
    doubling: ChoiceRules
    scoring: ScoringRules
    matchpoints: MatchpointRules
    ranking_points: RankingPointRules
    final: FinalRankingRules


HAND_CARDS = 13
"""Cards in a hand, which is also the most that can be left (seed 002 A4.4)."""


def card_points(left: int, scoring: ScoringRules) -> int:
    """Return the card points (牌分) of a player who has `left` cards left.

    Raises ValueError for a number that no hand has. Source: seed 002 App1.1.
    """
    for band in scoring.card_points:
        if band.least <= left <= band.most:
            return left * band.times
    raise ValueError(f"a hand has {scoring.card_points[-1].most} cards at most, not {left}")


def deal_scores(
    left: Mapping[Seat, int],
    rules: BigTwoRules,
    open_hands: Collection[Seat] = (),
    doubled: Collection[Seat] = (),
) -> dict[Seat, int]:
    """Return the score (得分) of each seat in one deal. The sum of the four scores is 0.

    For every two seats, the seat with fewer card points wins the difference from the other seat.
    The difference is multiplied by the factors of both seats, for an open hand and for doubling.
    `left`: cards left, by seat. Raises ValueError if `left` does not contain four seats of which
    exactly one is out (A10), or if `open_hands` or `doubled` contains an unknown seat. Source: seed
    002 App1.1.
    """
    if set(left) != set(SEATS):
        raise ValueError(f"cards left of {' '.join(left)}: expected {' '.join(SEATS)}")
    out = [seat for seat in left if not left[seat]]
    if len(out) != 1:
        raise ValueError(f"{len(out)} seats are out: expected just one, who ends the deal")
    if strangers := {*open_hands, *doubled} - set(left):
        raise ValueError(f"{' '.join(sorted(strangers))}: expected seats, {' '.join(SEATS)}")
    points = {seat: card_points(cards, rules.scoring) for seat, cards in left.items()}
    factor = {
        seat: (rules.open_hand.factor if seat in open_hands else 1)
        * (rules.doubling.factor if seat in doubled else 1)
        for seat in left
    }
    return {
        mine: sum((points[other] - points[mine]) * factor[mine] * factor[other] for other in left)
        for mine in left
    }
