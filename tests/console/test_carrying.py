"""A match that the console carries to another table: every step once, and again where it broke."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nacl.signing import SigningKey
from sqlalchemy import Engine

from controller.client.client import NoAnswer
from controller.commands.registry import refusal_reply
from controller.console.accounts.account_store import Account
from controller.console.commands.command_dispatcher import CommandDispatcher
from controller.console.commands.command_log import CommandLog
from controller.console.commands.match_transfer import (
    MatchTransfer,
    TransferProgress,
    TransferRequest,
)
from controller.console.request_error import RequestError
from controller.console.store.archive import Archive, StoredEvent
from controller.keys.table_keys import create_client_keys
from controller.messages import ClientCommand, CommandReply, Role
from controller.signing import signed_commands
from tests.console.fake import Scripted, an_event, now

pytestmark = pytest.mark.virtual

CHEN = Account(name="Chen", role=Role.CHIEF)
LI = Account(name="Li Na", role=Role.REFEREE)
FROM, TO, OTHER = "T02", "T11", "T08"
SEED = bytes(range(32))
VERIFY = bytes(SigningKey(SEED).verify_key).hex()
DIGEST = "ab" * 32
GO = TransferRequest(id="carry-0001", to=TO)


class Wire:
    """The tables behind the wire: the match leaves `FROM` in two parts, and is taken by parts."""

    def __init__(self, archive: Archive) -> None:
        self.sent: list[tuple[str, ClientCommand]] = []
        self.archive, self._numbers = archive, count(1)
        self.sig = signed_commands.sign_document(DIGEST, SEED)
        self.to = ""
        self.refuses: set[str] = set()
        self.silent: set[str] = set()

    def said(self, cmd: str) -> list[str]:
        """Return the tables that were told a command, in turn."""
        return [table for table, command in self.sent if command.cmd == cmd]

    def answer(self, table: str, command: ClientCommand) -> CommandReply:
        """Do what is ordered, unless it is refused; say nothing where that is wanted."""
        self.sent.append((table, command))
        if command.cmd in self.refuses:
            return refusal_reply(command.id, "MACHINE_BUSY")
        reply = CommandReply(id=command.id, ok=True, result=self._did(table, command))
        if command.cmd in self.silent:
            self.silent.discard(command.cmd)
            raise NoAnswer("no answer in 8 s")
        return reply

    def _did(self, table: str, command: ClientCommand) -> dict[str, Any]:
        args = command.args
        if command.cmd == "transfer":
            self.to = args["table"]
            self._tell(table, "transferred", match="M1", to=self.to)
            return {"match": "M1", "to": self.to, "digest": DIGEST, "parts": 2}
        if command.cmd == "document":
            said = {"match": "M1", "to": self.to, "digest": DIGEST, "sig": self.sig, "parts": 2}
            return said | {"part": args["part"], "text": "eNq"}
        if args["part"] == 1:
            return {"missing": [2]}
        return {"match": "M1", "deal": 2, "phase": "play"}

    def _tell(self, table: str, kind: str, **data: Any) -> None:
        event = an_event(table, next(self._numbers), kind, data)
        self.archive.keep([StoredEvent(event, msgspec.json.encode(event))])


class Line:
    """The wire to one table."""

    def __init__(self, wire: Wire, table: str) -> None:
        self.wire, self.table = wire, table

    async def send(self, command: ClientCommand) -> CommandReply:
        return self.wire.answer(self.table, command)


@pytest.fixture
def wire(engine: Engine) -> Wire:
    """Two tables and a match."""
    return Wire(Archive(engine))


@pytest.fixture
def carrier(engine: Engine, wire: Wire, tmp_path: Path) -> Callable[..., MatchTransfer]:
    """Open a console's carrier; `verify`: how the first table signs, as the console knows it."""
    for role in Role:
        create_client_keys(tmp_path, role.value, role)
    tables, numbers = Scripted(), count(1)
    waits = tables.snapshot(OTHER).state
    assert waits is not None
    players_come = msgspec.structs.replace(waits.match, phase="setup")
    tables.say(OTHER, msgspec.structs.replace(waits, match=players_come))
    desk = CommandDispatcher(
        tables,
        CommandLog(engine),
        now,
        lambda table, role: Line(wire, table),
        table_key_of=lambda table: "k" * 40,
        key_folder_of=lambda table: tmp_path / "clients",
        new_id=lambda: f"own-{next(numbers)}",
        now_ms=lambda: next(numbers),
    )

    def made(verify: str | None = VERIFY) -> MatchTransfer:
        return MatchTransfer(
            tables, desk, CommandLog(engine), wire.archive, now, lambda table: verify, lambda: 0
        )

    return made


def fates(carried: TransferProgress) -> list[tuple[str, str, str]]:
    """Return each step, its table, and its fate."""
    return [(one.step, one.table, one.fate) for one in carried.steps]


DONE = [
    ("transfer", FROM, "done"),
    ("document", FROM, "done"),
    ("take_over", TO, "done"),
    ("take_over", TO, "done"),
]


async def test_a_match_leaves_is_fetched_and_taken_in_all_its_parts(
    carrier: Callable[..., MatchTransfer], wire: Wire
) -> None:
    carried = await carrier().transfer(CHEN, FROM, GO)
    assert (carried.done, carried.match, fates(carried)) == (True, "M1", DONE)
    leaves = next(command for table, command in wire.sent if command.cmd == "transfer")
    assert (leaves.args["table"], leaves.person) == (TO, "Chen")
    taken = [command.args for _, command in wire.sent if command.cmd == "take_over"]
    assert [(one["part"], one["verify"]) for one in taken] == [(1, VERIFY), (2, VERIFY)]


async def test_a_referee_enters_the_chiefs_word_at_both_tables(
    carrier: Callable[..., MatchTransfer], wire: Wire
) -> None:
    await carrier().transfer(LI, FROM, msgspec.structs.replace(GO, by="Chen"))
    words = [command.args for _, command in wire.sent if command.cmd != "document"]
    assert all((one["verbal"], one["by"]) == (True, "Chen") for one in words)


async def test_without_the_tables_key_nothing_is_ordered(
    carrier: Callable[..., MatchTransfer], wire: Wire
) -> None:
    with pytest.raises(RequestError, match="the signing key of table T02 is missing"):
        await carrier(None).transfer(CHEN, FROM, GO)
    assert wire.sent == []


@pytest.mark.parametrize("to", [FROM, "T99"])
async def test_it_goes_to_another_table_of_this_console_only(
    carrier: Callable[..., MatchTransfer], wire: Wire, to: str
) -> None:
    with pytest.raises(RequestError, match="there is no other table"):
        await carrier().transfer(CHEN, FROM, msgspec.structs.replace(GO, to=to))
    assert wire.sent == []


async def test_what_another_key_signed_is_handed_to_no_table(
    carrier: Callable[..., MatchTransfer], wire: Wire
) -> None:
    wire.sig = signed_commands.sign_document(DIGEST, bytes(32))
    carried = await carrier().transfer(CHEN, FROM, GO)
    assert not carried.done
    assert fates(carried)[-1] == ("document", FROM, "refused")
    assert "not signed by that table" in carried.steps[-1].en
    assert wire.said("take_over") == []


async def test_what_the_other_table_refused_is_tried_again_without_leaving_twice(
    carrier: Callable[..., MatchTransfer], wire: Wire
) -> None:
    wire.refuses = {"take_over"}
    carried = await carrier().transfer(CHEN, FROM, GO)
    assert fates(carried)[-1] == ("take_over", TO, "refused")
    assert carried.steps[-1].zh
    wire.refuses = set()
    again = await carrier().transfer(CHEN, FROM, msgspec.structs.replace(GO, id="carry-0002"))
    assert (again.done, fates(again)) == (True, DONE)
    assert wire.said("transfer") == [FROM]


async def test_what_is_not_known_is_asked_for_by_the_same_order(
    carrier: Callable[..., MatchTransfer], wire: Wire
) -> None:
    wire.silent = {"take_over"}
    carried = await carrier().transfer(CHEN, FROM, GO)
    assert fates(carried)[-1] == ("take_over", TO, "unknown")
    again = await carrier().transfer(CHEN, FROM, GO)
    assert again.done
    ids = [command.id for _, command in wire.sent if command.cmd == "take_over"]
    assert ids == ["carry-0001-1", "carry-0001-1", "carry-0001-2"]
    assert wire.said("transfer") == [FROM]


async def test_a_match_on_its_way_may_go_to_yet_another_table(
    carrier: Callable[..., MatchTransfer], wire: Wire
) -> None:
    wire.refuses = {"take_over"}
    await carrier().transfer(CHEN, FROM, GO)
    wire.refuses = set()
    other = msgspec.structs.replace(GO, id="carry-0002", to=OTHER)
    assert (await carrier().transfer(CHEN, FROM, other)).done
    assert wire.said("transfer") == [FROM, FROM]


async def test_a_page_is_told_what_is_on_its_way_and_from_where(
    carrier: Callable[..., MatchTransfer], wire: Wire
) -> None:
    assert (await carrier().find_options(FROM)).left is None
    wire.refuses = {"take_over"}
    await carrier().transfer(CHEN, FROM, GO)
    left = (await carrier().find_options(FROM)).left
    assert left is not None
    assert (left.match, left.to) == ("M1", TO)


async def test_the_other_table_is_told_from_where_a_match_comes(
    carrier: Callable[..., MatchTransfer], wire: Wire
) -> None:
    wire.refuses = {"take_over"}
    await carrier().transfer(CHEN, OTHER, GO)  # its players were still coming: it is free by now
    about = await carrier().find_options(TO)
    assert [(one.table, one.en) for one in about.incoming] == [(OTHER, "match M1")]
    assert about.left is None
