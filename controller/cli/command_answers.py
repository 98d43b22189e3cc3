"""The type of the field `result` in the reply to each command that succeeds.

A refusal has an error instead of a result (messages.Failure). The types of the state, the entries
and the sheet are defined elsewhere; the others are here.
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
    Base64, Meta(description="for the sender alone: sealed to the sender's key, base64")
]

StalledMotor = Literal["feed", "pass", "gate", "shuffle", "lift"]
SilentDevice = Literal["engine"]
"""A device of a board that did not answer."""


class CommandAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The base class of the results of commands."""


class DoneAnswer(CommandAnswer, frozen=True):
    """The empty result of a command that was executed and has nothing to return."""


class EventsAnswer(CommandAnswer, frozen=True):
    """Public entries of the journal, oldest first. For more, ask again from the last number."""

    events: list[PublicEvent]


class RulingsAnswer(CommandAnswer, frozen=True):
    """The legal penalties for a charge. The first penalty follows from the rulebook's ladder."""

    proposals: list[PenaltyProposal]


class OffersAnswer(CommandAnswer, frozen=True):
    """The commands of a role that change something, and whether the table would accept each now."""

    offers: list[Offer]


class PhaseAnswer(CommandAnswer, frozen=True):
    """The phase of the match after the command, as in the public state (`match.phase`)."""

    phase: str


class ConfirmAnswer(CommandAnswer, frozen=True):
    """The phase of the match after the command `confirm`; empty if `confirm` withdrew a call."""

    phase: str | UnsetType = UNSET


class ProposeAnswer(PhaseAnswer, frozen=True):
    """A proposed ruling, which a person with the role `needs` must confirm. `ruling` is its id."""

    ruling: str
    penalty: Penalty
    needs: Literal["referee", "chief"]


class SetMatchAnswer(CommandAnswer, frozen=True):
    """The id of the match that was set up."""

    match: str


class TransferAnswer(CommandAnswer, frozen=True):
    """The transferred match, with the digest and part count of the document that contains it."""

    match: str
    to: str
    digest: Hash
    parts: int


class DocumentAnswer(TransferAnswer, frozen=True):
    """One part of the document that transfers a match.

    `text` is its content, and `part` is its number, from 1 on. `sig` is the table's signature of
    the whole document.
    """

    sig: Signature
    part: int
    text: Base64


class TakeOverAnswer(CommandAnswer, frozen=True):
    """The match that was taken over, and its phase.

    If parts of the match are missing, the answer has only their numbers, `missing`.
    """

    missing: list[int] | UnsetType = UNSET
    match: str | UnsetType = UNSET
    left: str | UnsetType = msgspec.field(default=UNSET, name="from")
    deal: int | UnsetType = UNSET
    phase: str | UnsetType = UNSET


class StartDealAnswer(CommandAnswer, frozen=True):
    """The new attempt that the command began.

    `uncut` is the reason why it is dealt without a cut.

    If the command ended the present attempt's wait for a cut, the answer has only `cut`, which is
    null.
    """

    deal: int | UnsetType = UNSET
    attempt: int | UnsetType = UNSET
    uncut: str | UnsetType = UNSET
    cut: UnsetType | None = UNSET


class CutAnswer(CommandAnswer, frozen=True):
    """The accepted cut: the number of cards that it takes from the top of the set."""

    cut: int


class ReplaceSetAnswer(CommandAnswer, frozen=True):
    """The set that is now in the hopper, the back of its cards, and the signer of the command."""

    set: str
    back: Back
    by: str


class ClearSetAnswer(CommandAnswer, frozen=True):
    """The set that is no longer barred, so that it may be used, and the signer of the command."""

    set: str
    by: str


class TributeAnswer(CommandAnswer, frozen=True):
    """Whether a tribute card is the card that must be paid (`right`). The answer is empty if the
    program cannot check the card.
    """

    right: bool | UnsetType = UNSET


class ReturnAnswer(CommandAnswer, frozen=True):
    """The check of a card that is returned for a tribute: `state` is the result.

    The answer is empty if the program cannot check the card. `key` is the rule. `article` is its
    place in the rulebook, null if the rulebook has no such rule.
    """

    state: OfReturn | UnsetType = UNSET
    key: str | UnsetType | None = UNSET
    article: str | UnsetType | None = UNSET


class VoidAnswer(CommandAnswer, frozen=True):
    """The reason why the attempt ended without a result (void)."""

    reason: str


class OpenHandAnswer(CommandAnswer, frozen=True):
    """The faces of one hand, as text (`sealed`) that is encrypted for the sender of the command."""

    seat: Seat
    reason: str
    by: str
    sealed: SealedFaces


class SelftestAnswer(CommandAnswer, frozen=True):
    """The boards that ran their self-test, the motors that stalled, and the devices that did not
    answer. Some engines do not answer for an empty window.
    """

    boards: list[BoardKind]
    stalled: list[StalledMotor]
    silent: list[SilentDevice]


class ConfigureAnswer(CommandAnswer, frozen=True):
    """The settings that a board has stored."""

    board: BoardKind
    settings: dict[str, int]


class CalibrateAnswer(CommandAnswer, frozen=True):
    """The result of `calibrate`: the board that ran its self-test, the motors that stalled, and the
    devices that did not answer. The dealer board lowered its lift first.
    """

    board: BoardKind
    stalled: list[StalledMotor]
    silent: list[SilentDevice]


ANSWER_TYPES: Final[Mapping[str, type[msgspec.Struct]]] = {
    **dict.fromkeys(EVENT_MAKERS, PhaseAnswer),
    **dict.fromkeys(
        ("call", "attend", "hold", "resume", "release", "acknowledge", "clear_jam"), DoneAnswer
    ),
    "snapshot": PublicState,
    "events": EventsAnswer,
    "sheet": ScoreSheet,
    "rulings": RulingsAnswer,
    "foresee": DecisionPreview,
    "lost_time": LostTime,
    "offers": OffersAnswer,
    "propose": ProposeAnswer,
    "forfeit": ProposeAnswer,
    "confirm": ConfirmAnswer,
    "set_match": SetMatchAnswer,
    "transfer": TransferAnswer,
    "document": DocumentAnswer,
    "take_over": TakeOverAnswer,
    "start_deal": StartDealAnswer,
    "cut": CutAnswer,
    "replace_set": ReplaceSetAnswer,
    "clear_set": ClearSetAnswer,
    "tribute": TributeAnswer,
    "return": ReturnAnswer,
    "void": VoidAnswer,
    "open_hand": OpenHandAnswer,
    "selftest": SelftestAnswer,
    "configure": ConfigureAnswer,
    "calibrate": CalibrateAnswer,
}
"""The answer type of each command. A command of the match answers with its phase."""
