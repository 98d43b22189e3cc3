"""Types of values that are arguments of several commands, each with its bounds."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from controller.host.toml_files import Contradiction
from controller.messages import Seat, Side
from controller.words import Words


def described(en: str, zh: str, *examples: Any, **bounds: Any) -> Meta:
    """Return msgspec's `Meta` for an argument: texts in both languages, examples and bounds."""
    return Meta(description=en, extra={"zh": zh}, examples=list(examples) or None, **bounds)


_LINE_BREAKS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"


def _one_line(en: str, zh: str, example: str, max_length: int) -> Meta:
    """Return msgspec's `Meta` for an argument that is one line of text, and not only spaces."""
    pattern = rf"^[^{_LINE_BREAKS}]*[^{_LINE_BREAKS}\s][^{_LINE_BREAKS}]*$"
    return described(en, zh, example, min_length=1, max_length=max_length, pattern=pattern)


def _hex_digits(size: int) -> Meta:
    """Return msgspec's `Meta` for an argument that is `size` bytes, written in hex digits."""
    digits = 2 * size
    return described(
        f"{size} bytes as {digits} lower-case hex digits",
        f"{size}字节，写成{digits}位小写十六进制数",
        "0" * digits,
        pattern=f"^[0-9a-f]{{{digits}}}$",
    )


MAX_TABLE_MS = 1 << 42
"""Highest value of a table's clock in ms: more than a hundred years (provisional)."""

SeatName = Annotated[
    Seat, described('a seat: "N", "W", "S" or "E"', '席位："N"、"W"、"S" 或 "E"', "N", title="seat")
]
SideName = Annotated[
    Side, described('a side: "NS" or "EW"', '一方："NS" 或 "EW"', "NS", title="side")
]
TextLine = Annotated[
    str,
    _one_line(
        "one line of text, 1 to 200 characters", "一行文字，1至200个字符", "why it has to be", 200
    ),
]
NameText = Annotated[str, _one_line("a name, 1 to 64 characters", "名称，1至64个字符", "Li Na", 64)]
CardSetId = Annotated[str, _one_line("the id of a set of cards", "一套牌的编号", "A1", 64)]
CutDepth = Annotated[
    int,
    described(
        "a number of cards, in most rulebooks from 6 to 102",
        "张数，多数规则为6至102",
        40,
        ge=1,
        le=107,
    ),
]
MatchPhaseName = Annotated[
    str,
    described(
        "a phase of the match, as in the public state",
        "本局所处的阶段，按状态中的写法",
        "play",
        pattern=r"^[a-z_]{1,20}$",
    ),
]
SettingValue = Annotated[
    int, described("a number from 0 to 60000", "0至60000的数", ge=0, le=60_000)
]
"""A setting of a board. Each setting has its own narrower bounds."""
PenaltyName = Literal["none", "warning", "violation", "foul", "match_forfeit", "disqualification"]
CardName = Annotated[
    str,
    described(
        'a card, as "SK", "H10" or "BJ"',
        '一张牌，如 "SK"、"H10" 或 "BJ"',
        "SK",
        min_length=1,
        max_length=4,
    ),
]
RulingId = Annotated[
    str,
    described(
        'the id of a ruling, as "R1"',
        '判罚的编号，如 "R1"',
        "R1",
        min_length=1,
        max_length=16,
        pattern=r"^[A-Za-z0-9-]+$",
    ),
]
OffenceId = Annotated[
    str,
    described(
        "the id of an offence, as send --about propose lists them",
        "违例事项的编号",
        "play_out_of_turn",
        pattern=r"^[a-z_]{1,40}$",
    ),
]
HandCount = Annotated[
    int, described("a number of cards from 0 to 108", "0至108的张数", ge=0, le=108)
]
DealNumber = Annotated[
    int,
    described(
        "the number of a deal, 0 before the first", "副的序号，首副之前为0", 1, ge=0, le=9999
    ),
]
RowNumber = Annotated[
    int, described("the number of a row of the score sheet", "记分表的行号", 3, ge=1, le=9999)
]
TableMs = Annotated[
    int,
    described(
        "milliseconds of the table's clock", "本台时钟的毫秒数", 1_500_000, ge=0, le=MAX_TABLE_MS
    ),
]
FinishSeats = Annotated[
    tuple[SeatName, ...],
    described(
        "a list of the seats that went out, in this order",
        "席位列表，按出完的先后",
        ["N", "W", "S"],
        min_length=2,
        max_length=4,
    ),
]
HashText = Annotated[str, _hex_digits(32)]
SignatureText = Annotated[str, _hex_digits(64)]
PartNumber = Annotated[int, described("a number of 1 or more", "1或以上的数", 1, ge=1, le=999)]


class Args(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The base class of the arguments of commands. An unknown argument is refused."""


class CountsForSeats(Args, frozen=True, kw_only=True):
    """A number of cards for each seat."""

    N: HandCount
    W: HandCount
    S: HandCount
    E: HandCount

    def by_seat(self) -> dict[Seat, int]:
        """Return the numbers of cards as a dictionary by seat."""
        return {"N": self.N, "W": self.W, "S": self.S, "E": self.E}


class VerbalArgs(Args, frozen=True, kw_only=True):
    """The base class of the arguments of a decision that can be a verbal decision of the chief.

    With `verbal`, a referee enters a verbal decision of the chief, who has the name `by`.
    """

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
    """The public reason of a decision, which can be a verbal decision of the chief."""

    reason: TextLine
