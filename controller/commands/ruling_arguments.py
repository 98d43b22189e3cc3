"""Arguments of the commands that make a ruling, or end a match by one."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from controller.commands.argument_values import (
    Args,
    DealNumber,
    FinishSeats,
    NameText,
    PenaltyName,
    RowNumber,
    RulingId,
    SeatName,
    SideName,
    TableMs,
    TextLine,
    VerbalArgs,
    VerbalReasonArgs,
)
from controller.host.toml_files import Contradiction
from controller.seats import side_of
from controller.words import Words


class ChargeArgs(Args, frozen=True, kw_only=True):
    """A charge, as in controller/rules/penalties/charges.py.

    A fact that is not given counts as false. Either `side` or `seat` is required. `deal` is None
    for the present deal. `offence_ms` is the time of the offence by the table's clock. None means
    now.
    """

    offence: Annotated[
        str,
        Meta(
            pattern=r"^[a-z_]{1,40}$",
            description="the id of an offence, as send --about propose lists them",
            extra={"zh": "违例事项的编号"},
            examples=["play_out_of_turn"],
        ),
    ]
    side: SideName | None = None
    seat: SeatName | None = None
    person: NameText | None = None
    deal: DealNumber | None = None
    offence_ms: TableMs | None = None
    pointed_out_by: Literal["N", "W", "S", "E", "referee", "clock", "outsider"] = "referee"
    pointed_out_when: Literal["at_once", "later_trick", "later_deal"] = "at_once"
    outsider_first: bool = False
    acted_first: bool = False
    exploited: bool = False
    lapse_disputed: bool = False
    settled_by_players: Literal["recognised", "annulled"] | None = None
    harmed: bool = False
    kind: NameText | None = None
    step: (
        Annotated[
            int,
            Meta(
                ge=1, le=99, description="an overrun from 1 on", extra={"zh": "超时的次数，从1起"}
            ),
        ]
        | None
    ) = None

    def __post_init__(self) -> None:
        """Refuse a charge without side and seat, and a seat of the other side."""
        if self.side is None and self.seat is None:
            raise Contradiction(
                Words("neither side nor seat is given", "side 与 seat 均未写"),
                Words("one of them", "其中之一"),
            )
        if self.side and self.seat and side_of(self.seat) != self.side:
            raise Contradiction(
                Words(
                    f"seat {self.seat} does not play for {self.side}",
                    f"seat {self.seat} 不属于 {self.side} 一方",
                ),
                Words("a seat of that side", "该方的席位"),
            )


class ProposeArgs(ChargeArgs, frozen=True, kw_only=True):
    """A charge and the proposed penalty. Without `penalty`, the ladder's first penalty is proposed.

    `id` is the name of the ruling. The default names are R1, R2, …
    """

    penalty: PenaltyName | None = None
    id: RulingId | None = None


class ConfirmVerbalArgs(Args, frozen=True, kw_only=True):
    """A ruling or a correction that a referee entered as the chief's oral decision.

    `ruling` is the ruling's id. `correction` is the row number of the correction.
    """

    ruling: RulingId | None = None
    correction: RowNumber | None = None

    def __post_init__(self) -> None:
        """Refuse both together, and refuse neither of them."""
        if (self.ruling is None) == (self.correction is None):
            raise Contradiction(
                Words(
                    "neither or both of ruling and correction",
                    "ruling 与 correction 均未写或都写了",
                ),
                Words("one of them", "其中之一"),
            )


class ApproveArgs(VerbalArgs, frozen=True, kw_only=True):
    """A ruling to put in force. `penalty` replaces the proposed penalty (改判)."""

    ruling: RulingId
    penalty: PenaltyName | None = None


class RejectArgs(VerbalArgs, frozen=True, kw_only=True):
    """A ruling that is rejected or overturned."""

    ruling: RulingId


class AdjustArgs(VerbalReasonArgs, frozen=True, kw_only=True):
    """The correct result of `deal`, and what happens to the later results."""

    deal: Annotated[
        int,
        Meta(
            ge=1,
            le=9999,
            description="the number of a deal",
            extra={"zh": "副的序号，从1起"},
            examples=[2],
        ),
    ]
    order: FinishSeats
    choice: Literal["from_now", "void_later", "stand"] = "from_now"


class ForfeitArgs(Args, frozen=True, kw_only=True):
    """The side that loses the match, the reason, and the offence (弃权判负)."""

    side: SideName
    reason: TextLine
    offence: Annotated[
        str,
        Meta(
            pattern=r"^[a-z_]{1,40}$",
            description="the id of an offence, as send --about propose lists them",
            extra={"zh": "违例事项的编号"},
            examples=["default"],
        ),
    ] = "default"


class ForeseeArgs(Args, frozen=True, kw_only=True):
    """A decision that is only simulated: its command and that command's arguments.

    For `propose` the answer shows the effect of the ruling once it is in force.
    """

    cmd: Literal["adjust", "propose", "approve", "reject", "forfeit", "redeal", "extra_deal"]
    args: Annotated[
        dict[str, Any],
        Meta(
            description="a table of the command's arguments",
            extra={"zh": "该命令各参数的表"},
            examples=[{"ruling": "R1"}],
        ),
    ]
