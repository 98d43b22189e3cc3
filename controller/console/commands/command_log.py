"""What a person orders, and what became of it, as his page says and shows it."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from sqlalchemy import Engine, Row, insert, select, update

from controller.console.store.database_schema import COMMAND_LOG
from controller.messages import ClientCommand, CommandReply, Failure, Role

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


class LoggedCommand(msgspec.Struct, frozen=True, kw_only=True):
    """An order as it was signed, and its answer; None: it is not known whether it acted.

    `at_ms`: when it was given, by the console's clock.
    """

    table: str
    person: str
    role: Role
    at_ms: int
    command: ClientCommand
    reply: CommandReply | None = None


class CommandLog:
    """All orders of a console. Every call is one transaction, and may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, command_id: str) -> LoggedCommand | None:
        """Return the order of an id; None where it was never given."""
        with self._engine.connect() as base:
            row = base.execute(
                select(COMMAND_LOG).where(COMMAND_LOG.c.id == command_id)
            ).one_or_none()
        return None if row is None else _logged_command(row)

    def write(self, logged: LoggedCommand) -> None:
        """Write an order down, durably, before it is sent; its id must be new."""
        row = {
            "id": logged.command.id,
            "table_id": logged.table,
            "person": logged.person,
            "role": logged.role.value,
            "at_ms": logged.at_ms,
            "command": msgspec.json.encode(logged.command),
        }
        with self._engine.begin() as base:
            base.execute(insert(COMMAND_LOG).values(row))

    def write_reply(self, command_id: str, reply: CommandReply) -> None:
        """Keep what a table answered, as it came: what is sealed stays so."""
        body = msgspec.json.encode(reply)
        with self._engine.begin() as base:
            base.execute(
                update(COMMAND_LOG).where(COMMAND_LOG.c.id == command_id).values(reply=body)
            )

    def newest(self, table: str, limit: int) -> list[LoggedCommand]:
        """Return the newest orders of a table, the newest first."""
        newest = (
            select(COMMAND_LOG)
            .where(COMMAND_LOG.c.table_id == table)
            .order_by(COMMAND_LOG.c.at_ms.desc(), COMMAND_LOG.c.id)
            .limit(limit)
        )
        with self._engine.connect() as base:
            return [_logged_command(row) for row in base.execute(newest)]


def _logged_command(row: Row[Any]) -> LoggedCommand:
    return LoggedCommand(
        table=row.table_id,
        person=row.person,
        role=Role(row.role),
        at_ms=row.at_ms,
        command=_COMMAND_DECODER.decode(row.command),
        reply=None if row.reply is None else _REPLY_DECODER.decode(row.reply),
    )


_COMMAND_DECODER: Final = msgspec.json.Decoder(ClientCommand)
_REPLY_DECODER: Final = msgspec.json.Decoder(CommandReply)
