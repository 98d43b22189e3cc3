"""Score sheets of matches that were played, and a console that has them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from controller.commands.registry import refusal_reply
from controller.console.console import RefereeConsole
from controller.console.store.archive import Archive, StoredEvent
from controller.machine.public.score_sheet import sheet_data
from controller.match import match_events
from controller.messages import ClientCommand, CommandReply, PublicEvent, PublicState
from controller.sheet.form import ScoreSheet
from tests.console.fake import Scripted, ScriptedLine, fake
from tests.console.states import state
from tests.match.table import Table, from_level

TABLE = "T10"
HEAD = "ab" * 32
MADE_UP = "ef" * 32


def played() -> Table:
    """A match with all that a sheet can show, to its last deal."""
    table = (
        Table(from_level("8")).started().cut().happens(match_events.AttemptFailed, reasons=("JAM",))
    )
    table.played("NS").valued(16, 14).returned(5, 9).out("WNE")
    table.does(match_events.ResultConfirmed, by="NS").does(match_events.ResultConfirmed, by="EW")
    table.ruled("EW", "violation").corrected(2, "WNS")
    table.ruled("EW", "foul").named("N")
    table.does(match_events.HandDealOrdered, reason="jammed").played("WNE")
    table.counted().does(match_events.AntiTributeAnswered, stands=True).out("ENW")
    return table.does(match_events.ResultConfirmed, by="referee").played("NS", "NS")


def long(deals: int = 20) -> Table:
    """A match of many deals: nobody passes A."""
    table = Table().started()
    for number in range(deals):
        table.played("NWE" if number % 2 else "WNS")
    return table


def a_sheet(table: Table, name: str = TABLE, **changes: Any) -> ScoreSheet:
    """Return the sheet of a match as a table sends it."""
    raw = sheet_data(table.state, table=name, head=HEAD)
    for at in ("start", "end"):
        hour = None if raw[f"{at}_ms"] is None else 14 + raw[f"{at}_ms"] // 3_600_000
        raw[f"{at}_at"] = hour and f"2027-01-01T{hour:02}:00:00+08:00"
    return msgspec.json.decode(msgspec.json.encode(raw | changes), type=ScoreSheet)


def shown_as(of: ScoreSheet) -> PublicState:
    """Return the state of a table whose match has this sheet."""
    pairs = {side: msgspec.to_builtins(pair) for side, pair in of.pairs.items()}
    unsigned = [one.signer for one in of.signatures if one.person is None]
    signed = [{"signer": one.signer, "person": one.person} for one in of.signatures if one.person]
    verdict = None if of.verdict is None else msgspec.to_builtins(of.verdict)
    return state(
        table=of.table,
        match={
            "match": of.match,
            "event": of.event,
            "round": of.round,
            "match_no": of.match_no,
            "table_no": of.table_no,
            "stage": of.stage,
            "pairs": pairs,
            "start_ms": of.start_ms,
            "verdict": verdict,
            "version": of.version,
            "signed": signed,
            "signers": unsigned,
            "phase": "over" if unsigned else "signed",
            "levels": of.levels,
        },
    )


class Signing(Scripted):
    """The twelve tables; one of them has a sheet, which can be signed."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self.table = table
        self.tell_state()

    @property
    def sheet(self) -> ScoreSheet:
        """The sheet as it stands."""
        return a_sheet(self.table)

    def tell_state(self) -> None:
        """Let the table publish its state."""
        self.say(TABLE, shown_as(self.sheet))


class SigningLine(ScriptedLine):
    """What answers for the table with the sheet; `away`: nothing does."""

    def __init__(self, tables: Signing, table: str) -> None:
        super().__init__(tables, table)
        self._signing, self._name = tables, table

    async def send(self, command: ClientCommand) -> CommandReply:
        """Answer as the table would."""
        if self._name == TABLE and command.cmd == "sheet":
            raw = msgspec.to_builtins(self._signing.sheet)
            return CommandReply(id=command.id, ok=True, result=raw)
        if self._name == TABLE and command.cmd == "sign":
            args = command.args
            self._signing.table.happens(
                match_events.SheetSigned, signer=args["signer"], person=args["person"]
            )
            refused = self._signing.table.refused
            if refused is not None:
                return refusal_reply(command.id, refused, signer=args["signer"])
            self._signing.tell_state()
        return await super().send(command)


@asynccontextmanager
async def standing_with(
    folder: Path, table: Table
) -> AsyncIterator[tuple[RefereeConsole, Signing]]:
    """Give a console that was started, over a table whose match has a sheet."""
    tables = Signing(table)
    console = console_with(folder, tables)
    await console.start()
    try:
        yield console, tables
    finally:
        await console.close()
        console.engine.dispose()


def console_with(folder: Path, tables: Signing, port: int = 0) -> RefereeConsole:
    """Return a console with a table that has a sheet, and what keeps it."""
    console = fake(folder, port, tables)
    console.dispatcher._client_for = lambda table, role: SigningLine(tables, table)
    return console


def archived(console: RefereeConsole, rows: list[dict[str, Any]]) -> None:
    """Put events into the console's archive."""
    told = [msgspec.convert(row, PublicEvent) for row in rows]
    Archive(console.engine).keep([StoredEvent(event, msgspec.json.encode(event)) for event in told])
