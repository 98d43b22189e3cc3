"""What each command answers, where it is carried out: its `result` in the reply.

A refusal has no result but an error (messages.Failure). The state, the entries and the sheet
are what they are elsewhere; the rest is said here.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from controller.journal.attempt_entries import Back, Base64, BoardKind, Hash, Signature
from controller.machine.commands.command_events import EVENT_MAKERS
from controller.machine.commands.decision_preview import DecisionPreview, LostTime
from controller.messages import Offer, PublicEvent, PublicState, Seat
from controller.rules.penalties.penalty_record import Penalty
from controller.rules.penalties.proposals import PenaltyProposal
from controller.rules.tribute_returns import ReturnState as OfReturn
from controller.sheet.form import ScoreSheet

SealedFaces = Annotated[
    Base64, Meta(description="for the asker alone: sealed to the key of his certificate, base64")
]

StalledMotor = Literal["feed", "pass", "gate", "shuffle", "lift"]
SilentDevice = Literal["engine"]
"""A motor that did not bring its part to where its sensor is."""


class CommandAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a command."""


class DoneAnswer(CommandAnswer, frozen=True):
    """It is done; there is nothing to add."""


class EventsAnswer(CommandAnswer, frozen=True):
    """Public entries, oldest first; where there are more, ask again behind the last."""

    events: list[PublicEvent]


class RulingsAnswer(CommandAnswer, frozen=True):
    """What a charge can lead to, the ladder's own answer first."""

    proposals: list[PenaltyProposal]


class OffersAnswer(CommandAnswer, frozen=True):
    """Every command that changes something and is that role's to give."""

    offers: list[Offer]


class PhaseAnswer(CommandAnswer, frozen=True):
    """The match took it, and is in this phase now (`phase` of the state's match)."""

    phase: str


class ConfirmAnswer(CommandAnswer, frozen=True):
    """The match took it, and is in this phase now; nothing where it took a call back."""

    phase: str | UnsetType = UNSET


class ProposeAnswer(PhaseAnswer, frozen=True):
    """The ruling that waits now for whom it needs; `ruling` is what it is called."""

    ruling: str
    penalty: Penalty
    needs: Literal["referee", "chief"]


class SetMatchAnswer(CommandAnswer, frozen=True):
    """The id of the match that was laid out."""

    match: str


class TransferAnswer(CommandAnswer, frozen=True):
    """The match that left, and the document it goes in: its name, and in how many parts."""

    match: str
    to: str
    digest: Hash
    parts: int


class DocumentAnswer(TransferAnswer, frozen=True):
    """A part of that document: `text`, number `part` from 1 on. `sig` is the table's, of all."""

    sig: Signature
    part: int
    text: Base64


class TakeOverAnswer(CommandAnswer, frozen=True):
    """The match that is here now, where it stands; or, before all is there, what is missing.

    `missing`: numbers of the parts.
    """

    missing: list[int] | UnsetType = UNSET
    match: str | UnsetType = UNSET
    left: str | UnsetType = msgspec.field(default=UNSET, name="from")
    deal: int | UnsetType = UNSET
    phase: str | UnsetType = UNSET


class StartDealAnswer(CommandAnswer, frozen=True):
    """The attempt that began, `uncut` for a reason; or, without its cut, that there was none."""

    deal: int | UnsetType = UNSET
    attempt: int | UnsetType = UNSET
    uncut: str | UnsetType = UNSET
    cut: UnsetType | None = UNSET


class CutAnswer(CommandAnswer, frozen=True):
    """The cut that was taken, in cards."""

    cut: int


class ReplaceSetAnswer(CommandAnswer, frozen=True):
    """The set that lies in the machine now, its back, and who said so."""

    set: str
    back: Back
    by: str


class ClearSetAnswer(CommandAnswer, frozen=True):
    """The set that may be dealt with again, and who counted it."""

    set: str
    by: str


class TributeAnswer(CommandAnswer, frozen=True):
    """Whether the card is the one that is due; nothing where only people can know it."""

    right: bool | UnsetType = UNSET


class ReturnAnswer(CommandAnswer, frozen=True):
    """What the rulebook says of the card; nothing where only people can know it.

    `key`: the rule that says so; `article`: where it stands, null where the rulebook is silent.
    """

    state: OfReturn | UnsetType = UNSET
    key: str | UnsetType | None = UNSET
    article: str | UnsetType | None = UNSET


class VoidAnswer(CommandAnswer, frozen=True):
    """Why the attempt was given up."""

    reason: str


class OpenHandAnswer(CommandAnswer, frozen=True):
    """A hand: its faces as text, in `sealed`."""

    seat: Seat
    reason: str
    by: str
    sealed: SealedFaces


class SelftestAnswer(CommandAnswer, frozen=True):
    """The boards that have tested themselves, the motors that did not turn, and what said nothing:
    some engines say nothing of an empty window."""

    boards: list[BoardKind]
    stalled: list[StalledMotor]
    silent: list[SilentDevice]


class ConfigureAnswer(CommandAnswer, frozen=True):
    """The settings that a board has taken."""

    board: BoardKind
    settings: dict[str, int]


class CalibrateAnswer(CommandAnswer, frozen=True):
    """The board that is at its known positions, the motors that did not turn, what said nothing."""

    board: BoardKind
    stalled: list[StalledMotor]
    silent: list[SilentDevice]


ANSWER_TYPES: Final[Mapping[str, type[msgspec.Struct]]] = {
    **dict.fromkeys(EVENT_MAKERS, PhaseAnswer),
    "snapshot": PublicState,
    "events": EventsAnswer,
    "sheet": ScoreSheet,
    "rulings": RulingsAnswer,
    "foresee": DecisionPreview,
    "lost_time": LostTime,
    "offers": OffersAnswer,
    "propose": ProposeAnswer,
    "forfeit": ProposeAnswer,
    "call": DoneAnswer,
    "attend": DoneAnswer,
    "confirm": ConfirmAnswer,
    "hold": DoneAnswer,
    "resume": DoneAnswer,
    "set_match": SetMatchAnswer,
    "transfer": TransferAnswer,
    "document": DocumentAnswer,
    "take_over": TakeOverAnswer,
    "start_deal": StartDealAnswer,
    "cut": CutAnswer,
    "release": DoneAnswer,
    "replace_set": ReplaceSetAnswer,
    "clear_set": ClearSetAnswer,
    "tribute": TributeAnswer,
    "return": ReturnAnswer,
    "acknowledge": DoneAnswer,
    "clear_jam": DoneAnswer,
    "void": VoidAnswer,
    "open_hand": OpenHandAnswer,
    "selftest": SelftestAnswer,
    "configure": ConfigureAnswer,
    "calibrate": CalibrateAnswer,
}
"""By command; what a match carries out answers with its phase."""
