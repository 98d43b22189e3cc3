"""What the commands of a match may say: counts, results, cards, rulings, a match laid out.

Forms alone: whether a match takes them is its own business (controller/match). Lists of
words stand here again because nothing here may import the rules; a test compares them.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta

from controller.cards import side_of
from controller.commands.table_arguments import Args, CutDepth, NameText, SeatName, TextLine
from controller.host.toml_files import Contradiction
from controller.messages import Seat, Side
from controller.words import Words

MAX_TABLE_MS = 1 << 42
"""No table's clock shows more: more than a hundred years (provisional)."""

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
        description="a list of the seats that went out, in turn",
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
        """Return them by seat."""
        return {"N": self.N, "W": self.W, "S": self.S, "E": self.E}


class VerbalArgs(Args, frozen=True, kw_only=True):
    """A decision. `verbal`: a referee enters what the chief, called `by`, said to him."""

    verbal: bool = False
    by: NameText | None = None

    def __post_init__(self) -> None:
        """Refuse a chief's word without his name, and a name without his word."""
        if self.verbal and self.by is None:
            raise Contradiction(
                Words("verbal without by", "写了 verbal 而未写 by"),
                Words("the name of the chief who said it", "作出口头裁定的裁判长姓名"),
            )
        if self.by is not None and not self.verbal:
            raise Contradiction(
                Words("by without verbal", "写了 by 而未写 verbal"),
                Words("verbal=true where the chief said it", "verbal=true（裁判长口头裁定）"),
            )


class VerbalReasonArgs(VerbalArgs, frozen=True, kw_only=True):
    """A decision and its reason, which everybody may read."""

    reason: TextLine


class AnswerArgs(Args, frozen=True, kw_only=True):
    """Big Two: whether `seat` opens his hand, or doubles."""

    seat: SeatName
    yes: bool


class ChooseArgs(Args, frozen=True, kw_only=True):
    """Whose tribute UP takes, of two that count the same (seed 003 R4.5)."""

    payer: SeatName


class PairDetails(Args, frozen=True, kw_only=True):
    """A pair: its number, its name, and who sits where."""

    id: NameText
    name: NameText
    players: Annotated[
        dict[str, NameText],
        Meta(
            description="the two players by seat",
            extra={"zh": "两名选手，按席位"},
            examples=[{"N": "Li Na", "S": "Wu Jun"}],
        ),
    ]


class PairDetailsBySide(Args, frozen=True, kw_only=True):
    """The pairs of both sides."""

    NS: PairDetails
    EW: PairDetails

    def __post_init__(self) -> None:
        """Refuse a player on a seat that is not his side's."""
        for side, pair in (("NS", self.NS), ("EW", self.EW)):
            if not set(pair.players) <= set(side):
                raise Contradiction(
                    Words(f"{side}.players names another seat", f"{side}.players 含有别的席位"),
                    Words(f"{side[0]}, {side[1]}", f"{side[0]}、{side[1]}"),
                )


class SetMatchArgs(Args, frozen=True, kw_only=True):
    """A match of an event: which, of whom, and what its pairs bring from earlier ones.

    `record`: their penalties so far, as the score sheets of their matches have them.
    """

    match_id: Annotated[NameText, Meta(examples=["M1"])]
    event: Annotated[NameText, Meta(examples=["Spring Cup"])]
    round: Annotated[
        int,
        Meta(
            ge=1,
            le=999,
            description="a number of 1 or more",
            extra={"zh": "1或以上的数"},
            examples=[1],
        ),
    ]
    match_no: Annotated[
        int,
        Meta(
            ge=1,
            le=9999,
            description="a number of 1 or more",
            extra={"zh": "1或以上的数"},
            examples=[1],
        ),
    ]
    table_no: Annotated[NameText, Meta(examples=["7"])]
    stage: Literal["swiss", "round_robin", "knockout"]
    pairs: Annotated[
        PairDetailsBySide,
        Meta(
            description="the pairs by side",
            extra={"zh": "双方的选手"},
            examples=[
                {
                    "NS": {"id": "P1", "name": "Plum", "players": {"N": "Li Na", "S": "Wu Jun"}},
                    "EW": {"id": "P2", "name": "Pine", "players": {"W": "He Yu", "E": "Xu Min"}},
                }
            ],
        ),
    ]
    record: Annotated[
        tuple[dict[str, Any], ...],
        Meta(description="a list of penalties", extra={"zh": "判罚的列表"}, examples=[[]]),
    ] = ()


class RecountArgs(VerbalArgs, frozen=True, kw_only=True):
    """Four counts by the referee. `found`: a card that lay elsewhere made them right.

    After a pair's second claim they are the chief's, or entered by his word.
    """

    counts: Annotated[
        CountsForSeats,
        Meta(
            description="four numbers of cards, by seat",
            extra={"zh": "四家的张数，按席位"},
            examples=[{"N": 27, "W": 27, "S": 27, "E": 27}],
        ),
    ]
    found: bool = False


class ResultArgs(Args, frozen=True, kw_only=True):
    """Who went out, in turn: two after a double-down, else three.

    `ended_ms`: when the last card was played, by the table's clock; None: now.
    """

    order: FinishSeats
    ended_ms: TableMs | None = None


class CardsLeftArgs(Args, frozen=True, kw_only=True):
    """Big Two: how many cards each seat has left; one has none."""

    left: Annotated[
        CountsForSeats,
        Meta(
            description="four numbers of cards, by seat",
            extra={"zh": "四家的张数，按席位"},
            examples=[{"N": 0, "W": 3, "S": 7, "E": 1}],
        ),
    ]


class TributeArgs(Args, frozen=True, kw_only=True):
    """The card that `seat` owes; `other`: the other payer's, where two pay and both are due."""

    seat: SeatName
    card: CardName
    other: CardName | None = None


class ReturnArgs(Args, frozen=True, kw_only=True):
    """The card that `seat` gives back."""

    seat: SeatName
    card: CardName


class AntiArgs(Args, frozen=True, kw_only=True):
    """Whether the payers hold both big jokers between them."""

    stands: bool


class ChargeArgs(Args, frozen=True, kw_only=True):
    """A charge, as controller/rules/penalties/charges.py has it; what is not said is not so.

    One of `side` and `seat` must be said; `deal`: None for the present one; `offence_ms`:
    when it happened, None for now.
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
        """Refuse a charge against nobody, and a seat of the other side."""
        if self.side is None and self.seat is None:
            raise Contradiction(
                Words("neither side nor seat is said", "side 与 seat 均未写"),
                Words("one of them", "其中之一"),
            )
        if self.side and self.seat and side_of(self.seat) != self.side:
            raise Contradiction(
                Words(
                    f"seat {self.seat} does not play for {self.side}",
                    f"seat {self.seat} 不属于 {self.side} 一方",
                ),
                Words("one of it", "该方的席位"),
            )


class ProposeArgs(ChargeArgs, frozen=True, kw_only=True):
    """A charge and what it shall lead to; without `penalty` what the ladder says first.

    `id`: what the ruling is called, else R1, R2, …
    """

    penalty: PenaltyName | None = None
    id: RulingId | None = None


class ConfirmVerbalArgs(Args, frozen=True, kw_only=True):
    """What a referee entered as the chief's word: a ruling, or a correction by its row's number."""

    ruling: RulingId | None = None
    correction: RowNumber | None = None

    def __post_init__(self) -> None:
        """Refuse neither and both."""
        if (self.ruling is None) == (self.correction is None):
            raise Contradiction(
                Words(
                    "neither or both of ruling and correction",
                    "ruling 与 correction 均未写或都写了",
                ),
                Words("one of them", "其中之一"),
            )


class ApproveArgs(VerbalArgs, frozen=True, kw_only=True):
    """A ruling; `penalty`: another one than proposed (改判)."""

    ruling: RulingId
    penalty: PenaltyName | None = None


class RejectArgs(VerbalArgs, frozen=True, kw_only=True):
    """A ruling that comes to nothing."""

    ruling: RulingId


class AddTimeArgs(Args, frozen=True, kw_only=True):
    """How much more time the table gets; 0: the referee was asked, and gives none."""

    seconds: Annotated[
        int,
        Meta(
            ge=0,
            le=36_000,
            description="seconds from 0 to 36000",
            extra={"zh": "0至36000的秒数"},
            examples=[120],
        ),
    ]


class AdjustArgs(VerbalReasonArgs, frozen=True, kw_only=True):
    """What the result of `deal` should have been, and what becomes of the later ones."""

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


class CutByHandArgs(Args, frozen=True, kw_only=True):
    """`seat` took `n` cards off the hand-shuffled set; both None: it goes on uncut."""

    seat: SeatName | None = None
    n: CutDepth | None = None

    def __post_init__(self) -> None:
        """Refuse one without the other."""
        if (self.seat is None) != (self.n is None):
            raise Contradiction(
                Words("seat and n go together", "seat 与 n 只写了其一"),
                Words("both or neither", "两者都写或都不写"),
            )


class TurnedUpArgs(Args, frozen=True, kw_only=True):
    """The card that a person turned up."""

    card: CardName


class HandsDealtArgs(Args, frozen=True, kw_only=True):
    """Four right hands were drawn. `turned_to`: who got the card that decides the lead."""

    turned_to: SeatName | None = None
    turned_up: CardName | None = None


class TransferArgs(VerbalArgs, frozen=True, kw_only=True):
    """The table at which the match goes on. `head`: of that table's journal, as its state says."""

    table: Annotated[NameText, Meta(examples=["T02"])]
    head: HashText | None = None


class DocumentArgs(Args, frozen=True, kw_only=True):
    """One part, from 1 on, of the match that went to another table."""

    part: PartNumber = 1


class TakeOverArgs(VerbalArgs, frozen=True, kw_only=True):
    """One part of a match from another table, as `document` gives it there.

    `sig` is that table's signature of the document, `verify` the key that the giver of the order
    knows as that table's. Parts come in any order; with the last that was missing the match is
    here.
    """

    digest: HashText
    verify: HashText
    sig: SignatureText
    part: PartNumber
    parts: PartNumber
    text: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=10_000,
            pattern="^[A-Za-z0-9+/]+={0,2}$",
            description="a part of the document in base64",
            extra={"zh": "转台数据中的一段"},
            examples=["eNq"],
        ),
    ]

    def __post_init__(self) -> None:
        """Refuse a part behind the last."""
        if self.part > self.parts:
            raise Contradiction(
                Words(
                    f"part {self.part} of {self.parts}", f"part 为第{self.part}段，共{self.parts}段"
                ),
                Words("one of them", "其中一段"),
            )


class SignArgs(Args, frozen=True, kw_only=True):
    """As what `person` signs the score sheet, and the version of it that he has seen."""

    signer: Literal["NS", "EW", "N", "W", "S", "E", "referee"]
    person: NameText
    version: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="the version of the sheet, 1 or more",
                extra={"zh": "记分表的版本号，从1起"},
            ),
        ]
        | None
    ) = None


class ForfeitArgs(Args, frozen=True, kw_only=True):
    """Which side loses the match, why, and by which offence (弃权判负)."""

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
    """A decision that nobody has made: its command, and what that would say.

    `propose`: what its ruling does once it is in force.
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
