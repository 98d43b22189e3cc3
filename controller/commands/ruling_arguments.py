"""Arguments of the commands that make or change a ruling, correct a result, or end a match."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from controller.commands.argument_values import (
    Args,
    DealNumber,
    FinishSeats,
    NameText,
    OffenceId,
    PenaltyName,
    RowNumber,
    RulingId,
    SeatName,
    SideName,
    TableMs,
    TextLine,
    VerbalArgs,
    VerbalReasonArgs,
    described,
)
from controller.host.toml_files import Contradiction
from controller.seats import side_of
from controller.words import Words


class ChargeArgs(Args, frozen=True, kw_only=True):
    """A charge (an accusation): the offence, the charged side or seat, and the circumstances.

    The circumstances are those of controller/rules/penalties/charges.py. A fact that is not given
    counts as false. Either `side` or `seat` is required. `deal` is None for the present deal.
    `offence_ms` is the time of the offence by the table's clock. None means now.
    """

    offence: OffenceId
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
        Annotated[int, described("an overrun from 1 on", "超时的次数，从1起", ge=1, le=99)] | None
    ) = None

    def __post_init__(self) -> None:
        """Refuse a charge that has neither side nor seat, or that has a seat of the other side."""
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
    """A charge, and the penalty that is proposed for it.

    Without `penalty`, the first penalty of the rulebook's ladder of penalties is proposed. `id` is
    the name of the ruling. The default names are R1, R2, …
    """

    penalty: PenaltyName | None = None
    id: RulingId | None = None


class ConfirmVerbalArgs(Args, frozen=True, kw_only=True):
    """The verbal decision of the chief that the chief confirms now: a ruling or a correction.

    A referee entered it. `ruling` is the id of a ruling, `correction` the row of a correction.
    """

    ruling: RulingId | None = None
    correction: RowNumber | None = None

    def __post_init__(self) -> None:
        """Refuse the arguments unless exactly one of `ruling` and `correction` is given."""
        if (self.ruling is None) == (self.correction is None):
            raise Contradiction(
                Words(
                    "neither or both of ruling and correction",
                    "ruling 与 correction 均未写或都写了",
                ),
                Words("one of them", "其中之一"),
            )


class ApproveArgs(VerbalArgs, frozen=True, kw_only=True):
    """The id of the ruling that is approved. `penalty` replaces the proposed penalty (改判)."""

    ruling: RulingId
    penalty: PenaltyName | None = None


class RejectArgs(VerbalArgs, frozen=True, kw_only=True):
    """The id of the ruling that is rejected or overturned."""

    ruling: RulingId


class AdjustArgs(VerbalReasonArgs, frozen=True, kw_only=True):
    """The correct result of `deal`. `choice`: it counts from now on (`from_now`), it counts and the
    later deals are void (`void_later`), or the recorded result stays (`stand`).
    """

    deal: Annotated[int, described("the number of a deal", "副的序号，从1起", 2, ge=1, le=9999)]
    order: FinishSeats
    choice: Literal["from_now", "void_later", "stand"] = "from_now"


class ForfeitArgs(Args, frozen=True, kw_only=True):
    """The side that loses the match, the reason, and the offence for which it loses (弃权判负)."""

    side: SideName
    reason: TextLine
    offence: Annotated[OffenceId, Meta(examples=["default"])] = "default"


class ForeseeArgs(Args, frozen=True, kw_only=True):
    """A decision that is tried out: a command and its arguments. Only the effect is computed.

    For `propose` the answer shows the effect of the ruling once it is in force.
    """

    cmd: Literal["adjust", "propose", "approve", "reject", "forfeit", "redeal", "extra_deal"]
    args: Annotated[
        dict[str, Any],
        described("a table of the command's arguments", "该命令各参数的表", {"ruling": "R1"}),
    ]
