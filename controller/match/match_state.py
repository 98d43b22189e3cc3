"""Who plays a match, where and in which part of an event: what stands at a sheet's head."""

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
    """Two partners: the pair's number, its name, and who sits where."""

    id: str
    name: str
    players: dict[Seat, str]


class Meeting(msgspec.Struct, frozen=True, kw_only=True):
    """One match of an event. A match of the stage "knockout" must have a winner."""

    match_id: str
    event: str
    round: int
    match_no: int
    table_no: str
    stage: EventStage
    pairs: dict[Side, MatchPair]

    def player_name(self, seat: Seat) -> str:
        """Return the name of who sits at `seat`; the seat itself where nobody was named."""
        return self.pair_of(seat).players.get(seat, seat)

    def pair_of(self, seat: Seat) -> MatchPair:
        """Return the pair that has `seat`."""
        return self.pairs[side_of(seat)]


class SheetSignature(msgspec.Struct, frozen=True, gc=False):
    """Who signed the sheet, as what, and when."""

    signer: str
    person: str
    at_ms: int


class SignedVersion(msgspec.Struct, frozen=True, gc=False):
    """A version of the sheet that was replaced: how many rows it had, and who had signed it."""

    version: int
    rows: int
    signatures: tuple[SheetSignature, ...]


class AnyMatch(msgspec.Struct, frozen=True, kw_only=True):
    """What a match of any rulebook has.

    `suspended`: why the table stands still. `let_go`: the order to release the held hands
    was given. `duties`: who does what before the present deal.
    `turned_to`: who got the card that decides the lead. `misdeals`: attempts of the present
    deal that came to nothing; `in_a_row`: since the last right one. `began_ms`: when the
    hands of the deal were released; `begun`: they were once, though it is dealt again now;
    `ended_ms`: when its last card was played. `settled_stops`: how many of the clock's stops
    a referee has answered for with added time, or none. `claims`: who claimed a wrong count
    in this match. `record`: every penalty of these pairs in earlier matches: it travels with
    them. `version`: of the sheet, one more each time it changes after the
    match was over; `replaced`: the versions before it.
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
        """Tell whether held hands are being released: time alone does not keep them any more."""
        return self.let_go and self.phase is MatchPhase.HELD

    @property
    def is_deal_under_way(self) -> bool:
        """Tell whether a deal has begun that is not written down yet."""
        return self.phase in DEAL_UNDER_WAY


class TributeExchange(msgspec.Struct, frozen=True, kw_only=True):
    """Tribute and return of one deal: who has laid, what it counted, where it went.

    `returned`: the values of returns, by who got them, as far as they were told.
    """

    payers: tuple[Seat, ...]
    anti: bool = False
    laid: tuple[Seat, ...] = ()
    values: dict[Seat, int] = {}
    plan: TributePlan | None = None
    given: tuple[Seat, ...] = ()
    returned: dict[Seat, int] = {}


class GuandanMatch(AnyMatch, frozen=True, kw_only=True):
    """A match of Guandan. `gone`: who went out in this deal. `dead`: whose hands are dead.

    `outs`: who said that he is out, oldest first, and nobody has confirmed it yet.

    `level` and `owner`: what is played in the present deal; `follows`: the result that its
    leader and tribute follow from. All three are facts from the release on, whatever is
    corrected afterwards. `spoken`: the corrections that the chief gave by word, by the number of
    their row: who has confirmed that in writing, None: he has still to.
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
        """Return who has a place in this deal: a dead hand has none as long as it is dead."""
        return tuple(seat for seat in self.gone if seat not in self.dead)


class BigTwoRow(msgspec.Struct, frozen=True, kw_only=True):
    """A deal of Big Two as played: cards left, who opened and doubled, scores.

    `uncut`: nobody had cut its set.
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
    """A match of Big Two: four scores of their own. `left`: entered, not confirmed yet."""

    profile: BigTwoProfile
    totals: dict[Seat, int]
    rows: tuple[BigTwoRow, ...] = ()
    choices: ChoicesBeforePlay | None = None
    left: dict[Seat, int] = {}
