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
    """The base of all events of a match. `at_ms` is the time of the event."""

    at_ms: int


class SeatEventBase(MatchEventBase, frozen=True):
    """An event that concerns one seat."""

    seat: Seat


class ChiefDecisionBase(MatchEventBase, frozen=True):
    """The base of the events that record a decision of the chief about a deal."""

    reason: str
    by: str
    role: Role
    verbal: bool = False
    entered_by: str | None = None


class SeatTaken(SeatEventBase, frozen=True, tag="Seated"):
    """The player `person` took the seat `seat`. The list of the pair names the expected person."""

    person: str | None = None


class MatchStarted(MatchEventBase, frozen=True, tag="Started"):
    """The chief started the match. The clock of the area runs, and the first deal is due."""


class HandDealOrdered(MatchEventBase, frozen=True, tag="DealtByHand"):
    """A person ordered that people deal the present deal by hand. The machine releases nothing."""

    reason: str


class SetShuffled(SeatEventBase, frozen=True, tag="Shuffled"):
    """The player at `seat` shuffled the cards, in a deal by hand."""


class SetCut(MatchEventBase, frozen=True, tag="Cut"):
    """The player at `seat` cut a packet of `n` cards.

    If `n` is None, the deal continues without a cut, for a reason. `ahead` is True if the cut was
    made while the previous deal was still played. At that time it was not known which seat must
    cut, so the cut of any seat is valid (provisional).
    """

    seat: Seat | None = None
    n: int | None = None
    ahead: bool = False


class CardTurnedUp(MatchEventBase, frozen=True, tag="TurnedUp"):
    """A person turned up a card, which decides who draws the first card.

    `card` is written as a face, for example H9 or SJ.
    """

    card: str


class HandsDealt(MatchEventBase, frozen=True, tag="Dealt"):
    """Four right hands are ready. In a first deal, `turned_to` got the turned-up card.

    In Big Two, `turned_to` is the seat that has the card that must lead. A machine can withhold
    both fields until the hands are released.
    """

    turned_to: Seat | None = None
    turned_up: str | None = None


class AttemptFailed(MatchEventBase, frozen=True, tag="Misdealt"):
    """The attempt ended as a misdeal or as void, so the deal needs another attempt.

    The machine or a count decided this. `reasons` has the causes.
    """

    reasons: tuple[str, ...]


class ReleaseOrdered(MatchEventBase, frozen=True, tag="ReleaseOrdered"):
    """A person ordered the release of the held hands. The hands are on their way to the players."""


class HandsReleased(MatchEventBase, frozen=True, tag="Released"):
    """The players have their hands, so the deal has begun.

    If `turned_to` and `turned_up` were withheld in the event `Dealt`, this event has them.
    """

    turned_to: Seat | None = None
    turned_up: str | None = None


class HandCounted(SeatEventBase, frozen=True, tag="Counted"):
    """The player at `seat` counted the hand, and its number of cards is right."""


class CountClaimed(SeatEventBase, frozen=True, tag="CountClaimed"):
    """The player at `seat` claims that the number of cards in the hand is wrong.

    Everything stops until the referee has counted.
    """


class HandsRecounted(MatchEventBase, frozen=True, tag="Recounted"):
    """The referee counted all four hands, after a search for missing cards.

    If a pair claims a second time, the chief decides. `found` is True if a card from the floor
    or from a pocket made the counts right. `by`: the person who counted or decided. `entered_by`:
    the person who entered a verbal decision of the chief.
    """

    counts: dict[Seat, int]
    found: bool = False
    by: str = "referee"
    role: Role = Role.REFEREE
    verbal: bool = False
    entered_by: str | None = None


class DealVoided(ChiefDecisionBase, frozen=True, tag="DealVoided"):
    """The chief voided a deal that had begun, and it is dealt again (作废，重新发牌).

    `entered_by`: the person who entered a verbal decision of the chief.
    """


class AntiTributeAnswered(MatchEventBase, frozen=True, tag="AntiAnswered"):
    """The answer to the question whether the payers have both big jokers (抗贡).

    `stands` is True if they have both. The event does not show which payer has which joker. If a
    different answer comes before a card is laid or led, it is a correction.
    """

    stands: bool


class TributeLaid(SeatEventBase, frozen=True, tag="TributeLaid"):
    """The player at `seat` laid a tribute card face up."""


class TributeValued(MatchEventBase, frozen=True, tag="TributeValued"):
    """The value that the tribute card of each payer must have, by seat.

    controller/rules/ranks.py defines the values.
    """

    values: dict[Seat, int]


class TributeChosen(MatchEventBase, frozen=True, tag="TributeChosen"):
    """The player who finished first (UP) took the tribute of `payer`, one of two equal tributes.

    Source: seed 003 R4.5.
    """

    payer: Seat


class ReturnLaid(SeatEventBase, frozen=True, tag="ReturnLaid"):
    """The player at `seat` gave a card in return for a tribute.

    `value` is present if the rulebook shows it or needs it.
    """

    value: int | None = None


class ReturnCorrected(SeatEventBase, frozen=True, tag="ReturnCorrected"):
    """The player at `seat` replaced a wrong return card by another card, before the first lead."""

    value: int | None = None


class ReturnsSwapped(MatchEventBase, frozen=True, tag="ReturnsSwapped"):
    """The two losers exchanged their return cards, after equal tributes. Source: seed 003 R4.5."""


class LeadMade(MatchEventBase, frozen=True, tag="Led"):
    """The first lead of the deal was played. From now on there is no redeal."""


class OutClaimed(SeatEventBase, frozen=True, tag="OutSaid"):
    """The player at `seat` reported that no cards are left. An opponent must confirm this."""


class OutConfirmed(SeatEventBase, frozen=True, tag="Out"):
    """The player at `seat` played the last card of the hand, and an opponent confirmed it."""


class OutWithdrawn(SeatEventBase, frozen=True, tag="OutWithdrawn"):
    """The player at `seat` still has cards. The report that none were left was a mistake."""


class ResultEntered(MatchEventBase, frozen=True, tag="ResultEntered"):
    """The referee entered the finish order of the deal.

    It has two seats after a double-down, otherwise three. `ended_ms`: when the last card was
    played, if that was earlier.
    """

    order: tuple[Seat, ...]
    ended_ms: int | None = None


class CardsLeftEntered(MatchEventBase, frozen=True, tag="CardsLeft"):
    """The number of cards left in each hand, in Big Two. One of the hands has none."""

    left: dict[Seat, int]


class ChoiceAnswered(SeatEventBase, frozen=True, tag="Answered"):
    """The answer of the player at `seat` about an open hand or doubling, in Big Two."""

    yes: bool


class ResultConfirmed(MatchEventBase, frozen=True, tag="Confirmed"):
    """A side confirmed the result of the deal, or the referee confirmed it for both sides."""

    by: Side | Literal["referee"]


class LeaderNamed(SeatEventBase, frozen=True, tag="LeaderNamed"):
    """The side that won a forfeited deal named `seat` as the leader of the next deal."""


class ExtraDealOrdered(ChiefDecisionBase, frozen=True, tag="ExtraDealOrdered"):
    """The chief ordered an extra deal, because the match is equal (加打一副).

    `entered_by`: the person who entered a verbal decision of the chief.
    """


class DealStopped(MatchEventBase, frozen=True, tag="DealStopped"):
    """The referee stopped a deal, because time was up before its last card.

    The deal does not count. Source: seed 000 A14.2.3.
    """

    reason: str
    by: str
    role: Role


class ResultCorrected(MatchEventBase, frozen=True, tag="Corrected"):
    """The result of a recorded deal was wrong and is corrected. The facts of later deals stay.

    `choice` has three values: the new result counts from now on; it counts and the later deals are
    void; or nothing changes. `by`: the person who decided. `entered_by`: the person who entered a
    verbal decision of the chief.
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
    """The chief confirmed a verbal correction of `deal` in writing.

    `row` is the number of the correction's row on the score sheet.
    """

    row: int
    deal: int
    by: str
    role: Role


class TableSuspended(MatchEventBase, frozen=True, tag="Suspended"):
    """The table was suspended, or a referee was called. The clocks of seats are paused."""

    reason: str


class TableResumed(MatchEventBase, frozen=True, tag="Resumed"):
    """The suspended table continues."""


class AreaPaused(MatchEventBase, frozen=True, tag="AreaPaused"):
    """The clock of the whole area was paused. `by` is the person, if known."""

    reason: str | None = None
    by: str | None = None


class AreaResumed(MatchEventBase, frozen=True, tag="AreaResumed"):
    """The clock of the whole area continues."""


class TimeAdded(MatchEventBase, frozen=True, tag="TimeAdded"):
    """A referee gave the table more time, for interruptions that the players did not cause.

    With 0 seconds, a referee decided to give no time.
    """

    seconds: int
    role: Role


class PlayClockStarted(SeatEventBase, frozen=True, tag="PlayCalled"):
    """A referee began to count the seconds for the player at `seat` (读秒)."""


class PlayerWarned(SeatEventBase, frozen=True, tag="PlayWarned"):
    """The referee warned the player at `seat`. The next time limit begins now (seed 000 A21.1)."""


class PlayMade(SeatEventBase, frozen=True, tag="PlayMade"):
    """The player at `seat` played or passed, so the play clock stops."""


class TimePassed(MatchEventBase, frozen=True, tag="Ticked"):
    """Time has passed, and nothing else happened."""


class RulingProposed(MatchEventBase, frozen=True, tag="RulingProposed"):
    """A referee proposed one of the legal penalties for an offence."""

    id: str
    charge: Charge
    proposal: PenaltyProposal
    by: str


class RulingApproved(MatchEventBase, frozen=True, tag="RulingApproved"):
    """A proposed ruling came into force, with the proposed penalty or another legal one.

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
    """The chief confirmed a ruling in writing, after it was approved verbally."""

    id: str
    by: str
    role: Role


class SheetSigned(MatchEventBase, frozen=True, tag="Signed"):
    """A person signed the score sheet. `signer` is a side, a seat or the referee."""

    signer: str
    person: str


_StartEvent = SeatTaken | MatchStarted | HandDealOrdered | SetShuffled | SetCut | CardTurnedUp
_HandsEvent = HandsDealt | AttemptFailed | ReleaseOrdered | HandsReleased | HandCounted
_CountEvent = CountClaimed | HandsRecounted | DealVoided
_TributeEvent = AntiTributeAnswered | TributeLaid | TributeValued | TributeChosen
_ReturnEvent = ReturnLaid | ReturnCorrected | ReturnsSwapped
_PlayEvent = LeadMade | OutClaimed | OutConfirmed | OutWithdrawn
_ResultEvent = ResultEntered | CardsLeftEntered | ChoiceAnswered | ResultConfirmed | LeaderNamed
_SheetEvent = ExtraDealOrdered | DealStopped | ResultCorrected | CorrectionConfirmed
_StopEvent = TableSuspended | TableResumed | AreaPaused | AreaResumed | TimeAdded
_ClockEvent = PlayClockStarted | PlayerWarned | PlayMade | TimePassed
_RulingEvent = RulingProposed | RulingApproved | RulingRejected | VerbalRulingConfirmed
_DealEvent = _StartEvent | _HandsEvent | _CountEvent | _TributeEvent | _ReturnEvent | _PlayEvent
MatchEvent = (
    _DealEvent | _ResultEvent | _SheetEvent | _StopEvent | _ClockEvent | _RulingEvent | SheetSigned
)


def encode_match_event(event: MatchEvent) -> dict[str, Any]:
    """Return an event as the data of a journal entry.

    The data consist of text, whole numbers, truth values, lists and maps.
    """
    return cast(dict[str, Any], msgspec.json.decode(msgspec.json.encode(event)))


def decode_match_event(data: Mapping[str, Any]) -> MatchEvent:
    """Return the event that the data of a journal entry contain.

    Raises msgspec.ValidationError, a ValueError, for other data.
    """
    return cast(MatchEvent, msgspec.convert(data, MatchEvent))
