"""Types of arguments: of queries, of machine commands, and of a few match commands.

The arguments of every command from a client are converted into one of these types before they are
used. A refusal shows the description of a value as the expected value. The Chinese text is `zh` in
its `extra`. `dealtable send` shows the example. match_arguments.py and ruling_arguments.py have the
other types.
"""

from typing import Annotated, Literal

from controller.commands.argument_values import (
    Args,
    CardSetId,
    CutDepth,
    MatchPhaseName,
    NameText,
    SeatName,
    SettingValue,
    TextLine,
    described,
)
from controller.host.toml_files import Contradiction
from controller.messages import Role
from controller.words import Words


class NoArgs(Args, frozen=True, kw_only=True):
    """The arguments of a command without arguments."""


class EventsArgs(Args, frozen=True, kw_only=True):
    """A request for the public entries of the journal after entry `since`."""

    since: Annotated[
        int, described("the number of a journal entry, 0 or more", "日志条目的序号，从0起", 0, ge=0)
    ] = 0


class RoleArgs(Args, frozen=True, kw_only=True):
    """The role for which the commands are listed."""

    role: Annotated[
        Role,
        described(
            'a role: "observer", "table", "referee", "chief" or "technician"',
            '角色："observer"、"table"、"referee"、"chief" 或 "technician"',
            "referee",
        ),
    ]


class OneSeatArgs(Args, frozen=True, kw_only=True):
    """The seat that the command concerns."""

    seat: SeatName


class ReasonArgs(Args, frozen=True, kw_only=True):
    """The reason for the command, which is public."""

    reason: TextLine


class SeatArgs(Args, frozen=True, kw_only=True):
    """The player who sits down at `seat`. Without `person`, it is the player in the pair's list."""

    seat: SeatName
    person: NameText | None = None


class ConfirmArgs(Args, frozen=True, kw_only=True):
    """A press of the green button of `seat`. Without a seat, a referee confirms for both sides.

    `phase` is the phase of the match for which the confirmation is meant, because its meaning
    depends on the phase. None means any phase.
    """

    seat: SeatName | None = None
    phase: MatchPhaseName | None = None


class CallArgs(Args, frozen=True, kw_only=True):
    """A press of the red button of `seat`, with the reason if one is given."""

    seat: SeatName
    reason: TextLine | None = None


class StartDealArgs(Args, frozen=True, kw_only=True):
    """Whether the next deal starts without a cut (`uncut`), which requires a `reason`."""

    uncut: bool = False
    reason: TextLine | None = None

    def __post_init__(self) -> None:
        """Refuse `uncut` without a `reason`."""
        if self.uncut and self.reason is None:
            raise Contradiction(
                Words("uncut without a reason", "uncut 未写理由"),
                Words("uncut=true and a reason", "uncut=true 并写明 reason"),
            )


class CutArgs(Args, frozen=True, kw_only=True):
    """The number `n` of cards that a cut takes from the top, and the seat that cut, if known."""

    n: CutDepth
    seat: SeatName | None = None


class HoldArgs(Args, frozen=True, kw_only=True):
    """The reason for a pause. With `area`, the clock of the whole area is stopped."""

    reason: TextLine
    area: bool = False


class ResumeArgs(Args, frozen=True, kw_only=True):
    """Whether the whole area's match clock continues (`area`), or only the match at this table."""

    area: bool = False


class AttendArgs(Args, frozen=True, kw_only=True):
    """The seat that a referee has attended. The seat's call ends. Without `seat`, all calls end."""

    seat: SeatName | None = None


class ReplaceSetArgs(Args, frozen=True, kw_only=True):
    """The set of cards that is now in the hopper.

    `back` is required for a set that is new at this table.
    """

    set: CardSetId
    back: Literal["A", "B"] | None = None


class ClearSetArgs(Args, frozen=True, kw_only=True):
    """A barred set that a person has now counted completely.

    `cards` is the number of cards. The command states that no face is missing or doubled.
    """

    set: CardSetId
    cards: Annotated[
        int, described("a number of cards from 0 to 216", "0至216的张数", 108, ge=0, le=216)
    ]


class AcknowledgeArgs(Args, frozen=True, kw_only=True):
    """The fault that a person has seen and handles.

    `code` is its name. `board` names the board, if both boards have the fault.
    """

    code: Annotated[
        str,
        described(
            'the name of a fault, as "JAM"',
            '故障的名称，如 "JAM"',
            "JAM",
            pattern=r"^[A-Z][A-Z_]{2,40}$",
        ),
    ]
    board: Literal["dealer", "reader"] | None = None


class OpenHandArgs(Args, frozen=True, kw_only=True):
    """The seat whose hand the chief looks at, and the reason."""

    seat: SeatName
    reason: TextLine


class ConfigureArgs(Args, frozen=True, kw_only=True):
    """A board, and the new values of its settings by name."""

    board: Literal["dealer", "reader"]
    settings: Annotated[
        dict[str, SettingValue],
        described("a table of settings, each a number", "各项设置的表，每项为数", {}),
    ]


class CalibrateArgs(Args, frozen=True, kw_only=True):
    """The board that is calibrated."""

    board: Literal["dealer", "reader"]
