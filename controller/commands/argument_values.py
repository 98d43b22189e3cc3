"""Types of values that are arguments of several commands, each with its bounds."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from controller.host.toml_files import Contradiction
from controller.messages import Seat, Side
from controller.words import Words

_LINE_BREAKS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"


_ONE_LINE = rf"^[^{_LINE_BREAKS}]*[^{_LINE_BREAKS}\s][^{_LINE_BREAKS}]*$"
"""One line with at least one character that is not blank. Blanks alone are not a reason or a name.
"""


SeatName = Annotated[
    Seat,
    Meta(
        description='a seat: "N", "W", "S" or "E"',
        extra={"zh": '席位："N"、"W"、"S" 或 "E"'},
        examples=["N"],
        title="seat",
    ),
]


TextLine = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern=_ONE_LINE,
        description="one line of text, 1 to 200 characters",
        extra={"zh": "一行文字，1至200个字符"},
        examples=["why it has to be"],
    ),
]


NameText = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=_ONE_LINE,
        description="a name, 1 to 64 characters",
        extra={"zh": "名称，1至64个字符"},
        examples=["Li Na"],
    ),
]


CardSetId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=_ONE_LINE,
        description="the id of a set of cards",
        extra={"zh": "一套牌的编号"},
        examples=["A1"],
    ),
]


CutDepth = Annotated[
    int,
    Meta(
        ge=1,
        le=107,
        description="a number of cards, in most rulebooks from 6 to 102",
        extra={"zh": "张数，多数规则为6至102"},
        examples=[40],
    ),
]


MatchPhaseName = Annotated[
    str,
    Meta(
        pattern=r"^[a-z_]{1,20}$",
        description="a phase of the match, as in the public state",
        extra={"zh": "本局所处的阶段，按状态中的写法"},
        examples=["play"],
    ),
]


SettingValue = Annotated[
    int, Meta(ge=0, le=60_000, description="a number from 0 to 60000", extra={"zh": "0至60000的数"})
]
"""A setting of a board. Each setting has its own narrower bounds."""


class Args(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The arguments of a command. An unknown argument is refused."""


MAX_TABLE_MS = 1 << 42
"""Highest value of a table's clock in ms: more than a hundred years (provisional)."""


PenaltyName = Literal["none", "warning", "violation", "foul", "match_forfeit", "disqualification"]


SideName = Annotated[
    Side,
    Meta(
        description='a side: "NS" or "EW"',
        extra={"zh": '一方："NS" 或 "EW"'},
        examples=["NS"],
        title="side",
    ),
]


CardName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4,
        description='a card, as "SK", "H10" or "BJ"',
        extra={"zh": '一张牌，如 "SK"、"H10" 或 "BJ"'},
        examples=["SK"],
    ),
]


RulingId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=16,
        pattern=r"^[A-Za-z0-9-]+$",
        description='the id of a ruling, as "R1"',
        extra={"zh": '判罚的编号，如 "R1"'},
        examples=["R1"],
    ),
]


HandCount = Annotated[
    int,
    Meta(ge=0, le=108, description="a number of cards from 0 to 108", extra={"zh": "0至108的张数"}),
]


DealNumber = Annotated[
    int,
    Meta(
        ge=0,
        le=9999,
        description="the number of a deal, 0 before the first",
        extra={"zh": "副的序号，首副之前为0"},
        examples=[1],
    ),
]


RowNumber = Annotated[
    int,
    Meta(
        ge=1,
        le=9999,
        description="the number of a row of the score sheet",
        extra={"zh": "记分表的行号"},
        examples=[3],
    ),
]


TableMs = Annotated[
    int,
    Meta(
        ge=0,
        le=MAX_TABLE_MS,
        description="milliseconds of the table's clock",
        extra={"zh": "本台时钟的毫秒数"},
        examples=[1_500_000],
    ),
]


FinishSeats = Annotated[
    tuple[SeatName, ...],
    Meta(
        min_length=2,
        max_length=4,
        description="a list of the seats that went out, in this order",
        extra={"zh": "席位列表，按出完的先后"},
        examples=[["N", "W", "S"]],
    ),
]


HashText = Annotated[
    str,
    Meta(
        pattern="^[0-9a-f]{64}$",
        description="32 bytes as 64 lower-case hex digits",
        extra={"zh": "32字节，写成64位小写十六进制数"},
        examples=["00" * 32],
    ),
]


SignatureText = Annotated[
    str,
    Meta(
        pattern="^[0-9a-f]{128}$",
        description="64 bytes as 128 lower-case hex digits",
        extra={"zh": "64字节，写成128位小写十六进制数"},
        examples=["00" * 64],
    ),
]


PartNumber = Annotated[
    int,
    Meta(
        ge=1, le=999, description="a number of 1 or more", extra={"zh": "1或以上的数"}, examples=[1]
    ),
]


class CountsForSeats(Args, frozen=True, kw_only=True):
    """A number of cards for each seat."""

    N: HandCount
    W: HandCount
    S: HandCount
    E: HandCount

    def by_seat(self) -> dict[Seat, int]:
        """Return the numbers by seat."""
        return {"N": self.N, "W": self.W, "S": self.S, "E": self.E}


class VerbalArgs(Args, frozen=True, kw_only=True):
    """A decision. With `verbal`, a referee enters the oral decision of the chief named in `by`."""

    verbal: bool = False
    by: NameText | None = None

    def __post_init__(self) -> None:
        """Refuse `verbal` without the chief's name in `by`, and `by` without `verbal`."""
        if self.verbal and self.by is None:
            raise Contradiction(
                Words("verbal without by", "写了 verbal 而未写 by"),
                Words("the name of the chief who decided", "作出口头裁定的裁判长姓名"),
            )
        if self.by is not None and not self.verbal:
            raise Contradiction(
                Words("by without verbal", "写了 by 而未写 verbal"),
                Words("verbal=true if the chief decided verbally", "verbal=true（裁判长口头裁定）"),
            )


class VerbalReasonArgs(VerbalArgs, frozen=True, kw_only=True):
    """A decision and its reason, which is public."""

    reason: TextLine
