"""The state of a match: its players, its present deal and its score sheet."""

from typing import Literal

import msgspec

from controller.match.big_two_choices import ChoicesBeforePlay
from controller.match.clocks.duty_clocks import DutyClocks
from controller.match.clocks.match_clock import MatchClock
from controller.match.phase import DEAL_UNDER_WAY, MatchPhase
from controller.match.rulings import MatchRuling
from controller.match.sheet_rows import Sheet
from controller.messages import Seat, Side
from controller.rules.deal_duties import DealDuties
from controller.rules.deal_result import DealResult
from controller.rules.match_end import MatchScore, MatchVerdict
from controller.rules.match_standing import MatchStanding
from controller.rules.penalties.penalty_record import PenaltyRecord
from controller.rules.profile import BigTwoProfile, GuandanProfile, Profile
from controller.rules.ranks import Level
from controller.rules.tribute import TributePlan
from controller.seats import side_of

EventStage = Literal["swiss", "round_robin", "knockout"]


class MatchPair(msgspec.Struct, frozen=True):
    """A pair of partners: its id, its name, and the names of the players at its two seats."""

    id: str
    name: str
    players: dict[Seat, str]


class Meeting(msgspec.Struct, frozen=True, kw_only=True):
    """One match of a tournament: its round, number and table, and its two pairs of players.

    `event` is the tournament. A match of the stage "knockout" must have a winner.
    """

    match_id: str
    event: str
    round: int
    match_no: int
    table_no: str
    stage: EventStage
    pairs: dict[Side, MatchPair]

    def player_name(self, seat: Seat) -> str:
        """Return the name of the player at `seat`, or the seat's letter if no name is stored."""
        return self.pair_of(seat).players.get(seat, seat)

    def pair_of(self, seat: Seat) -> MatchPair:
        """Return the pair that plays at `seat` and at the seat opposite."""
        return self.pairs[side_of(seat)]


class SheetSignature(msgspec.Struct, frozen=True, gc=False):
    """A signature on the score sheet: the signer, the person's name, and the time.

    `signer` is a side, a seat or the referee.
    """

    signer: str
    person: str
    at_ms: int


class SignedVersion(msgspec.Struct, frozen=True, gc=False):
    """An earlier version of the score sheet: its number, its number of rows, and its signatures."""

    version: int
    rows: int
    signatures: tuple[SheetSignature, ...]


class AnyMatch(msgspec.Struct, frozen=True, kw_only=True):
    """The base class of a match's state, with the fields that Guandan and Big Two both have.

    `suspended` is the reason why the table is suspended, or None. `duties` are the duties before
    the present deal. `turned_to` is the seat that got the card which decides the lead. `let_go` is
    True after the release of the held hands was ordered.

    `misdeals` counts the failed attempts of the present deal, and `in_a_row` those since the last
    successful one. `began_ms` is when the hands of the deal were released. `begun` is True if they
    were released once, although the deal is dealt again now. `ended_ms` is when its last card was
    played.

    `settled_stops` counts the stops of the clock that a referee has answered, with added time or
    none. `claims` are the seats that claimed a wrong count in this match. `record` has every
    penalty of these pairs in earlier matches and moves with them. `version` is the version of the
    score sheet, raised each time the sheet changes after the end of the match. `replaced` are the
    earlier versions.
    """

    profile: Profile
    meeting: Meeting
    clock: MatchClock
    phase: MatchPhase = MatchPhase.SETUP
    now_ms: int = 0
    seated: tuple[Seat, ...] = ()
    started: bool = False
    suspended: str | None = None
    deal: int = 0
    by_hand: bool = False
    misdeals: int = 0
    in_a_row: int = 0
    let_go: bool = False
    duties: DealDuties | None = None
    shuffler: Seat | None = None
    cutter: Seat | None = None
    cut: int | None = None
    turned_up: str | None = None
    turned_to: Seat | None = None
    first_drawer: Seat | None = None
    leader: Seat | None = None
    led: bool = False
    began_ms: int | None = None
    begun: bool = False
    ended_ms: int | None = None
    settled_stops: int = 0
    counted: tuple[Seat, ...] = ()
    claimed: Seat | None = None
    claims: tuple[Seat, ...] = ()
    confirmed: tuple[str, ...] = ()
    clocks: DutyClocks = ()
    record: PenaltyRecord = ()
    rulings: tuple[MatchRuling, ...] = ()
    verdict: MatchVerdict | None = None
    signatures: tuple[SheetSignature, ...] = ()
    version: int = 1
    replaced: tuple[SignedVersion, ...] = ()

    @property
    def is_being_released(self) -> bool:
        """Return whether the release of the held hands was ordered, but has not happened yet.

        The end of time does not stop such a release.
        """
        return self.let_go and self.phase is MatchPhase.HELD

    @property
    def is_deal_under_way(self) -> bool:
        """Return whether a deal has begun and its result is not on the score sheet yet."""
        return self.phase in DEAL_UNDER_WAY


class TributeExchange(msgspec.Struct, frozen=True, kw_only=True):
    """The tribute cards and return cards of one deal, with their givers, receivers and values.

    `laid` are the payers who have laid a card, and `given` the seats that have returned one.
    `returned` has the values of return cards by receiver, as far as they are public.
    """

    payers: tuple[Seat, ...]
    anti: bool = False
    laid: tuple[Seat, ...] = ()
    values: dict[Seat, int] = {}
    plan: TributePlan | None = None
    given: tuple[Seat, ...] = ()
    returned: dict[Seat, int] = {}


class GuandanMatch(AnyMatch, frozen=True, kw_only=True):
    """The state of a match of Guandan.

    `gone` are the seats without cards in this deal, `dead` the dead hands. `outs` are the seats
    that reported to have no cards left and are not confirmed yet, the first report first.

    `level` and `owner` belong to the present deal. `follows` is the earlier result that
    decides its leader and tribute. After the release, no correction changes these three fields.
    `spoken` has the verbal corrections of the chief, by the number of their row, with the person
    who confirmed them in writing, or None.
    """

    profile: GuandanProfile
    standing: MatchStanding
    sheet: Sheet = ()
    spoken: dict[int, str | None] = {}
    level: Level = 2
    owner: Side | None = None
    follows: DealResult | None = None
    extra: bool = False
    exchange: TributeExchange | None = None
    gone: tuple[Seat, ...] = ()
    outs: tuple[Seat, ...] = ()
    dead: tuple[Seat, ...] = ()
    score: MatchScore | None = None

    @property
    def places(self) -> tuple[Seat, ...]:
        """Return the seats that have a finishing place in this deal, from first to last.

        A seat with a dead hand is left out.
        """
        return tuple(seat for seat in self.gone if seat not in self.dead)


class BigTwoRow(msgspec.Struct, frozen=True, kw_only=True):
    """The row of one played deal of Big Two on the score sheet.

    `left` has the cards left, `opened` the open hands, and `doubled` the seats that doubled.
    `uncut` is True if the cards were not cut.
    """

    row: int
    at_ms: int
    deal: int
    by_hand: bool
    uncut: bool
    leader: Seat
    left: dict[Seat, int]
    opened: tuple[Seat, ...]
    doubled: tuple[Seat, ...]
    scores: dict[Seat, int]
    misdeals: int


class BigTwoMatch(AnyMatch, frozen=True, kw_only=True):
    """The state of a match of Big Two, in which each seat has its own score.

    `left` has the cards left as they were entered, before they are confirmed.
    """

    profile: BigTwoProfile
    totals: dict[Seat, int]
    rows: tuple[BigTwoRow, ...] = ()
    choices: ChoicesBeforePlay | None = None
    left: dict[Seat, int] = {}
