"""Log of people's commands and their results in the console's database."""

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
    """A command as a person's browser sends it to the console.

    `deal` and `attempt` are those that the person's page showed.
    """

    id: CommandId
    cmd: str
    args: dict[str, Any] = {}
    deal: int | None = None
    attempt: int | None = None


class CommandStatusView(msgspec.Struct, frozen=True, kw_only=True):
    """One command and its status, as a table's page shows it.

    `seen` is the number of the public entry that reports the execution, or None before the feed
    has brought that entry.
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
    """The result of a command: the table's reply, or the reason why there is no reply.

    Without a reply, it is unknown whether the table executed the command.
    """

    reply: CommandReply | None = None
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the result in the JSON form that the pages read."""
        return {"unknown": True, "why": self.why} if self.reply is None else {"reply": self.reply}


class LoggedCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A signed command, and the table's reply to it if there is one.

    If `reply` is None, it is unknown whether the command was executed. `at_ms` is the time of the
    command, by the console's clock.
    """

    table: str
    person: str
    role: Role
    at_ms: int
    command: ClientCommand
    reply: CommandReply | None = None


class CommandLog:
    """The stored log of all commands of a console. Every call is one transaction, and may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, command_id: str) -> LoggedCommand | None:
        """Return the logged command that has this id, or None if there is none."""
        with self._engine.connect() as base:
            row = base.execute(
                select(COMMAND_LOG).where(COMMAND_LOG.c.id == command_id)
            ).one_or_none()
        return None if row is None else _logged_command(row)

    def write(self, logged: LoggedCommand) -> None:
        """Store a new command in the log, on the disk. The caller sends it only after that."""
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
        """Store a table's reply to a command in the log. Sealed parts stay sealed."""
        body = msgspec.json.encode(reply)
        with self._engine.begin() as base:
            base.execute(
                update(COMMAND_LOG).where(COMMAND_LOG.c.id == command_id).values(reply=body)
            )

    def newest(self, table: str, limit: int) -> list[LoggedCommand]:
        """Return the newest commands of a table, at most `limit`, the newest first."""
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
