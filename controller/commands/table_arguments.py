"""What a command may say: the arguments of each, one frozen value per form.

Whatever a client sends is taken into one of these before anything looks at it. A value's
description is what a refusal says is expected, in Chinese `zh` of its extra; its example is what
`dealtable send` shows.
Match commands have theirs in match_arguments.py.
"""

from typing import Annotated, Literal

from msgspec import Meta

from controller.commands.argument_values import (
    Args,
    CardSetId,
    CutDepth,
    MatchPhaseName,
    NameText,
    SeatName,
    SettingValue,
    TextLine,
)
from controller.host.toml_files import Contradiction
from controller.messages import Role
from controller.words import Words


class NoArgs(Args, frozen=True, kw_only=True):
    """No arguments."""


class EventsArgs(Args, frozen=True, kw_only=True):
    """Public entries behind number `since` of the journal."""

    since: Annotated[
        int,
        Meta(
            ge=0,
            description="the number of a journal entry, 0 or more",
            extra={"zh": "日志条目的序号，从0起"},
            examples=[0],
        ),
    ] = 0


class RoleArgs(Args, frozen=True, kw_only=True):
    """Whose orders: those of one role."""

    role: Annotated[
        Role,
        Meta(
            description='a role: "observer", "table", "referee", "chief" or "technician"',
            extra={"zh": '角色："observer"、"table"、"referee"、"chief" 或 "technician"'},
            examples=["referee"],
        ),
    ]


class OneSeatArgs(Args, frozen=True, kw_only=True):
    """One seat."""

    seat: SeatName


class ReasonArgs(Args, frozen=True, kw_only=True):
    """A reason, which everybody may read."""

    reason: TextLine


class SeatArgs(Args, frozen=True, kw_only=True):
    """Who has taken `seat`; without `person` the one whom the pair's list names."""

    seat: SeatName
    person: NameText | None = None


class ConfirmArgs(Args, frozen=True, kw_only=True):
    """The green button of `seat`; without one a referee confirms for both sides.

    `phase`: of the match, in which that is meant: in another one it would be another word. None:
    whatever it means then.
    """

    seat: SeatName | None = None
    phase: MatchPhaseName | None = None


class CallArgs(Args, frozen=True, kw_only=True):
    """The red button of `seat`, and why where it is said."""

    seat: SeatName
    reason: TextLine | None = None


class StartDealArgs(Args, frozen=True, kw_only=True):
    """A deal is due. `uncut`: the present one is dealt without a cut, for `reason`."""

    uncut: bool = False
    reason: TextLine | None = None

    def __post_init__(self) -> None:
        """Refuse an uncut deal without its reason."""
        if self.uncut and self.reason is None:
            raise Contradiction(
                Words("uncut without its reason", "uncut 未写理由"),
                Words("uncut=true and a reason", "uncut=true 并写明 reason"),
            )


class CutArgs(Args, frozen=True, kw_only=True):
    """A packet of `n` cards off the top; `seat`: who cut, where that is known."""

    n: CutDepth
    seat: SeatName | None = None


class HoldArgs(Args, frozen=True, kw_only=True):
    """Why the table stands still. `area`: the clock of the whole area does."""

    reason: TextLine
    area: bool = False


class ResumeArgs(Args, frozen=True, kw_only=True):
    """It goes on. `area`: the clock of the whole area does."""

    area: bool = False


class AttendArgs(Args, frozen=True, kw_only=True):
    """Whose call is over; without `seat` every player's."""

    seat: SeatName | None = None


class ReplaceSetArgs(Args, frozen=True, kw_only=True):
    """Which set of cards lies in the hopper now; `back`: of one that this table never had."""

    set: CardSetId
    back: Literal["A", "B"] | None = None


class ClearSetArgs(Args, frozen=True, kw_only=True):
    """A barred set after its full count. `cards`: how many, each face in its number of copies."""

    set: CardSetId
    cards: Annotated[
        int,
        Meta(
            ge=0,
            le=216,
            description="a number of cards from 0 to 216",
            extra={"zh": "0至216的张数"},
            examples=[108],
        ),
    ]


class AcknowledgeArgs(Args, frozen=True, kw_only=True):
    """Somebody has seen to a fault. `code`: its name; `board`: whose, where two have it."""

    code: Annotated[
        str,
        Meta(
            pattern=r"^[A-Z][A-Z_]{2,40}$",
            description='the name of a fault, as "JAM"',
            extra={"zh": '故障的名称，如 "JAM"'},
            examples=["JAM"],
        ),
    ]
    board: Literal["dealer", "reader"] | None = None


class OpenHandArgs(Args, frozen=True, kw_only=True):
    """Whose hand the chief looks at, and why."""

    seat: SeatName
    reason: TextLine


class ConfigureArgs(Args, frozen=True, kw_only=True):
    """Settings of a board, by name."""

    board: Literal["dealer", "reader"]
    settings: Annotated[
        dict[str, SettingValue],
        Meta(
            description="a table of settings, each a number",
            extra={"zh": "各项设置的表，每项为数"},
            examples=[{}],
        ),
    ]


class CalibrateArgs(Args, frozen=True, kw_only=True):
    """The board that is calibrated."""

    board: Literal["dealer", "reader"]
