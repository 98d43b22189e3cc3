"""Commands and replies, and what every message is."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Seat = Literal["N", "W", "S", "E"]


Side = Literal["NS", "EW"]


_FORBIDDEN_IN_NAMES = (
    r"\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff()\uff08\uff09"
)
"""What is in no person's name: what nobody sees, and the brackets that stand around his key's."""


PersonName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=40,
        pattern=rf"^[^{_FORBIDDEN_IN_NAMES}\s](?:[^{_FORBIDDEN_IN_NAMES}]*[^{_FORBIDDEN_IN_NAMES}\s])?$",
        description="a person's name, 1 to 40 printable characters without brackets",
        examples=["Li Na"],
    ),
]
"""Who gives an order, where several people have one key."""


class Role(StrEnum):
    """What a client's key is admitted as."""

    OBSERVER = "observer"
    TABLE = "table"
    REFEREE = "referee"
    CHIEF = "chief"
    TECHNICIAN = "technician"


class Message(msgspec.Struct, frozen=True, gc=False):
    """A value that crosses a socket."""


class ClientCommand(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a client asks. `key` and `sig` (hex, Ed25519) stand on all that change anything.

    `deal` and `attempt` name what the sender believes to be present; null in
    commands that concern none. `boot`: the run of the table's daemon that the order is for, as the
    sender last saw it in a state; what is signed acts in that run alone. `person`: who gives it,
    at the console that holds the key; null where that is not said.
    """

    id: str
    cmd: str
    deal: int | None = None
    attempt: int | None = None
    boot: str | None = None
    person: PersonName | None = None
    args: dict[str, Any] = msgspec.field(default_factory=dict)
    key: str | None = None
    sig: str | None = None


class Failure(Message, frozen=True, kw_only=True):
    """Why a command was refused: a name of the fault catalogue, and what to do, in both languages.

    The Chinese is "" from a table of an older version. `found`: the value that the words name, as
    data; null where they name none, or more than one value.
    """

    code: str
    message: str
    action: str
    message_zh: str = ""
    action_zh: str = ""
    found: str | None = None


class Offer(Message, frozen=True, kw_only=True):
    """Whether a command that changes something could be given now, as `offers` answers.

    It could where `refused` is null; else that is what would be answered. What only a board can
    say (a lid that is open, cards in the hopper) is not asked, nor what only a key decides, nor
    whether a card or a count is right. `seats`: those that it could name now; null where it names
    none. `seatless`: whether it could be given without one; null where it must name one, or names
    none. `by_word`: a referee could give it as the word of the chief alone (`verbal`, `by`).
    """

    cmd: str
    seats: list[Seat] | None = None
    seatless: bool | None = None
    by_word: bool = False
    refused: Failure | None = None


class CommandReply(Message, frozen=True, kw_only=True):
    """The answer to the command of the same `id`."""

    id: str
    ok: bool
    result: dict[str, Any] | None = None
    error: Failure | None = None
