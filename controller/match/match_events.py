"""The events of a match: button presses, commands of people, and reports of the machine.

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
    """The base class of all events of a match. `at_ms` is the time of the event."""

    at_ms: int


class SeatEventBase(MatchEventBase, frozen=True):
    """The base class of the events that concern one seat."""

    seat: Seat


class ChiefDecisionBase(MatchEventBase, frozen=True):
    """The base class of the events that record a decision of the chief about a deal."""

    reason: str
    by: str
    role: Role
    verbal: bool = False
    entered_by: str | None = None


class SeatTaken(SeatEventBase, frozen=True, tag="Seated"):
    """A player took the seat `seat`. If `person` is None, `meeting` has the player's name."""

    person: str | None = None


class MatchStarted(MatchEventBase, frozen=True, tag="Started"):
    """The chief started the match. The clock of the area runs, and the first deal is due."""


class HandDealOrdered(MatchEventBase, frozen=True, tag="DealtByHand"):
    """A person ordered a deal by hand: people, not the machine, must deal the present deal."""

    reason: str


class SetShuffled(SeatEventBase, frozen=True, tag="Shuffled"):
    """The player at `seat` shuffled the cards, in a deal by hand."""


class SetCut(MatchEventBase, frozen=True, tag="Cut"):
    """The player at `seat` cut off `n` cards. If `n` is None, the deal has no cut.

    `ahead` is True if the cut was made early: during the play of the previous deal, or while the
    match was suspended. Then the seat that must cut was possibly not known yet. So an early cut of
    any seat is valid (provisional: no rulebook states this).
    """

    seat: Seat | None = None
    n: int | None = None
    ahead: bool = False


class CardTurnedUp(MatchEventBase, frozen=True, tag="TurnedUp"):
    """A person turned up a card in a deal by hand. The card decides which player draws first.

    `card` is written as a face, for example H9 (nine of hearts) or SJ (small joker).
    """

    card: str


class HandsDealt(MatchEventBase, frozen=True, tag="Dealt"):
    """Four complete hands are ready. In a first deal, seat `turned_to` got the card `turned_up`.

    In Big Two, `turned_up` is the card that must be led, and `turned_to` is the seat that has it.
    If the machine deals, both fields can be None. Then the event `Released` has them.
    """

    turned_to: Seat | None = None
    turned_up: str | None = None


class AttemptFailed(MatchEventBase, frozen=True, tag="Misdealt"):
    """The attempt ended as a misdeal or as void, so the deal needs another attempt.

    `reasons` has the causes, for example NOT_NEEDED if the match moves to another table.
    """

    reasons: tuple[str, ...]


class ReleaseOrdered(MatchEventBase, frozen=True, tag="ReleaseOrdered"):
    """A person ordered the release of the held hands. The players can take the hands soon."""


class HandsReleased(MatchEventBase, frozen=True, tag="Released"):
    """The players have their hands, so the deal has begun.

    If `turned_to` and `turned_up` were None in the event `Dealt`, this event has them.
    """

    turned_to: Seat | None = None
    turned_up: str | None = None


class HandCounted(SeatEventBase, frozen=True, tag="Counted"):
    """The player at `seat` counted the hand, and its number of cards is right."""


class CountClaimed(SeatEventBase, frozen=True, tag="CountClaimed"):
    """The player at `seat` claims that the number of cards in the hand is wrong.

    The match is suspended until the referee has counted the hands.
    """


class HandsRecounted(MatchEventBase, frozen=True, tag="Recounted"):
    """The referee counted all four hands, after a search for missing cards.

    If a pair claims a wrong count for the second time in a match, only the chief may decide. If
    `found` is True, the counts are right with a card found on the floor or in a pocket. `by` is the
    person who counted or decided. `entered_by` entered a verbal decision of the chief, or is None.
    """

    counts: dict[Seat, int]
    found: bool = False
    by: str = "referee"
    role: Role = Role.REFEREE
    verbal: bool = False
    entered_by: str | None = None


class DealVoided(ChiefDecisionBase, frozen=True, tag="DealVoided"):
    """The chief voided a deal that had begun. The deal is dealt again (作废，重新发牌).

    `entered_by` is the person who entered a verbal decision of the chief, otherwise None.
    """


class AntiTributeAnswered(MatchEventBase, frozen=True, tag="AntiAnswered"):
    """The machine or a person answered whether the payers have both big jokers (抗贡).

    `stands` is True if they have both. The event does not show which payer has which joker. Until a
    card is laid or led, a different answer can replace this answer.
    """

    stands: bool


class TributeLaid(SeatEventBase, frozen=True, tag="TributeLaid"):
    """The player at `seat` laid a tribute card face up."""


class TributeValued(MatchEventBase, frozen=True, tag="TributeValued"):
    """The machine or a referee reported the value that each payer's tribute card must have.

    controller/rules/ranks.py defines the values. For example, a big joker has the value 17.
    """

    values: dict[Seat, int]


class TributeChosen(MatchEventBase, frozen=True, tag="TributeChosen"):
    """After two equal tributes, the player who finished first (UP) took the tribute of `payer`.

    Source: rulebook 003, R4.5.
    """

    payer: Seat


class ReturnLaid(SeatEventBase, frozen=True, tag="ReturnLaid"):
    """The player at `seat` gave a card in return for a tribute.

    `value` is the card's value. If the value is secret or was not reported, it is None.
    """

    value: int | None = None


class ReturnCorrected(SeatEventBase, frozen=True, tag="ReturnCorrected"):
    """The player at `seat` replaced a wrong return card by another card, before the first lead."""

    value: int | None = None


class ReturnsSwapped(MatchEventBase, frozen=True, tag="ReturnsSwapped"):
    """The two losers exchanged their return cards, after equal tributes (rulebook 003, R4.5)."""


class LeadMade(MatchEventBase, frozen=True, tag="Led"):
    """The leader played the first cards of the deal. Now only the chief can order a new attempt."""


class OutClaimed(SeatEventBase, frozen=True, tag="OutSaid"):
    """The player at `seat` reported that no cards are left. An opponent must confirm this."""


class OutConfirmed(SeatEventBase, frozen=True, tag="Out"):
    """An opponent confirmed or a referee reported that the player at `seat` has no cards left."""


class OutWithdrawn(SeatEventBase, frozen=True, tag="OutWithdrawn"):
    """The report that the player at `seat` has no cards left was wrong. It was withdrawn."""


class ResultEntered(MatchEventBase, frozen=True, tag="ResultEntered"):
    """The referee entered the finishing order of the deal.

    If partners finished first and second, `order` has these two seats. Otherwise it has three
    seats. If the last card was played earlier than `at_ms`, `ended_ms` is its time, otherwise None.
    """

    order: tuple[Seat, ...]
    ended_ms: int | None = None


class CardsLeftEntered(MatchEventBase, frozen=True, tag="CardsLeft"):
    """A person entered the number of cards left in each hand, in Big Two. One hand has 0."""

    left: dict[Seat, int]


class ChoiceAnswered(SeatEventBase, frozen=True, tag="Answered"):
    """The player at `seat` chose whether to open the hand, or whether to double, in Big Two."""

    yes: bool


class ResultConfirmed(MatchEventBase, frozen=True, tag="Confirmed"):
    """A side confirmed the result of the deal, or the referee confirmed it for both sides."""

    by: Side | Literal["referee"]


class LeaderNamed(SeatEventBase, frozen=True, tag="LeaderNamed"):
    """The side that won a forfeited deal named `seat` as the leader of the next deal."""


class ExtraDealOrdered(ChiefDecisionBase, frozen=True, tag="ExtraDealOrdered"):
    """The chief ordered an extra deal, because the score is equal (加打一副).

    `entered_by` is the person who entered a verbal decision of the chief, otherwise None.
    """


class DealStopped(MatchEventBase, frozen=True, tag="DealStopped"):
    """The referee stopped a deal, because time was up before its last card.

    The deal does not count. Source: rulebook 000, A14.2.3.
    """

    reason: str
    by: str
    role: Role


class ResultCorrected(MatchEventBase, frozen=True, tag="Corrected"):
    """A person corrected the result of `deal`. Later deals keep their level, leader and tribute.

    `choice` is `from_now` (the new result counts from now on), `void_later` (the new result counts,
    and the later deals are void) or `stand` (the recorded result stays). `by` is the person who
    decided. `entered_by` is the person who entered a verbal decision of the chief, otherwise None.
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
    """The match was suspended, for example by the command `hold`. The players' clocks stop."""

    reason: str


class TableResumed(MatchEventBase, frozen=True, tag="Resumed"):
    """The match continues after a suspension."""


class AreaPaused(MatchEventBase, frozen=True, tag="AreaPaused"):
    """The clock of the whole area was paused. `by` is the person who paused it, if known."""

    reason: str | None = None
    by: str | None = None


class AreaResumed(MatchEventBase, frozen=True, tag="AreaResumed"):
    """The clock of the whole area continues after a pause."""


class TimeAdded(MatchEventBase, frozen=True, tag="TimeAdded"):
    """A referee gave the table more time, for interruptions that the players did not cause.

    If `seconds` is 0, the referee decided to give no time.
    """

    seconds: int
    role: Role


class PlayClockStarted(SeatEventBase, frozen=True, tag="PlayCalled"):
    """A referee started the clock of the player at `seat`, who must play in time (读秒)."""


class PlayerWarned(SeatEventBase, frozen=True, tag="PlayWarned"):
    """The slow player at `seat` was warned. A new time limit begins (rulebook 000, A21.1)."""


class PlayMade(SeatEventBase, frozen=True, tag="PlayMade"):
    """The player at `seat` played or passed, so the clock of this player stops."""


class TimePassed(MatchEventBase, frozen=True, tag="Ticked"):
    """The time `at_ms` has come, at which a clock of the match has an effect."""


class RulingProposed(MatchEventBase, frozen=True, tag="RulingProposed"):
    """A referee proposed one of the legal penalties for an offence."""

    id: str
    charge: Charge
    proposal: PenaltyProposal
    by: str


class RulingApproved(MatchEventBase, frozen=True, tag="RulingApproved"):
    """A proposed ruling came into force, with the proposed or with another legal penalty.

    `entered_by` is the person who entered a verbal decision of the chief, otherwise None.
    """

    id: str
    by: str
    role: Role
    verbal: bool = False
    proposal: PenaltyProposal | None = None
    entered_by: str | None = None


class RulingRejected(MatchEventBase, frozen=True, tag="RulingRejected"):
    """A proposed ruling was rejected, or a decided ruling was overturned.

    `entered_by` is the person who entered a verbal decision of the chief, otherwise None.
    """

    id: str
    by: str
    role: Role
    verbal: bool = False
    entered_by: str | None = None


class VerbalRulingConfirmed(MatchEventBase, frozen=True, tag="VerbalConfirmed"):
    """The chief confirmed in writing a ruling that the chief had approved verbally."""

    id: str
    by: str
    role: Role


class SheetSigned(MatchEventBase, frozen=True, tag="Signed"):
    """A person signed the score sheet for `signer`: a side, a seat or the referee."""

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
