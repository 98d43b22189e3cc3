"""Arguments of the match commands: counts, results, cards, transfers and the match setup.

These types check only the form of the arguments. The match checks whether a command is allowed
(controller/match). This module must not import the rules, so it repeats some lists of names. A test
compares both copies.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta

from controller.commands.argument_values import (
    Args,
    CardName,
    CountsForSeats,
    CutDepth,
    FinishSeats,
    HashText,
    NameText,
    PartNumber,
    SeatName,
    SignatureText,
    TableMs,
    VerbalArgs,
    described,
)
from controller.host.toml_files import Contradiction
from controller.words import Words


class AnswerArgs(Args, frozen=True, kw_only=True):
    """A player's yes or no in the card game Big Two: to show their hand, or to double the score."""

    seat: SeatName
    yes: bool


class ChooseArgs(Args, frozen=True, kw_only=True):
    """If two tributes are equal: the payer of the card that UP (上游, the first finisher) takes.

    Source: seed 003 R4.5.
    """

    payer: SeatName


class PairDetails(Args, frozen=True, kw_only=True):
    """A pair: its id, its name, and the player at each seat."""

    id: NameText
    name: NameText
    players: Annotated[
        dict[str, NameText],
        described("the two players by seat", "两名选手，按席位", {"N": "Li Na", "S": "Wu Jun"}),
    ]


class PairDetailsBySide(Args, frozen=True, kw_only=True):
    """The pairs of both sides."""

    NS: PairDetails
    EW: PairDetails

    def __post_init__(self) -> None:
        """Refuse a pair that has a player at a seat of the other side."""
        for side, pair in (("NS", self.NS), ("EW", self.EW)):
            if not set(pair.players) <= set(side):
                raise Contradiction(
                    Words(f"{side}.players names another seat", f"{side}.players 含有别的席位"),
                    Words(f"{side[0]}, {side[1]}", f"{side[0]}、{side[1]}"),
                )


class SetMatchArgs(Args, frozen=True, kw_only=True):
    """A match of a tournament: its number, its pairs, and their earlier penalties.

    `record` has the pairs' earlier penalties, as in the score sheets of their matches.
    """

    match_id: Annotated[NameText, Meta(examples=["M1"])]
    event: Annotated[NameText, Meta(examples=["Spring Cup"])]
    round: Annotated[int, described("a number of 1 or more", "1或以上的数", 1, ge=1, le=999)]
    match_no: Annotated[int, described("a number of 1 or more", "1或以上的数", 1, ge=1, le=9999)]
    table_no: Annotated[NameText, Meta(examples=["7"])]
    stage: Literal["swiss", "round_robin", "knockout"]
    pairs: Annotated[
        PairDetailsBySide,
        described(
            "the pairs by side",
            "双方的选手",
            {
                "NS": {"id": "P1", "name": "Plum", "players": {"N": "Li Na", "S": "Wu Jun"}},
                "EW": {"id": "P2", "name": "Pine", "players": {"W": "He Yu", "E": "Xu Min"}},
            },
        ),
    ]
    record: Annotated[
        tuple[dict[str, Any], ...], described("a list of penalties", "判罚的列表", [])
    ] = ()


CardCounts = Annotated[
    CountsForSeats,
    described(
        "four numbers of cards, by seat", "四家的张数，按席位", {"N": 27, "W": 27, "S": 27, "E": 27}
    ),
]


class RecountArgs(VerbalArgs, frozen=True, kw_only=True):
    """The number of cards in each hand, as the referee counted them.

    `found` is true if a card was found elsewhere and makes the counts right. After a pair's second
    claim the chief enters the counts, or a referee enters them as a verbal decision of the chief.
    """

    counts: CardCounts
    found: bool = False


class ResultArgs(Args, frozen=True, kw_only=True):
    """The seats in the order in which they played their last card.

    These are two seats if partners were first, otherwise three. `ended_ms` is the time of the last
    card by the table's clock; None means now.
    """

    order: FinishSeats
    ended_ms: TableMs | None = None


class CardsLeftArgs(Args, frozen=True, kw_only=True):
    """The number of cards that each seat still has at the end of a deal of Big Two."""

    left: Annotated[CardCounts, Meta(examples=[{"N": 0, "W": 3, "S": 7, "E": 1}])]


class TributeArgs(Args, frozen=True, kw_only=True):
    """The card that the player at `seat` lays as tribute.

    `other` is the other payer's card, if two players pay and the command has both cards.
    """

    seat: SeatName
    card: CardName
    other: CardName | None = None


class ReturnArgs(Args, frozen=True, kw_only=True):
    """The card that the player at `seat` gives in return for a tribute."""

    seat: SeatName
    card: CardName


class AntiArgs(Args, frozen=True, kw_only=True):
    """In a deal by hand, whether the payers of tribute have both big jokers (`stands`)."""

    stands: bool


class AddTimeArgs(Args, frozen=True, kw_only=True):
    """The additional time for the table. 0 means that a referee decided to give no time."""

    seconds: Annotated[
        int, described("seconds from 0 to 36000", "0至36000的秒数", 120, ge=0, le=36_000)
    ]


class CutByHandArgs(Args, frozen=True, kw_only=True):
    """In a deal by hand, the seat that cut the set, and the number `n` of cards that were cut off.

    If both are None, the deal has no cut.
    """

    seat: SeatName | None = None
    n: CutDepth | None = None

    def __post_init__(self) -> None:
        """Refuse `seat` without `n`, and refuse `n` without `seat`."""
        if (self.seat is None) != (self.n is None):
            raise Contradiction(
                Words("seat and n go together", "seat 与 n 只写了其一"),
                Words("both or neither", "两者都写或都不写"),
            )


class TurnedUpArgs(Args, frozen=True, kw_only=True):
    """The card that was turned up before the players draw their hands, in a deal by hand."""

    card: CardName


class HandsDealtArgs(Args, frozen=True, kw_only=True):
    """A report that the players drew four correct hands, in a deal by hand.

    `turned_to` is the seat that got the card that decides the lead. `turned_up` is that card.
    """

    turned_to: SeatName | None = None
    turned_up: CardName | None = None


class TransferArgs(VerbalArgs, frozen=True, kw_only=True):
    """The table to which the match is transferred.

    `head` is the hash of that table's last journal entry.
    """

    table: Annotated[NameText, Meta(examples=["T02"])]
    head: HashText | None = None


class DocumentArgs(Args, frozen=True, kw_only=True):
    """The number (from 1) of one part of the data of a match that this table transferred."""

    part: PartNumber = 1


class TakeOverArgs(VerbalArgs, frozen=True, kw_only=True):
    """One part of a match from another table, as that table returned it for the command `document`.

    `sig` is that table's signature of the whole data. `verify` is that table's key, as the person
    who gives the command has it. Parts can come in any order. After the last missing part, this
    table has the match.
    """

    digest: HashText
    verify: HashText
    sig: SignatureText
    part: PartNumber
    parts: PartNumber
    text: Annotated[
        str,
        described(
            "a part of the document in base64",
            "转台数据中的一段",
            "eNq",
            min_length=1,
            max_length=10_000,
            pattern="^[A-Za-z0-9+/]+={0,2}$",
        ),
    ]

    def __post_init__(self) -> None:
        """Refuse a part number above the number of parts."""
        if self.part > self.parts:
            raise Contradiction(
                Words(
                    f"part {self.part} of {self.parts}", f"part 为第{self.part}段，共{self.parts}段"
                ),
                Words("one of them", "其中一段"),
            )


class SignArgs(Args, frozen=True, kw_only=True):
    """The person who signs the score sheet, their role, and the version of the sheet they saw."""

    signer: Literal["NS", "EW", "N", "W", "S", "E", "referee"]
    person: NameText
    version: (
        Annotated[
            int, described("the version of the sheet, 1 or more", "记分表的版本号，从1起", ge=1)
        ]
        | None
    ) = None
