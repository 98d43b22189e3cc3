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
    """`person` took `seat`. The pair's list names the expected person."""

    seat: Seat
    person: str | None = None


class MatchStarted(MatchEventBase, frozen=True, tag="Started"):
    """The chief opened the match. The common clock runs, and the first deal is due."""


class HandDealOrdered(MatchEventBase, frozen=True, tag="DealtByHand"):
    """A person ordered that the deal is drawn by hand. The machine releases nothing."""

    reason: str


class SetShuffled(SeatEventBase, frozen=True, tag="Shuffled"):
    """A person shuffled the set, in a deal by hand."""


class SetCut(MatchEventBase, frozen=True, tag="Cut"):
    """`seat` cut a packet of `n` cards. If `n` is None, the deal continues uncut, for a reason.

    `ahead`: the cut was made while the deal before was still played. The cutter of the next deal
    was not known then, so the cut of any seat is valid (provisional).
    """

    seat: Seat | None = None
    n: int | None = None
    ahead: bool = False


class CardTurnedUp(MatchEventBase, frozen=True, tag="TurnedUp"):
    """A person turned a card up. The card is written in the notation of faces."""

    card: str


class HandsDealt(MatchEventBase, frozen=True, tag="Dealt"):
    """Four right hands are ready. In a first deal the turned-up card went to `turned_to`.

    In Big Two `turned_to` has the card that must lead. A machine may withhold both fields until the
    hands are released.
    """

    turned_to: Seat | None = None
    turned_up: str | None = None


class AttemptFailed(MatchEventBase, frozen=True, tag="Misdealt"):
    """The attempt was a misdeal or a void. The machine or a count decided that. `reasons` has the
    causes.
    """

    reasons: tuple[str, ...]


class ReleaseOrdered(MatchEventBase, frozen=True, tag="ReleaseOrdered"):
    """A person ordered the release of the held hands. They are on their way to the players."""


class HandsReleased(MatchEventBase, frozen=True, tag="Released"):
    """The hands were released: the deal began.

    `turned_to` and `turned_up` are as in `Dealt`, if they were withheld there.
    """

    turned_to: Seat | None = None
    turned_up: str | None = None


class HandCounted(SeatEventBase, frozen=True, tag="Counted"):
    """`seat` counted the hand, and the count is right."""


class CountClaimed(SeatEventBase, frozen=True, tag="CountClaimed"):
    """`seat` claims a wrong count. Everything stops until the referee has counted."""


class HandsRecounted(MatchEventBase, frozen=True, tag="Recounted"):
    """The referee counted four hands, after a search. The chief decides about the second claim of a
    pair.

    `found`: a card from the floor or from a pocket made the counts right. `by`: the person who
    counted or decided. `entered_by`: the person who entered a verbal decision of the chief.
    """

    counts: dict[Seat, int]
    found: bool = False
    by: str = "referee"
    role: Role = Role.REFEREE
    verbal: bool = False
    entered_by: str | None = None


class DealVoided(MatchEventBase, frozen=True, tag="DealVoided"):
    """The chief voided a deal that had begun. It is dealt again (作废，重新发牌).

    `entered_by`: the person who entered a verbal decision of the chief.
    """

    reason: str
    by: str
    role: Role
    verbal: bool = False
    entered_by: str | None = None


class AntiTributeAnswered(MatchEventBase, frozen=True, tag="AntiAnswered"):
    """The payers have both big jokers (`stands` is true), or not. The event does not show which
    payer has which joker.

    A different answer before a card is laid or led is a correction.
    """

    stands: bool


class TributeLaid(SeatEventBase, frozen=True, tag="TributeLaid"):
    """`seat` laid a tribute face up."""


class TributeValued(MatchEventBase, frozen=True, tag="TributeValued"):
    """The value that each payer's tribute must have (controller/rules/ranks.py)."""

    values: dict[Seat, int]


class TributeChosen(MatchEventBase, frozen=True, tag="TributeChosen"):
    """UP took the card of `payer`, one of two equal tributes (seed 003 R4.5)."""

    payer: Seat


class ReturnLaid(MatchEventBase, frozen=True, tag="ReturnLaid"):
    """`seat` gave a card back. `value` is present if the rulebook shows it or needs it."""

    seat: Seat
    value: int | None = None


class ReturnCorrected(MatchEventBase, frozen=True, tag="ReturnCorrected"):
    """Before the first lead, `seat` gave back another card instead of a wrong one."""

    seat: Seat
    value: int | None = None


class ReturnsSwapped(MatchEventBase, frozen=True, tag="ReturnsSwapped"):
    """After equal tributes the losers exchanged their return cards (seed 003 R4.5)."""


class LeadMade(MatchEventBase, frozen=True, tag="Led"):
    """The first lead of the deal was played. From now on there is no redeal."""


class OutClaimed(SeatEventBase, frozen=True, tag="OutSaid"):
    """`seat` reported that it has no cards left. An opponent must confirm this."""


class OutConfirmed(SeatEventBase, frozen=True, tag="Out"):
    """`seat` played its last card, and an opponent confirmed it."""


class OutWithdrawn(SeatEventBase, frozen=True, tag="OutWithdrawn"):
    """`seat` still has cards. The report that it was out was a mistake."""


class ResultEntered(MatchEventBase, frozen=True, tag="ResultEntered"):
    """The referee entered the finishing order: two seats after a double-down, otherwise three.

    `ended_ms`: when the last card was played, if that was earlier.
    """

    order: tuple[Seat, ...]
    ended_ms: int | None = None


class CardsLeftEntered(MatchEventBase, frozen=True, tag="CardsLeft"):
    """The number of cards left in each hand, in Big Two. One of the hands has none."""

    left: dict[Seat, int]


class ChoiceAnswered(MatchEventBase, frozen=True, tag="Answered"):
    """The answer of `seat` about an open hand or doubling, in Big Two."""

    seat: Seat
    yes: bool


class ResultConfirmed(MatchEventBase, frozen=True, tag="Confirmed"):
    """A side confirmed the result, or the referee confirmed it for both sides."""

    by: Side | Literal["referee"]


class LeaderNamed(SeatEventBase, frozen=True, tag="LeaderNamed"):
    """The side that won a forfeited deal named the leader of the next deal."""


class ExtraDealOrdered(MatchEventBase, frozen=True, tag="ExtraDealOrdered"):
    """The chief ordered an extra deal (加打一副).

    `entered_by`: the person who entered a verbal decision of the chief.
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
    """The result of a recorded deal was wrong and is corrected. Later deals do not change.

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
    """The chief confirmed in writing a verbal correction of `deal`.

    `row`: the row of the score sheet.
    """

    row: int
    deal: int
    by: str
    role: Role


class TableSuspended(MatchEventBase, frozen=True, tag="Suspended"):
    """The referee was called, or stopped the table. The clocks of seats are paused."""

    reason: str


class TableResumed(MatchEventBase, frozen=True, tag="Resumed"):
    """The table was resumed."""


class AreaPaused(MatchEventBase, frozen=True, tag="AreaPaused"):
    """The clock of the whole area was paused. `by` is the person, if known."""

    reason: str | None = None
    by: str | None = None


class AreaResumed(MatchEventBase, frozen=True, tag="AreaResumed"):
    """The clock of the whole area continues."""


class TimeAdded(MatchEventBase, frozen=True, tag="TimeAdded"):
    """A referee gave the table more time, for stops that the players did not cause.

    With 0 seconds, a referee decided to give no time.
    """

    seconds: int
    role: Role


class PlayClockStarted(SeatEventBase, frozen=True, tag="PlayCalled"):
    """The play clock was started for `seat` (读秒)."""


class PlayerWarned(SeatEventBase, frozen=True, tag="PlayWarned"):
    """The referee warned `seat`. The next time limit begins now (A21.1)."""


class PlayMade(SeatEventBase, frozen=True, tag="PlayMade"):
    """`seat` played or passed. The play clock stops."""


class TimePassed(MatchEventBase, frozen=True, tag="Ticked"):
    """Time has passed, and nothing else happened."""


class RulingProposed(MatchEventBase, frozen=True, tag="RulingProposed"):
    """A referee proposed one of the legal rulings on an offence."""

    id: str
    charge: Charge
    proposal: PenaltyProposal
    by: str


class RulingApproved(MatchEventBase, frozen=True, tag="RulingApproved"):
    """A ruling came into force, as proposed or with another legal penalty.

    `entered_by`: the person who entered a verbal decision of the chief.
    """

    id: str
    by: str
    role: Role
    verbal: bool = False
    proposal: PenaltyProposal | None = None
    entered_by: str | None = None


class RulingRejected(MatchEventBase, frozen=True, tag="RulingRejected"):
    """A proposed ruling was rejected, or a decided ruling was overturned.

    `entered_by`: the person who entered a verbal decision of the chief.
    """

    id: str
    by: str
    role: Role
    verbal: bool = False
    entered_by: str | None = None


class VerbalRulingConfirmed(MatchEventBase, frozen=True, tag="VerbalConfirmed"):
    """The chief confirmed in writing a ruling that was a verbal decision."""

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
