"""The events of a match: presses and commands of people, and reports of the machine.

Every event has `at_ms`, the milliseconds of one clock that only goes forward. A match has no other
time. An event contains a face only if everybody at the table may see it.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast

import msgspec

from controller.match.sheet_rows import CorrectionChoice
from controller.messages import Role, Seat, Side
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.proposals import PenaltyProposal


class MatchEventBase(msgspec.Struct, frozen=True, tag_field="event", kw_only=True):
    """An event at `at_ms`."""

    at_ms: int


class SeatEventBase(MatchEventBase, frozen=True):
    """An event that concerns one seat."""

    seat: Seat


class SeatTaken(MatchEventBase, frozen=True, tag="Seated"):
    """`person` has taken `seat`. The pair's list names the expected person."""

    seat: Seat
    person: str | None = None


class MatchStarted(MatchEventBase, frozen=True, tag="Started"):
    """The chief opened the match. The common clock runs, and the first deal is due."""


class HandDealOrdered(MatchEventBase, frozen=True, tag="DealtByHand"):
    """The hands of this deal are drawn by hand. The machine releases nothing."""

    reason: str


class SetShuffled(SeatEventBase, frozen=True, tag="Shuffled"):
    """A person has shuffled."""


class SetCut(MatchEventBase, frozen=True, tag="Cut"):
    """`seat` cut a packet of `n` cards. None: the deal continues uncut, for a reason.

    `ahead`: the cut was taken while the deal before was played. Its rightful cutter was not known
    then, so the cut of any seat counts (provisional).
    """

    seat: Seat | None = None
    n: int | None = None
    ahead: bool = False


class CardTurnedUp(MatchEventBase, frozen=True, tag="TurnedUp"):
    """A person turned a card up. The card is in the notation of faces."""

    card: str


class HandsDealt(MatchEventBase, frozen=True, tag="Dealt"):
    """Four right hands are ready. In a first deal `turned_to` got the turned-up card.

    Big Two: `turned_to` has the leading card. A machine may withhold both until the hands are
    released.
    """

    turned_to: Seat | None = None
    turned_up: str | None = None


class AttemptFailed(MatchEventBase, frozen=True, tag="Misdealt"):
    """The attempt was a misdeal or void, by the machine or by a count. `reasons` are the causes."""

    reasons: tuple[str, ...]


class ReleaseOrdered(MatchEventBase, frozen=True, tag="ReleaseOrdered"):
    """The release of the held hands was ordered. They are on their way to the players."""


class HandsReleased(MatchEventBase, frozen=True, tag="Released"):
    """The hands were released: the deal has begun.

    `turned_to`, `turned_up`: as in `Dealt`, if they were withheld there.
    """

    turned_to: Seat | None = None
    turned_up: str | None = None


class HandCounted(SeatEventBase, frozen=True, tag="Counted"):
    """`seat` has counted the hand, and the count is right."""


class CountClaimed(SeatEventBase, frozen=True, tag="CountClaimed"):
    """`seat` claims a wrong count. Everything stops until the referee has counted."""


class HandsRecounted(MatchEventBase, frozen=True, tag="Recounted"):
    """The referee counted four hands, after a search. The chief decides about a pair's second
    claim.

    `found`: the counts became right with a card that was on the floor or in a pocket. `by`: the
    person who counted or decided. `entered_by`: the person who entered this as a verbal decision of
    the chief.
    """

    counts: dict[Seat, int]
    found: bool = False
    by: str = "referee"
    role: Role = Role.REFEREE
    verbal: bool = False
    entered_by: str | None = None


class DealVoided(MatchEventBase, frozen=True, tag="DealVoided"):
    """The chief voids a deal that has begun: it is dealt again (作废，重新发牌).

    `entered_by`: the person who entered this as a verbal decision.
    """

    reason: str
    by: str
    role: Role
    verbal: bool = False
    entered_by: str | None = None


class AntiTributeAnswered(MatchEventBase, frozen=True, tag="AntiAnswered"):
    """The answer whether the payers have both big jokers. It does not show which payer has which.

    A different answer before a card is laid or led is a correction.
    """

    stands: bool


class TributeLaid(SeatEventBase, frozen=True, tag="TributeLaid"):
    """`seat` has laid a tribute face up."""


class TributeValued(MatchEventBase, frozen=True, tag="TributeValued"):
    """The value that each payer's tribute must have, by controller/rules/ranks.py."""

    values: dict[Seat, int]


class TributeChosen(MatchEventBase, frozen=True, tag="TributeChosen"):
    """UP takes the card of `payer`, one of two equal tributes (seed 003 R4.5)."""

    payer: Seat


class ReturnLaid(MatchEventBase, frozen=True, tag="ReturnLaid"):
    """`seat` has given a card back. `value` is present if the rulebook shows it or needs it."""

    seat: Seat
    value: int | None = None


class ReturnCorrected(MatchEventBase, frozen=True, tag="ReturnCorrected"):
    """Before the first lead, `seat` has given another card back instead of a wrong one."""

    seat: Seat
    value: int | None = None


class ReturnsSwapped(MatchEventBase, frozen=True, tag="ReturnsSwapped"):
    """After equal tributes the losers exchanged their return cards (seed 003 R4.5)."""


class LeadMade(MatchEventBase, frozen=True, tag="Led"):
    """The first lead of the deal was played. From now on there is no redeal."""


class OutClaimed(SeatEventBase, frozen=True, tag="OutSaid"):
    """`seat` reports the last card as played. It counts when an opponent confirms it."""


class OutConfirmed(SeatEventBase, frozen=True, tag="Out"):
    """`seat` has played the last card, and an opponent confirmed it."""


class OutWithdrawn(SeatEventBase, frozen=True, tag="OutWithdrawn"):
    """`seat` still has cards: the place was pressed or reported by mistake."""


class ResultEntered(MatchEventBase, frozen=True, tag="ResultEntered"):
    """The referee entered the finishing order: two seats after a double-down, otherwise three.

    `ended_ms`: when the last card was played, if before now.
    """

    order: tuple[Seat, ...]
    ended_ms: int | None = None


class CardsLeftEntered(MatchEventBase, frozen=True, tag="CardsLeft"):
    """Big Two: the number of cards left in each hand. One of them has none."""

    left: dict[Seat, int]


class ChoiceAnswered(MatchEventBase, frozen=True, tag="Answered"):
    """Big Two: the answer of `seat` about an open hand or doubling."""

    seat: Seat
    yes: bool


class ResultConfirmed(MatchEventBase, frozen=True, tag="Confirmed"):
    """A side, or the referee for both, confirmed the result."""

    by: Side | Literal["referee"]


class LeaderNamed(SeatEventBase, frozen=True, tag="LeaderNamed"):
    """After a forfeited deal the side that was given it names the leader of the next one."""


class ExtraDealOrdered(MatchEventBase, frozen=True, tag="ExtraDealOrdered"):
    """The chief ordered an extra deal (加打一副). `entered_by`: the person who entered a verbal
    decision.
    """

    reason: str
    by: str
    role: Role
    verbal: bool = False
    entered_by: str | None = None


class DealStopped(MatchEventBase, frozen=True, tag="DealStopped"):
    """The referee stopped a deal that had begun. It does not count (seed 000 A14.2.3)."""

    reason: str
    by: str
    role: Role


class ResultCorrected(MatchEventBase, frozen=True, tag="Corrected"):
    """The result of a recorded deal was wrong. Later deals stay as they were played.

    `by`: the person who decided. `entered_by`: the person who entered a verbal decision of the
    chief.
    """

    deal: int
    order: tuple[Seat, ...]
    choice: CorrectionChoice
    by: str
    reason: str
    role: Role
    verbal: bool = False
    entered_by: str | None = None


class CorrectionConfirmed(MatchEventBase, frozen=True, tag="CorrectionConfirmed"):
    """The chief confirms in writing a verbal correction of `deal`.

    `row`: the row of the score sheet.
    """

    row: int
    deal: int
    by: str
    role: Role


class TableSuspended(MatchEventBase, frozen=True, tag="Suspended"):
    """The referee was called, or stops the table. The clocks of seats are paused."""

    reason: str


class TableResumed(MatchEventBase, frozen=True, tag="Resumed"):
    """The table is resumed."""


class AreaPaused(MatchEventBase, frozen=True, tag="AreaPaused"):
    """The clock of the whole area is paused: the reason, and the person, if known."""

    reason: str | None = None
    by: str | None = None


class AreaResumed(MatchEventBase, frozen=True, tag="AreaResumed"):
    """The clock of the whole area continues."""


class TimeAdded(MatchEventBase, frozen=True, tag="TimeAdded"):
    """A referee gave the table more time, for stops that were not the players' fault.

    0 seconds: a referee decided to give none.
    """

    seconds: int
    role: Role


class PlayClockStarted(SeatEventBase, frozen=True, tag="PlayCalled"):
    """The play clock is started for `seat` (读秒)."""


class PlayerWarned(SeatEventBase, frozen=True, tag="PlayWarned"):
    """The referee has spoken the warning to `seat`: the next limit counts from now (A21.1)."""


class PlayMade(SeatEventBase, frozen=True, tag="PlayMade"):
    """`seat` has played or passed; the play clock stops."""


class TimePassed(MatchEventBase, frozen=True, tag="Ticked"):
    """Nothing but time has passed."""


class RulingProposed(MatchEventBase, frozen=True, tag="RulingProposed"):
    """A referee proposes what an offence leads to: one of the legal proposals."""

    id: str
    charge: Charge
    proposal: PenaltyProposal
    by: str


class RulingApproved(MatchEventBase, frozen=True, tag="RulingApproved"):
    """A ruling is in force, as proposed or with another legal proposal.

    `entered_by`: who entered it as the chief's word.
    """

    id: str
    by: str
    role: Role
    verbal: bool = False
    proposal: PenaltyProposal | None = None
    entered_by: str | None = None


class RulingRejected(MatchEventBase, frozen=True, tag="RulingRejected"):
    """A proposed ruling comes to nothing; a decided one is overturned.

    `entered_by`: who entered that as the chief's word.
    """

    id: str
    by: str
    role: Role
    verbal: bool = False
    entered_by: str | None = None


class VerbalRulingConfirmed(MatchEventBase, frozen=True, tag="VerbalConfirmed"):
    """The chief confirms in writing a ruling that was a spoken decision."""

    id: str
    by: str
    role: Role


class SheetSigned(MatchEventBase, frozen=True, tag="Signed"):
    """The score sheet was signed: `signer` is a side, a seat or the referee."""

    signer: str
    person: str


MatchEvent = (
    SeatTaken
    | MatchStarted
    | HandDealOrdered
    | SetShuffled
    | SetCut
    | CardTurnedUp
    | HandsDealt
    | AttemptFailed
    | ReleaseOrdered
    | HandsReleased
    | HandCounted
    | CountClaimed
    | HandsRecounted
    | DealVoided
    | AntiTributeAnswered
    | TributeLaid
    | TributeValued
    | TributeChosen
    | ReturnLaid
    | ReturnCorrected
    | ReturnsSwapped
    | LeadMade
    | OutClaimed
    | OutConfirmed
    | OutWithdrawn
    | ResultEntered
    | CardsLeftEntered
    | ChoiceAnswered
    | ResultConfirmed
    | LeaderNamed
    | ExtraDealOrdered
    | DealStopped
    | ResultCorrected
    | CorrectionConfirmed
    | TableSuspended
    | TableResumed
    | AreaPaused
    | AreaResumed
    | TimeAdded
    | PlayClockStarted
    | PlayerWarned
    | PlayMade
    | TimePassed
    | RulingProposed
    | RulingApproved
    | RulingRejected
    | VerbalRulingConfirmed
    | SheetSigned
)


def encode_match_event(event: MatchEvent) -> dict[str, Any]:
    """Return an event as a journal keeps it: text, whole numbers, truth values, lists, maps."""
    return cast(dict[str, Any], msgspec.json.decode(msgspec.json.encode(event)))


def decode_match_event(data: Mapping[str, Any]) -> MatchEvent:
    """Return the event of such data.

    Raises msgspec.ValidationError, a ValueError, for other data.
    """
    return cast(MatchEvent, msgspec.convert(data, MatchEvent))
