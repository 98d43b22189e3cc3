"""The console's desk: written before it is sent, never twice by itself, its fate always told."""

import asyncio
import base64
from collections.abc import Callable
from itertools import count
from pathlib import Path

import msgspec
import pytest
from nacl.public import PublicKey, SealedBox
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from controller.client.client import NoAnswer
from controller.commands.registry import refusal_reply
from controller.console.accounts.account_store import Account
from controller.console.commands.area_actions import AreaActionLog, AreaActions, LoggedAreaAction
from controller.console.commands.command_dispatcher import CommandDispatcher
from controller.console.commands.command_log import (
    CommandLog,
    CommandResult,
    CommandStatusView,
    ConsoleCommandRequest,
)
from controller.console.request_error import RequestError
from controller.console.store.archive import Archive, StoredEvent
from controller.console.store.database import StoreError
from controller.keys.table_keys import create_client_keys
from controller.messages import ClientCommand, CommandReply, PublicEvent, Role
from controller.roster import read_certificate
from controller.signing import signed_commands
from tests.console.fake import Scripted, an_event, now

pytestmark = pytest.mark.virtual

TABLE_KEY = "k" * 40
LI = Account(name="Li Na", role=Role.REFEREE)
WU = Account(name="Wu Jun", role=Role.REFEREE)
CHEN = Account(name="Chen", role=Role.CHIEF)
HOLD = ConsoleCommandRequest(id="order-0001", cmd="hold", args={"reason": "smoke"})
OPEN = ConsoleCommandRequest(
    id="order-0002", cmd="open_hand", args={"seat": "N", "reason": "claim"}
)
ACT = LoggedAreaAction(
    id="act-0001",
    area="A",
    act="hold",
    cmd="hold",
    person="Chen",
    at_ms=1,
    orders={"T01": "act-0001-T01", "T02": "act-0001-T02"},
)


class Wire:
    """A table behind the wire. `says` answers; whatever it is sent stands in `sent`."""

    def __init__(self) -> None:
        self.sent: list[ClientCommand] = []
        self.says: Callable[[ClientCommand], CommandReply] = lambda command: CommandReply(
            id=command.id, ok=True, result={"phase": "play"}
        )
        self.takes_s = 0.0
        self.before: Callable[[], None] = lambda: None

    async def send(self, command: ClientCommand) -> CommandReply:
        self.before()
        self.sent.append(command)
        await asyncio.sleep(self.takes_s)
        return self.says(command)


def silent(command: ClientCommand) -> CommandReply:
    raise NoAnswer("no answer in 8 s")


def all_kept(folder: Path) -> bytes:
    """Return every byte of a console's database."""
    return b"".join(file.read_bytes() for file in folder.glob("console.db*"))


@pytest.fixture
def wire() -> Wire:
    """A table that does what it is told."""
    return Wire()


@pytest.fixture
def tables() -> Scripted:
    """Twelve tables that stand still."""
    return Scripted()


@pytest.fixture
def new_desk(
    engine: Engine, wire: Wire, tables: Scripted, tmp_path: Path
) -> Callable[[], CommandDispatcher]:
    """Open a desk over what was kept, as a console's start does."""
    for role in Role:
        create_client_keys(tmp_path, role.value, role)
    numbers = count(1)
    return lambda: CommandDispatcher(
        tables,
        CommandLog(engine),
        now,
        lambda table, role: wire,
        table_key_of=lambda table: TABLE_KEY,
        key_folder_of=lambda table: tmp_path / "clients",
        new_id=lambda: f"own-{next(numbers)}",
        now_ms=lambda: next(numbers),
        find_archived=Archive(engine).find_executed,
    )


@pytest.fixture
def desk(new_desk: Callable[[], CommandDispatcher]) -> CommandDispatcher:
    """A desk."""
    return new_desk()


async def fates(desk: CommandDispatcher, table: str = "T01") -> dict[str, str]:
    return {one.id: one.fate for one in await desk.recent_commands(table)}


async def test_an_order_goes_out_with_the_roles_key_the_persons_name_and_the_tables_run(
    desk: CommandDispatcher, wire: Wire, tables: Scripted, tmp_path: Path
) -> None:
    told = await desk.send(LI, "T02", msgspec.structs.replace(HOLD, deal=2, attempt=1))
    (sent,) = wire.sent
    signed_commands.check_command(sent, TABLE_KEY)
    state = tables.snapshot("T02").state
    assert state is not None
    assert (sent.person, sent.boot, sent.deal, sent.attempt) == ("Li Na", state.boot, 2, 1)
    own = read_certificate(tmp_path / "clients" / "referee.key")
    assert sent.key == own.verify.hex()
    assert told == CommandResult(CommandReply(id=HOLD.id, ok=True, result={"phase": "play"}))


async def test_it_is_written_down_before_it_is_sent(
    desk: CommandDispatcher, wire: Wire, engine: Engine
) -> None:
    kept: list[bool] = []

    def look() -> None:
        found = CommandLog(engine).find(HOLD.id)
        kept.append(found is not None and found.reply is None)

    wire.before = look
    await desk.send(LI, "T01", HOLD)
    assert kept == [True]


async def test_the_same_id_acts_once_and_is_answered_alike(
    desk: CommandDispatcher, wire: Wire
) -> None:
    wire.takes_s = 1.0
    both = await asyncio.gather(desk.send(LI, "T01", HOLD), desk.send(LI, "T01", HOLD))
    assert both[0] == both[1] == await desk.send(LI, "T01", HOLD)
    assert len(wire.sent) == 1


async def test_what_a_table_refuses_stays_refused_in_its_words(
    desk: CommandDispatcher, wire: Wire
) -> None:
    wire.says = lambda command: refusal_reply(
        command.id, "WRONG_PHASE", found="held", expected="empty"
    )
    first = await desk.send(LI, "T01", HOLD)
    assert await desk.send(LI, "T01", HOLD) == first
    assert len(wire.sent) == 1
    (view,) = await desk.recent_commands("T01")
    assert view.fate == "refused"
    assert view.error is not None
    assert view.error.message_zh


async def test_without_an_answer_it_is_unknown_and_asked_again_with_the_same_bytes(
    desk: CommandDispatcher, wire: Wire
) -> None:
    wire.says = silent
    told = await desk.send(LI, "T01", HOLD)
    assert told.as_json() == {"unknown": True, "why": "no answer in 8 s"}
    assert await fates(desk) == {HOLD.id: "unknown"}
    assert len(wire.sent) == 1  # nothing is sent again by itself
    wire.says = Wire().says
    assert (await desk.send(LI, "T01", HOLD)).reply is not None
    assert wire.sent[0] == wire.sent[1]
    assert await fates(desk) == {HOLD.id: "done"}


@pytest.mark.parametrize("code", ["MACHINE_AWAY", "MACHINE_LATE"])
async def test_a_gateway_that_does_not_know_tells_no_fate(
    desk: CommandDispatcher, wire: Wire, code: str
) -> None:
    wire.says = lambda command: refusal_reply(command.id, code)
    assert (await desk.send(LI, "T01", HOLD)).reply is None
    assert await fates(desk) == {HOLD.id: "unknown"}


async def test_to_be_told_that_too_many_ask_is_no_fate_of_an_order_that_may_have_acted(
    desk: CommandDispatcher, wire: Wire
) -> None:
    wire.says = silent
    await desk.send(LI, "T01", HOLD)
    wire.says = lambda command: refusal_reply(command.id, "TOO_MANY", found="9", expected="8")
    assert (await desk.send(LI, "T01", HOLD)).reply is None
    assert await fates(desk) == {HOLD.id: "unknown"}
    # … but the first time it is: nothing was begun
    again = msgspec.structs.replace(HOLD, id="order-0009")
    assert (await desk.send(LI, "T01", again)).reply is not None


async def test_after_a_restart_what_has_no_answer_is_unknown_and_nothing_is_sent(
    desk: CommandDispatcher, new_desk: Callable[[], CommandDispatcher], wire: Wire
) -> None:
    wire.takes_s = 3600.0
    asking = asyncio.ensure_future(desk.send(LI, "T01", HOLD))
    await asyncio.sleep(1)
    assert await fates(desk) == {HOLD.id: "sent"}
    await desk.close()
    await asyncio.gather(asking, return_exceptions=True)
    wire.takes_s = 0.0
    later = new_desk()
    await asyncio.sleep(60)
    assert await fates(later) == {HOLD.id: "unknown"}
    assert len(wire.sent) == 1
    assert (await later.send(LI, "T01", HOLD)).reply is not None
    assert wire.sent[0] == wire.sent[1]


async def test_who_leaves_the_page_changes_nothing(desk: CommandDispatcher, wire: Wire) -> None:
    wire.takes_s = 5.0
    asking = asyncio.ensure_future(desk.send(LI, "T01", HOLD))
    await asyncio.sleep(1)
    asking.cancel()
    await asyncio.sleep(10)
    assert await fates(desk) == {HOLD.id: "done"}


@pytest.mark.parametrize(
    ("person", "table", "wish"),
    [
        (WU, "T01", HOLD),
        (LI, "T02", HOLD),
        (LI, "T01", msgspec.structs.replace(HOLD, args={"reason": "other"})),
        (LI, "T01", msgspec.structs.replace(HOLD, cmd="resume", args={})),
        (LI, "T01", msgspec.structs.replace(HOLD, deal=7)),
    ],
)
@pytest.mark.parametrize("during", [True, False])
async def test_an_id_is_one_order_of_one_person(
    desk: CommandDispatcher,
    wire: Wire,
    person: Account,
    table: str,
    wish: ConsoleCommandRequest,
    during: bool,
) -> None:
    wire.takes_s = 5.0
    first = asyncio.ensure_future(desk.send(LI, "T01", HOLD))
    await asyncio.sleep(1 if during else 10)
    with pytest.raises(RequestError) as raised:
        await desk.send(person, table, wish)
    assert raised.value.status == 409
    await first
    assert len(wire.sent) == 1


@pytest.mark.parametrize(
    ("person", "cmd", "status", "said"),
    [
        (LI, "open_hand", 403, "chief"),
        (CHEN, "selftest", 403, "technician"),
        (LI, "fly", 400, "fly"),
        (LI, "sheet", 400, "only reads"),
    ],
)
async def test_a_role_that_may_not_is_refused_before_anything_is_signed(
    desk: CommandDispatcher, wire: Wire, person: Account, cmd: str, status: int, said: str
) -> None:
    with pytest.raises(RequestError, match=said) as raised:
        await desk.send(person, "T01", ConsoleCommandRequest(id="order-0003", cmd=cmd))
    assert raised.value.status == status
    assert raised.value.zh
    assert wire.sent == []
    assert await desk.recent_commands("T01") == []


async def test_a_table_that_is_not_here_is_not_found(desk: CommandDispatcher) -> None:
    with pytest.raises(RequestError, match="no table T99"):
        await desk.send(LI, "T99", HOLD)


async def test_a_role_without_a_key_is_told_so_and_nothing_is_kept(
    desk: CommandDispatcher, tmp_path: Path
) -> None:
    (tmp_path / "clients" / "referee.key_secret").unlink()
    with pytest.raises(RequestError, match="no key for a referee"):
        await desk.send(LI, "T01", HOLD)
    assert await desk.recent_commands("T01") == []


async def test_a_table_that_was_never_heard_is_asked_for_its_run_first(
    desk: CommandDispatcher, wire: Wire
) -> None:
    said = {"boot": "fresh", "table": "T12"}
    wire.says = lambda command: CommandReply(
        id=command.id, ok=True, result=said if command.cmd == "snapshot" else {}
    )
    await desk.send(LI, "T12", HOLD)
    assert [(sent.cmd, sent.boot) for sent in wire.sent] == [("snapshot", None), ("hold", "fresh")]


async def test_a_hand_is_opened_for_the_chief_who_ordered_it_and_kept_nowhere(
    desk: CommandDispatcher,
    wire: Wire,
    engine: Engine,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    own = read_certificate(tmp_path / "clients" / "chief.key")
    assert own.seal is not None
    hand = b"\xe2\x99\xa0A \xe2\x99\xa510 BJ"
    box = base64.b64encode(SealedBox(PublicKey(own.seal)).encrypt(hand)).decode()
    said = {"seat": "N", "reason": "claim", "by": "chief", "sealed": box}
    wire.says = lambda command: CommandReply(id=command.id, ok=True, result=said)
    for _ in range(2):  # the second time out of what was kept
        told = await desk.send(CHEN, "T01", OPEN)
        assert told.reply is not None
        assert told.reply.result == {
            "seat": "N",
            "reason": "claim",
            "by": "chief",
            "hand": ["♠A", "♥10", "BJ"],
        }
    assert len(wire.sent) == 1
    shown = msgspec.json.encode(await desk.recent_commands("T01")).decode()
    engine.dispose()
    kept = all_kept(tmp_path)
    for secret in ("♠A", "♥10"):
        assert secret.encode() not in kept
        assert secret not in shown + caplog.text


async def test_a_box_for_another_key_stays_closed(desk: CommandDispatcher, wire: Wire) -> None:
    said = {"sealed": base64.b64encode(b"x" * 80).decode()}
    wire.says = lambda command: CommandReply(id=command.id, ok=True, result=said)
    told = await desk.send(CHEN, "T01", OPEN)
    assert told.reply is not None
    assert told.reply.result == said


async def test_nothing_is_sent_that_could_not_be_written_down(
    desk: CommandDispatcher, wire: Wire, engine: Engine
) -> None:
    with engine.begin() as base:
        base.exec_driver_sql("ALTER TABLE orders RENAME TO elsewhere")
    with pytest.raises(SQLAlchemyError):
        await desk.send(LI, "T01", HOLD)
    assert wire.sent == []


async def test_an_answer_that_cannot_be_kept_is_told_all_the_same(
    desk: CommandDispatcher, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(orders: CommandLog, order: str, reply: CommandReply) -> None:
        raise StoreError("disk full")

    monkeypatch.setattr(CommandLog, "write_reply", full)
    assert (await desk.send(LI, "T01", HOLD)).reply is not None
    assert await fates(desk) == {HOLD.id: "unknown"}  # the next one asks the table again


async def test_what_the_journal_tells_of_an_order_is_seen(desk: CommandDispatcher) -> None:
    changed: list[str] = []
    desk.on_commands_changed = changed.append
    await desk.send(LI, "T01", HOLD)
    desk.note_event(an_event("T01", 77, "command", {"id": HOLD.id}))
    desk.note_event(an_event("T01", 78, "answer", {"id": HOLD.id}))
    (view,) = await desk.recent_commands("T01")
    assert isinstance(view, CommandStatusView)
    assert (view.seen, view.person, view.cmd) == (77, "Li Na", "hold")
    assert set(changed) == {"T01"}


async def test_what_the_journal_told_before_this_run_is_seen_after_it(
    new_desk: Callable[[], CommandDispatcher], engine: Engine
) -> None:
    await new_desk().send(LI, "T01", HOLD)
    told = an_event("T01", 77, "command", {"id": HOLD.id})
    failed = an_event("T01", 78, "command", {"id": "order-0009", "refused": "JAM"})
    Archive(engine).keep([StoredEvent(one, msgspec.json.encode(one)) for one in (told, failed)])
    (view,) = await new_desk().recent_commands("T01")
    assert view.seen == 77


async def test_of_an_area_what_the_journal_told_before_this_run_is_seen_after_it(
    new_desk: Callable[[], CommandDispatcher], engine: Engine
) -> None:
    kept = AreaActionLog(engine)
    await AreaActions(new_desk(), CommandLog(engine), kept, now).send(CHEN, ACT)
    one = an_event("T01", 77, "command", {"id": ACT.orders["T01"]})
    Archive(engine).keep([StoredEvent(one, msgspec.json.encode(one))])
    later = AreaActions(new_desk(), CommandLog(engine), kept, now)
    await later.load()
    (view,) = later.view([], 0)
    assert [(at.table, at.fate) for at in view.tables] == [("T01", "seen"), ("T02", "accepted")]


def carried_out(count: int) -> list[PublicEvent]:
    """A table's entries of two orders of the console, and of so many others after them."""
    ids = [HOLD.id, ACT.orders["T01"], *(f"other-{n}" for n in range(count))]
    return [an_event("T01", n, "command", {"id": one}) for n, one in enumerate(ids, 1)]


@pytest.mark.parametrize("is_restarted", [False, True], ids=["same run", "after a restart"])
async def test_what_was_carried_out_stays_so_however_many_orders_follow(
    new_desk: Callable[[], CommandDispatcher], engine: Engine, is_restarted: bool
) -> None:
    desk, kept = new_desk(), AreaActionLog(engine)
    acts = AreaActions(desk, CommandLog(engine), kept, now)
    await desk.send(LI, "T01", HOLD)
    await acts.send(CHEN, ACT)
    events = carried_out(1_100)
    Archive(engine).keep([StoredEvent(one, msgspec.json.encode(one)) for one in events])
    if is_restarted:
        desk = new_desk()
        acts = AreaActions(desk, CommandLog(engine), kept, now)
        await acts.load()
    else:
        for event in events:
            desk.note_event(event)
    assert {one.id: one.seen for one in await desk.recent_commands("T01")} == {
        HOLD.id: 1,
        ACT.orders["T01"]: 2,
    }
    (view,) = acts.view([], 0)
    assert [(at.table, at.fate) for at in view.tables] == [("T01", "seen"), ("T02", "accepted")]


async def test_the_archive_is_asked_once_for_an_order_of_an_earlier_run_and_for_no_new_one(
    new_desk: Callable[[], CommandDispatcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    await new_desk().send(LI, "T01", HOLD)
    asked: list[list[str]] = []

    def executed(archive: Archive, table: str, orders: list[str]) -> dict[str, int]:
        asked.append(orders)
        return {}

    monkeypatch.setattr(Archive, "find_executed", executed)
    desk = new_desk()
    await desk.send(LI, "T01", msgspec.structs.replace(HOLD, id="order-0009"))
    for _ in range(3):
        assert {one.id: one.seen for one in await desk.recent_commands("T01")} == {
            HOLD.id: None,
            "order-0009": None,
        }
    assert asked == [[HOLD.id]]


async def test_what_nobody_knows_of_an_order_another_may_ask_and_it_acts_in_the_first_ones_name(
    desk: CommandDispatcher, wire: Wire
) -> None:
    wire.says = silent
    await desk.send(LI, "T01", HOLD)
    wire.says = Wire().says
    told = await desk.ask_again(WU, "T01", HOLD.id)
    assert told.reply is not None
    assert wire.sent[0] == wire.sent[1]
    assert wire.sent[1].person == "Li Na"
    assert await fates(desk) == {HOLD.id: "done"}
    assert await desk.ask_again(CHEN, "T01", HOLD.id) == told
    assert len(wire.sent) == 2


async def test_of_a_table_that_was_let_go_nobody_asks_and_that_is_said(
    desk: CommandDispatcher, wire: Wire, tables: Scripted
) -> None:
    wire.says = silent
    await desk.send(LI, "T01", HOLD)
    tables.remove("T01")
    for person in (WU, CHEN):
        with pytest.raises(RequestError, match="no table T01") as raised:
            await desk.ask_again(person, "T01", HOLD.id)
        assert raised.value.status == 404
    assert len(wire.sent) == 1


@pytest.mark.parametrize("asks", ["do", "again"])
async def test_a_table_that_is_let_go_while_its_order_is_begun_is_said_to_be_gone(
    desk: CommandDispatcher, wire: Wire, monkeypatch: pytest.MonkeyPatch, asks: str
) -> None:
    wire.says = silent
    await desk.send(LI, "T01", HOLD)

    def lines(table: str, role: Role) -> Wire:
        raise KeyError(table)

    monkeypatch.setattr(desk, "_client_for", lines)
    asked = desk.send(LI, "T01", HOLD) if asks == "do" else desk.ask_again(WU, "T01", HOLD.id)
    with pytest.raises(RequestError, match="no table T01"):
        await asked
    assert await fates(desk) == {HOLD.id: "unknown"}


async def test_an_order_that_ends_with_a_fault_is_told_to_be_unknown(
    desk: CommandDispatcher, wire: Wire
) -> None:
    told: list[tuple[str, CommandResult | None]] = []
    shown: list[dict[str, str]] = []
    desk.on_result = lambda order, what: told.append((order, what))

    def changed(table: str) -> None:
        asyncio.ensure_future(fates(desk, table)).add_done_callback(
            lambda found: shown.append(found.result())
        )

    desk.on_commands_changed = changed

    def fails(command: ClientCommand) -> CommandReply:
        raise RuntimeError("a fault of ours")

    wire.takes_s, wire.says = 1.0, fails
    asking = asyncio.ensure_future(desk.send(LI, "T01", HOLD))
    await asyncio.sleep(0.5)
    asking.cancel()  # also where whoever ordered it is gone
    await asyncio.sleep(2)
    assert told == [(HOLD.id, None), (HOLD.id, CommandResult(None))]
    assert shown == [{HOLD.id: "sent"}, {HOLD.id: "unknown"}]


async def test_of_an_order_that_never_went_out_no_fate_is_told(
    desk: CommandDispatcher, tmp_path: Path, wire: Wire
) -> None:
    told: list[str] = []
    desk.on_result = lambda order, what: told.append(order)
    (tmp_path / "clients" / "referee.key_secret").unlink()
    with pytest.raises(RequestError):
        await desk.send(LI, "T01", HOLD)
    await asyncio.sleep(1)
    assert (told, wire.sent) == ([], [])


async def test_two_who_ask_for_one_order_at_once_send_it_once(
    desk: CommandDispatcher, wire: Wire
) -> None:
    wire.says = silent
    await desk.send(LI, "T01", HOLD)
    wire.takes_s, wire.says = 1.0, Wire().says
    asked = (desk.ask_again(WU, "T01", HOLD.id), desk.send(LI, "T01", HOLD))
    assert len(set(map(repr, await asyncio.gather(*asked)))) == 1
    assert len(wire.sent) == 2


@pytest.mark.parametrize(
    ("person", "table", "order", "status"),
    [
        (WU, "T01", "order-0002", 403),  # the chief's, signed as the chief's
        (Account(name="Tao", role=Role.TECHNICIAN), "T01", "order-0002", 403),
        (CHEN, "T02", "order-0002", 404),
        (CHEN, "T01", "order-0404", 404),
    ],
)
async def test_nobody_gives_by_asking_what_he_could_not_give(
    desk: CommandDispatcher, wire: Wire, person: Account, table: str, order: str, status: int
) -> None:
    wire.says = silent
    await desk.send(CHEN, "T01", OPEN)
    with pytest.raises(RequestError) as raised:
        await desk.ask_again(person, table, order)
    assert raised.value.status == status
    assert len(wire.sent) == 1


async def test_what_the_chief_ordered_of_his_own_word_no_referee_has_sent_again(
    desk: CommandDispatcher, wire: Wire
) -> None:
    """A referee may stop a table, and only the chief its area: the order bears the chief's key."""
    wire.says = silent
    await desk.send(CHEN, "T01", HOLD)
    with pytest.raises(RequestError, match="this command is from Chen") as raised:
        await desk.ask_again(LI, "T01", HOLD.id)
    assert raised.value.status == 403
    assert len(wire.sent) == 1


async def test_a_hand_that_another_chief_ordered_stays_sealed_to_him(
    desk: CommandDispatcher, wire: Wire, tmp_path: Path
) -> None:
    own = read_certificate(tmp_path / "clients" / "chief.key")
    assert own.seal is not None
    box = base64.b64encode(SealedBox(PublicKey(own.seal)).encrypt(b"BJ")).decode()
    wire.says = lambda command: CommandReply(id=command.id, ok=True, result={"sealed": box})
    await desk.send(CHEN, "T01", OPEN)
    told = await desk.ask_again(Account(name="Zhou", role=Role.CHIEF), "T01", OPEN.id)
    assert told.reply is not None
    assert told.reply.result == {"sealed": box}


@pytest.mark.parametrize("code", ["ORDER_OVER", "WRONG_ROLE", "BAD_SIGNATURE", "KEY_REVOKED"])
async def test_what_says_nothing_of_then_is_no_fate_of_an_order_that_may_have_acted(
    desk: CommandDispatcher, wire: Wire, code: str
) -> None:
    wire.says = silent
    await desk.send(LI, "T01", HOLD)
    wire.says = lambda command: refusal_reply(command.id, code)
    assert (await desk.send(LI, "T01", HOLD)).reply is None
    assert await fates(desk) == {HOLD.id: "unknown"}


async def test_an_order_for_a_run_that_is_over_is_refused_and_never_given_anew_by_itself(
    desk: CommandDispatcher, wire: Wire
) -> None:
    wire.says = silent
    await desk.send(LI, "T01", HOLD)
    wire.says = lambda command: refusal_reply(command.id, "OTHER_RUN")
    await desk.ask_again(WU, "T01", HOLD.id)
    (view,) = await desk.recent_commands("T01")
    assert view.error is not None
    assert (view.fate, view.error.code) == ("refused", "OTHER_RUN")
    await desk.send(LI, "T01", HOLD)
    assert len(wire.sent) == 2


async def test_without_a_database_nothing_is_sent_and_that_is_said(
    desk: CommandDispatcher, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise StoreError("no such disk")

    for call in ("find", "write"):
        with monkeypatch.context() as patch:
            patch.setattr(CommandLog, call, away)
            with pytest.raises(RequestError, match="nothing was sent") as raised:
                await desk.send(LI, "T01", HOLD)
        assert raised.value.status == 503
        assert raised.value.zh
    assert wire.sent == []


async def test_a_question_that_nobody_answers_is_told_in_both_languages(
    desk: CommandDispatcher, wire: Wire
) -> None:
    wire.says = silent
    with pytest.raises(RequestError) as raised:
        await desk.query("T01", "sheet")
    assert (raised.value.status, raised.value.zh) == (504, "T01没有应答")
    assert wire.sent[0].sig is None
