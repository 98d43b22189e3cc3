"""The rules of Guandan as structs, one for each table (section) of a profile's TOML file.

No key has a default here. The file contains every value, either with its article or marked as
provisional if the rulebook does not state the value. keys.toml explains the keys to people.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from controller.cards import RANKS, Face, composition, parse_face
from controller.messages import Seat
from controller.rules.deal_result import ResultClass

Count = Annotated[int, Meta(ge=1, le=255)]
Seconds = Annotated[int, Meta(ge=0, le=86_400)]
Points = Annotated[int, Meta(ge=0, le=100_000)]
LevelSteps = Annotated[int, Meta(ge=0, le=12)]
Times = Annotated[int, Meta(ge=0, le=20)]
Rank = Annotated[
    Literal["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"],
    Meta(description="one of " + ", ".join(f'"{rank}"' for rank in RANKS)),
]
ReturnKind = Literal["any", "ten", "ten_advised"]
ReturnVisibility = Literal["open", "together", "secret"]
CatalogueNumber = Literal["000", "003", "004"]
"""A text with its own offences. Text 001 has the same words as 000."""


class ProfileTable(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The base class for one table of a profile's TOML file. An unknown key is an error."""


def _refuse_duplicates(key: str, values: Sequence[object], among: Sequence[object]) -> None:
    """Raise ValueError if a value occurs twice in `among`, the values of the profile's key `key`.

    `values`: the same list as it is written in the file, for the message.
    """
    for n, value in enumerate(among):
        if value in among[:n]:
            raise ValueError(f'{key}[{n}] = "{values[n]}": expected each of them once')


class DeckRules(ProfileTable, frozen=True):
    """The number of packs in a set of cards, and whether it includes jokers.

    `cards`: the number of cards in the set.
    """

    packs: Annotated[int, Meta(ge=1, le=4)]
    jokers: bool
    cards: Count

    def __post_init__(self) -> None:
        """Refuse a value of `cards` that differs from the number of cards in the packs."""
        if self.cards != sum(self.composition()):
            raise ValueError(f"cards = {self.cards}: expected {sum(self.composition())}")

    def composition(self) -> tuple[int, ...]:
        """Return how many cards of each of the 54 faces a set contains."""
        return composition(self.packs, self.jokers)


class DirectionRules(ProfileTable, frozen=True):
    """The direction in which players play, and the direction in which they draw cards by hand."""

    play: Literal["ccw"]
    draw: Literal["ccw", "cw"]


class TurnupRules(ProfileTable, frozen=True):
    """The rules for the card that is turned up before the first deal.

    `deal1`: there is such a card. `redo_on`: the cards after which another card is turned up.
    """

    deal1: bool
    redo_on: list[str]

    def __post_init__(self) -> None:
        """Refuse a text in `redo_on` that is no card, and a card that is listed twice."""
        try:
            faces = [parse_face(card) for card in self.redo_on]
        except ValueError as mistake:
            raise ValueError(f"redo_on: {mistake}") from None
        _refuse_duplicates("redo_on", self.redo_on, faces)

    def faces(self) -> frozenset[Face]:
        """Return the faces after which another card is turned up."""
        return frozenset(map(parse_face, self.redo_on))


class CeremonyRules(ProfileTable, frozen=True):
    """The rules on the players' duties before a deal: shuffling, cutting and drawing first.

    `cutter_by_hand` cuts the first deal if a person shuffled. If a machine shuffled, the profile's
    `cutter_first` cuts.
    """

    machine_program: bool
    shuffler_first: Literal["N", "W", "S", "E", "any"]
    shuffler_later: Literal["LAST", "prev_UP"]
    shuffler_forfeited: Literal["losers"]
    cutter_by_hand: Literal["N", "W", "S", "E", "opponent"]
    cutter_forfeited: Literal["leader"]
    count_from: Literal["cutter", "next"]
    first_drawer_single: Literal["LAST"]
    first_drawer_double: Literal["next_UP"]
    first_drawer_forfeited: Literal["next_leader"]


class CountingRules(ProfileTable, frozen=True):
    """The procedures for a disputed or wrong number of cards in a hand."""

    check: Literal["referee_recount"]
    misdeal: Literal["new_set"]
    found_card: Literal["play_on", "redeal"]


class UpgradeSteps(ProfileTable, frozen=True):
    """The number of levels that the winning side climbs, for each class of result."""

    R12: LevelSteps
    R13: LevelSteps
    R14: LevelSteps


class LevelRules(ProfileTable, frozen=True):
    """The rules for climbing levels from 2 to A, and for passing A (winning the match)."""

    start: Rank
    upgrade: UpgradeSteps
    level_played: Literal["winners"]
    must_play: list[Rank]
    a_pass: list[ResultClass]
    a_own_level_only: bool
    a_forfeited_deal_passes: bool
    a_fail_limit: Times
    a_fail_counts: Literal["total", "consecutive"]
    a_fail_then: Literal["play_on", "back_to_2", "opponents_win"]
    a_fail_points: list[Points]

    def __post_init__(self) -> None:
        """Refuse rules by which no side could ever pass A.

        A limit of failures at A without a consequence is refused too, and so is a consequence
        without a limit.
        """
        if "A" not in self.must_play:
            raise ValueError("must_play: expected A among them, because no side may skip it")
        if not self.a_pass:
            raise ValueError("a_pass: expected at least one result that passes A")
        _refuse_duplicates("must_play", self.must_play, self.must_play)
        _refuse_duplicates("a_pass", self.a_pass, self.a_pass)
        if self.a_fail_limit and self.a_fail_then == "play_on":
            raise ValueError(
                f"a_fail_limit = {self.a_fail_limit}: give a_fail_then, too, as "
                '"back_to_2" or "opponents_win"'
            )
        if not self.a_fail_limit and self.a_fail_then != "play_on":
            raise ValueError(
                f'a_fail_then = "{self.a_fail_then}": give a_fail_limit, too: after how many '
                "failures"
            )


class TributeRules(ProfileTable, frozen=True):
    """The rules for paying tribute and for giving a card back.

    `return_*`: the cards that may be given back.
    """

    exclude_wild: bool
    tie_choice: Literal["payer", "receiver"]
    return_opponent: ReturnKind
    return_partner: ReturnKind
    return_double: ReturnKind
    return_level_card: Literal["warn", "allowed"]
    return_received: bool
    return_if_none: Literal["smallest"]
    returns_single: ReturnVisibility
    returns_double: ReturnVisibility
    double_tie: Literal["clockwise", "from_left", "choice"]
    tie_leader: Literal["next_UP", "smaller_return"]
    anti_single: bool
    anti_double: bool
    anti: Literal["automatic", "declared"]
    after_forfeit: bool


class ConductRules(ProfileTable, frozen=True):
    """The rules of conduct during play. The machine cannot observe them, but a referee can."""

    pass_form: Literal["one_for_match", "any"]
    play_form: Literal["at_once_in_order", "at_once"]
    hold: Literal["facing_oneself", "silent"]
    discards: Literal["face_down", "face_down_optional"]
    card_down_stays: bool
    report_at: Annotated[int, Meta(ge=0, le=27)]
    report_question: Literal["forbidden", "allowed"]
    wind: Literal["partner"]
    wind_second: bool
    straight_ends: Literal["natural"]
    undeclared: Literal["higher"]

    def is_report_due(self, before: int, left: int) -> bool:
        """Return True if a play that reduces a hand from `before` to `left` cards must be reported.

        A report is due once a deal, for the play that brings a hand to ten cards or less (seed 003
        R3: eight). A player who goes out with that play reports nothing (seed 000 A12).
        """
        return 0 < left <= self.report_at < before


class EndingRules(ProfileTable, frozen=True):
    """The rules for the end of a match. `deals` and `time_s` are 0 if the event sets them."""

    methods: list[Literal["play_to_A", "deals", "timed", "timed_deals"]]
    method: Literal["play_to_A", "deals", "timed", "timed_deals"]
    deals: Annotated[int, Meta(ge=0, le=99)]
    time_s: Seconds
    at_time: Literal["stop_now", "finish_started"]
    last_start_margin_s: Seconds
    past_a: Literal["ends"]
    winner: Literal["level"]
    equal: Literal["draw", "first_to_reach", "extra_deal"]
    equal_knockout: Literal["first_to_reach", "extra_deal"]
    extra_deal_winner: Literal["UP"]
    matches: Annotated[int, Meta(ge=1, le=9)]

    def __post_init__(self) -> None:
        """Refuse a `method` that is not in `methods`, or that has no usable limit.

        The limit is a number of deals, or a time in which at least one deal can begin.
        """
        _refuse_duplicates("methods", self.methods, self.methods)
        if self.method not in self.methods:
            raise ValueError(f'method = "{self.method}": expected one of {", ".join(self.methods)}')
        if self.method in ("deals", "timed_deals") and not self.deals:
            raise ValueError(f'deals = 0: method = "{self.method}" needs a number of deals')
        if self.method in ("timed", "timed_deals") and not self.time_s:
            raise ValueError(f'time_s = 0: method = "{self.method}" needs a time')
        if self.method in ("timed", "timed_deals") and self.last_start_margin_s >= self.time_s:
            raise ValueError(
                f"last_start_margin_s = {self.last_start_margin_s}: expected less than time_s, "
                f"{self.time_s}, or no deal would begin"
            )


class DealPoints(ProfileTable, frozen=True):
    """The points for a won deal, for each class of result. All are 0 if the rulebook has none."""

    R12: Points
    R13: Points
    R14: Points


class ScoreRules(ProfileTable, frozen=True):
    """The points for matches and deals.

    A list of points is empty if the rulebook has none. `match_points`: for a win, a draw, a loss.
    `level_points`: for the winner and the loser, by difference of levels 0…13. `deal_points_by`: by
    the levels that the winners climbed, or by the result, even if fewer levels were left.
    """

    match_points: list[Points]
    level_points: list[tuple[Points, Points]]
    deal_points: DealPoints
    deal_points_by: Literal["climbed", "result"]
    total: Literal["sum", "none"]
    forfeit_match_points: list[Points]
    forfeit_level_points: list[Points]
    forfeit_keeps: Literal["higher", "margin", "none"]

    def __post_init__(self) -> None:
        """Refuse a list of points that has a wrong length or gives more for a worse result."""
        expected = {
            "match_points": (0, 3),
            "level_points": (0, 14),
            "forfeit_match_points": (0, 2),
            "forfeit_level_points": (0, 2),
        }
        for key, lengths in expected.items():
            if len(getattr(self, key)) not in lengths:
                raise ValueError(f"{key}: expected {lengths[1]} of them, or none")
        for key in ("match_points", "forfeit_match_points", "forfeit_level_points"):
            points = getattr(self, key)
            is_falling = all(better >= worse for better, worse in pairwise(points))
            if points and not (is_falling and points[0] > points[-1]):
                raise ValueError(
                    f"{key} = {list(points)}: expected the most first and less at the end"
                )
        for n, (winner, loser) in enumerate(self.level_points):
            if winner < loser:
                raise ValueError(
                    f"level_points[{n}] = [{winner}, {loser}]: expected no less for the winner"
                )
            before = self.level_points[n - 1] if n else (winner, loser)
            if winner < before[0] or loser > before[1]:
                raise ValueError(
                    f"level_points[{n}] = [{winner}, {loser}]: expected no less for the winner "
                    f"and no more for the loser than one level before, {list(before)}"
                )


class ClockRules(ProfileTable, frozen=True):
    """The time limits of a match in seconds. 0 means no limit.

    A clock only proposes a penalty, and a referee decides.
    """

    play_clock: Literal["off", "on_call", "every_play"]
    play_s: Seconds
    play_warned_s: Seconds
    opening_s: Seconds
    sort_s: Seconds
    tribute_s: Seconds
    return_s: Seconds
    overrun_s: Seconds
    late_s: Seconds
    late_then: Literal["regulations", "default"]
    added_time_chief_s: Seconds

    def __post_init__(self) -> None:
        """Refuse `late_s` = 0 (no limit) if the rules make a late side lose the match."""
        if self.late_then == "default" and not self.late_s:
            raise ValueError('late_s = 0: late_then = "default" needs a time, give late_s')


class PenaltyRules(ProfileTable, frozen=True):
    """The rules for penalties: how many repetitions raise a penalty, and what a foul costs."""

    catalogue: CatalogueNumber
    violations_to_foul: Times
    fouls_to_forfeit: Times
    forfeits_to_disqualify: Times
    foul: Literal["deal_lost", "level"]
    foul_levels: LevelSteps
    out_of_turn_warnings_to_foul: Times
    hidden: Literal["foul", "levels", "disqualified"]
    hidden_levels: tuple[LevelSteps, LevelSteps]
    hidden_to_loss: Times
    level_bounds: tuple[Rank, Rank]
    out_of_turn_skips: Literal["one_turn", "trick"]
    delay_skips: Literal["one_turn", "trick"]
    wrong_card_before_play: Literal["corrected"]
    wrong_tribute_in_play: Literal["dead_hand"]
    wrong_return_in_play: Literal["stands"]
    settled_by_players: Literal["referee_decides", "closed"]

    def __post_init__(self) -> None:
        """Refuse `level_bounds` if the first level is higher than the second."""
        low, high = self.level_bounds
        if RANKS.index(low) > RANKS.index(high):
            raise ValueError(f'level_bounds = ["{low}", "{high}"]: expected the lower one first')


class SheetRoles(ProfileTable, frozen=True):
    """The persons who write, check and sign the score sheet."""

    scorer: Seat | Literal["referee"]
    checker: Seat | Literal["none"]
    signers: list[Literal["N", "W", "S", "E", "NS", "EW", "referee"]]
    substitution: Literal["regulations", "before_event"]

    def __post_init__(self) -> None:
        """Refuse a score sheet without signers, and a signer who is listed twice."""
        if not self.signers:
            raise ValueError("signers: empty, expected at least one who signs")
        _refuse_duplicates("signers", self.signers, self.signers)
