"""Commands, replies, and the base class of all messages."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Seat = Literal["N", "W", "S", "E"]

Side = Literal["NS", "EW"]

_FORBIDDEN_IN_NAMES = (
    r"\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff()\uff08\uff09"
)
"""Characters that a person's name must not contain: invisible characters, and the brackets that are
put around the name of the person's key.
"""

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
"""The name of the person who gives a command, if several people share one key."""


class Role(StrEnum):
    """The role with which a client's key is admitted."""

    OBSERVER = "observer"
    TABLE = "table"
    REFEREE = "referee"
    CHIEF = "chief"
    TECHNICIAN = "technician"


class Message(msgspec.Struct, frozen=True, gc=False):
    """The base class of all values that are sent through a socket."""


class ClientCommand(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A command that a client sends to a table.

    `key` and `sig` (hex, Ed25519) are required if the command changes anything. `deal` and
    `attempt` are the numbers of the present deal and attempt, as the sender last saw them. They are
    null in commands that do not concern a deal. `boot` is the run of the table's daemon for which
    the command is meant, as the sender last saw it in a state. A signed command is valid only in
    that run. `person` is the person who gives the command at the console that holds the key. It is
    null if the person is not given.
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
    """The reason why a command was refused: a fault of the catalogue, with its cause and action.

    `message` is the cause. A table of an older version sends "" for the Chinese texts. `found` is
    the value that the message names, as data. It is null if the message names no value, or more
    than one.
    """

    code: str
    message: str
    action: str
    message_zh: str = ""
    action_zh: str = ""
    found: str | None = None


class Offer(Message, frozen=True, kw_only=True):
    """One command that the answer to `offers` lists, and whether the table would accept it now.

    The answer lists only commands that change something. The table would accept the command if
    `refused` is null. Otherwise `refused` is the refusal that it would answer. Three things are not
    checked: the state of a board (an open lid, cards in the hopper), the rights of a particular
    key, and whether a card or a count is right. `seats` are the seats that the command could name
    now. It is null if the command names no seat. `seatless` is true if the command could be given
    without a seat. It is null if a seat is required, or if the command names no seat. `by_word` is
    true if a referee could give the command only as the oral decision of the chief (`verbal`,
    `by`).
    """

    cmd: str
    seats: list[Seat] | None = None
    seatless: bool | None = None
    by_word: bool = False
    refused: Failure | None = None


class CommandReply(Message, frozen=True, kw_only=True):
    """The answer to the command that has the same `id`."""

    id: str
    ok: bool
    result: dict[str, Any] | None = None
    error: Failure | None = None
