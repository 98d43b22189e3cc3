"""A match as a value: everything that its people and machines have done so far.

The standing of two sides and the totals of four follow from the sheet and stand beside it;
counters of penalties are not stored at all, they follow from the record.
"""

import msgspec

from controller.match.clocks.countdown import DutyClocks
from controller.match.clocks.match_clock import MatchClock
from controller.match.meeting import Meeting
from controller.match.phase import DEAL_UNDER_WAY, MatchPhase
from controller.match.rulings import MatchRuling
from controller.match.sheet import Sheet
from controller.messages import Seat, Side
from controller.rules.bigtwo.choices import ChoicesBeforePlay
from controller.rules.ceremony import DealDuties
from controller.rules.ending import MatchVerdict
from controller.rules.levels import Level
from controller.rules.penalties.records import PenaltyRecord
from controller.rules.profile import BigTwoProfile, GuandanProfile, Profile
from controller.rules.result import DealResult
from controller.rules.score import MatchScore
from controller.rules.standing import MatchStanding
from controller.rules.tribute import TributePlan


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
