"""What a person orders, and what became of it, as his page says and shows it."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from controller.messages import CommandReply, Failure, Role

CommandStatus = Literal["sent", "done", "refused", "unknown"]

CommandId = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9_.-]{8,60}$", description="8 to 60 letters, digits, _ . -")
]


class ConsoleCommandRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person orders. `deal` and `attempt`: what he had before his eyes."""

    id: CommandId
    cmd: str
    args: dict[str, Any] = {}
    deal: int | None = None
    attempt: int | None = None


class CommandStatusView(msgspec.Struct, frozen=True, kw_only=True):
    """One order and its fate, as a table's page shows it.

    `seen`: the number of the public entry that says it was carried out, once the feed brought it.
    """

    id: str
    cmd: str
    person: str
    role: Role
    at_ms: int
    fate: CommandStatus
    seen: int | None = None
    error: Failure | None = None


class CommandResult(msgspec.Struct, frozen=True):
    """What a table answered; None: it is not known whether the order acted."""

    reply: CommandReply | None = None
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as the page has it."""
        return {"unknown": True, "why": self.why} if self.reply is None else {"reply": self.reply}
