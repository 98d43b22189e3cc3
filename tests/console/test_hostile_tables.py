"""A table whose gateway somebody has taken over: it may say anything, of itself alone."""

import asyncio
import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Engine

from controller.console.accounts.account_store import Account
from controller.console.call_assignments import AssignmentStore, CallAssignments
from controller.console.commands.command_dispatcher import CommandDispatcher
from controller.console.commands.command_log import CommandLog, ConsoleCommandRequest
from controller.console.commands.match_transfer import (
    TransferStep,
    _check_signature,
    _part_count,
    _StepFailed,
)
from controller.console.feed import event_intake, message_checks
from controller.console.feed.event_intake import EventIntake
from controller.console.feed.message_checks import (
    MessageRejected,
    is_storable_head,
    parse_event,
    parse_state,
)
from controller.console.freshness import Freshness
from controller.console.live_pages import chief_notes as noted
from controller.console.live_pages.chief_notes import POLL_INTERVAL_S, ChiefNotes
from controller.console.live_pages.hall_page import MAX_ROW_BYTES, TICK_INTERVAL_S, Hall
from controller.console.live_pages.page_parts import BEAT_INTERVAL_S, PageParts, event_stream
from controller.console.live_pages.table_page import OFFERS_INTERVAL_S, TablePages
from controller.console.request_error import RequestError
from controller.console.sheet_keeper import RETRY_INTERVAL_S, SheetKeeper
from controller.console.store import match_records
from controller.console.store.archive import Archive, StoredEvent, WriteBatch
from controller.console.store.database import StoreError, open_engine
from controller.console.store.match_records import AttemptRecords, ScoreSheetStore
from controller.console.table_snapshots import TableSnapshot
from controller.console.view.event_lines import describe_events
from controller.console.view.proof_page import build_proof_view
from controller.keys.table_keys import create_client_keys
from controller.messages import ClientCommand, CommandReply, PublicEvent, Role, SignedHead
from tests.console.fake import Scripted, an_event, now
from tests.console.journal import Journal
from tests.console.papers import TABLE, a_sheet, played, shown_as
from tests.console.states import call, list_reasons, state

pytestmark = pytest.mark.virtual

LI = Account(name="Li Na", role=Role.REFEREE)
HOLD = ConsoleCommandRequest(id="area-0001-T01", cmd="hold", args={"reason": "smoke"})
EVENT = msgspec.to_builtins(Journal().happens(match="M1"))


class Wire:
    """What answers for a table: `says` what, or nothing."""

    def __init__(self) -> None:
        self.sent: list[ClientCommand] = []
        self.says: dict[str, dict[str, Any]] = {}

    async def send(self, command: ClientCommand) -> CommandReply:
        self.sent.append(command)
        return CommandReply(id=command.id, ok=True, result=self.says.get(command.cmd, {}))


@pytest.fixture
def wire() -> Wire:
    """A table behind the wire."""
    return Wire()


@pytest.fixture
def tables() -> Scripted:
    """Twelve tables that stand still; nothing was heard of T12."""
    return Scripted()


@pytest.fixture
def desk(engine: Engine, wire: Wire, tables: Scripted, tmp_path: Path) -> CommandDispatcher:
    """A desk."""
    for role in Role:
        create_client_keys(tmp_path, role.value, role)
    numbers = count(1)
    return CommandDispatcher(
        tables,
        CommandLog(engine),
        now,
        lambda table, role: wire,
        table_key_of=lambda table: "k" * 40,
        key_folder_of=lambda table: tmp_path / "clients",
        new_id=lambda: f"own-{next(numbers)}",
        now_ms=lambda: next(numbers),
    )


# What comes on its feed.


@pytest.mark.parametrize("sign", ["\n", "\r", "\r\n"])
def test_a_message_of_several_lines_is_none(sign: str) -> None:
    for whole, take in ((msgspec.to_builtins(state()), parse_state), (EVENT, parse_event)):
        body = json.dumps(whole).replace("{", "{" + sign, 1).encode()
        with pytest.raises(MessageRejected, match="junk"):
            take(body, "T01")


def test_a_state_larger_than_any_tables_is_none_and_an_event_may_be() -> None:
    large = "x" * message_checks.MAX_STATE_BYTES
    said = msgspec.to_builtins(state())
    said["match"]["phase_en"] = large
    with pytest.raises(MessageRejected, match="junk"):
        parse_state(msgspec.json.encode(said), "T01")
    record = msgspec.json.encode(EVENT | {"data": {"x": large}})
    assert parse_event(record, "T01").data["x"] == large


@pytest.mark.parametrize("name", ["match", "match_id"])
@pytest.mark.parametrize("match", ["M" * 65, "M\0"])
def test_what_no_database_takes_is_not_taken_from_a_feed(
    store_url: str, name: str, match: str
) -> None:
    """One row that a database refuses would keep back what all other tables said."""
    body = msgspec.json.encode(EVENT | {"data": {name: match}})
    try:
        kept = StoredEvent(parse_event(body, "T01"), body)
    except MessageRejected:
        return
    engine = open_engine(store_url)
    try:
        assert Archive(engine).write([WriteBatch((kept,))]).events == 1
    except StoreError:
        pytest.fail("the store is away for everybody")
    finally:
        engine.dispose()


def test_numbers_without_end_are_not_remembered_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_intake, "MAX_ANNOUNCED_AHEAD", 50)
    told: list[PublicEvent] = []

    class Full:
        def keep(self, *kept: object) -> None:
            """Have no room."""

    held = EventIntake(Full(), {}, told.append, lambda table: None)  # type: ignore[arg-type]
    for n in range(2, 502):
        event = an_event("T01", n, "state", {})
        held.add_event(StoredEvent(event, b""))
    assert len(told) == 500
    assert len(held._announced_ahead["T01"]) == 50


@pytest.mark.parametrize("stamp", ["x", "2027-13-01T00:00:00Z", "2027-01-01T00:00:00", "9" * 99])
def test_a_moment_that_is_none_is_not_taken(stamp: str) -> None:
    """Else it would stand in the archive, and nothing that reckons with it be shown again."""
    said = msgspec.to_builtins(state(calls=[call("button", seat="N")]))
    for wrong in (said | {"time": stamp}, said | {"calls": [said["calls"][0] | {"since": stamp}]}):
        with pytest.raises(MessageRejected, match="junk"):
            parse_state(msgspec.json.encode(wrong), "T01")
    with pytest.raises(MessageRejected, match="junk"):
        parse_event(msgspec.json.encode(EVENT | {"time": stamp}), "T01")
    signed = SignedHead(n=1, head="ab" * 32, sig="cd" * 64)
    assert not is_storable_head(signed, stamp)


async def test_an_archive_that_is_not_understood_ends_no_looking(
    engine: Engine, tables: Scripted
) -> None:
    archive = Archive(engine)
    opened = an_event("T01", 1, "opened_hand", {"seat": "N", "by": "Chen"})
    bad = msgspec.structs.replace(opened, time="x")
    archive.keep([StoredEvent(bad, msgspec.json.encode(bad))])
    found = ChiefNotes(tables, archive, lambda table: None, now)
    found.start()
    await asyncio.sleep(3 * POLL_INTERVAL_S)
    assert found._poll_task is not None
    assert not found._poll_task.done()
    await found.close()


# What a hall's pages and a table's page show of it.


async def test_one_that_says_too_much_fills_nobodys_line(engine: Engine, tables: Scripted) -> None:
    hall = Hall(tables, CallAssignments(AssignmentStore(engine), now, lambda: 0), lambda: 10**13)
    said = tables.snapshot("T01").state
    assert said is not None
    much = msgspec.structs.replace(said.match, event="<b>" * MAX_ROW_BYTES)
    tables.say("T01", msgspec.structs.replace(said, match=much))
    many = [msgspec.structs.replace(call, words_en="x" * MAX_ROW_BYTES) for call in _calls(tables)]
    tables.say("T02", msgspec.structs.replace(_state(tables, "T02"), calls=many))
    hall.start()
    _, parts = hall.parts_for(Role.REFEREE).changes_since(0)
    await hall.close()
    for table in ("T01", "T02"):
        body = parts[f"row/{table}"]
        assert body is not None
        assert len(body) < MAX_ROW_BYTES
        assert json.loads(body)["standing"] == Freshness.STALE.value
    waits = parts["waits"]
    assert waits is not None
    assert len(waits) < MAX_ROW_BYTES
    found = {wait["table"]: wait["reasons"][0]["name"] for wait in json.loads(waits)}
    assert {found["T01"], found["T02"]} <= {Freshness.SILENT.value, Freshness.STALE.value}


async def test_one_that_no_page_can_show_spoils_nothing_of_the_others(
    engine: Engine, tables: Scripted
) -> None:
    def made(seen: Sequence[TableSnapshot], now_ms: int) -> list[str]:
        assert all(one.state is None or len(one.state.match.event or "") < 99 for one in seen)
        return [one.table for one in seen if one.state is not None]

    parts = {"areas": (made, frozenset({Role.REFEREE}))}
    hall = Hall(
        tables, CallAssignments(AssignmentStore(engine), now, lambda: 0), lambda: 10**13, parts
    )
    said = _state(tables, "T01")
    much = msgspec.structs.replace(said.match, event="<b>" * MAX_ROW_BYTES)
    tables.say("T01", msgspec.structs.replace(said, match=much))
    hall.start()
    await asyncio.sleep(TICK_INTERVAL_S)
    _, shown = hall.parts_for(Role.REFEREE).changes_since(0)
    await hall.close()
    assert json.loads(shown["areas"] or b"[]") == [f"T{n:02}" for n in range(2, 12)]


def test_a_fault_that_only_a_newer_table_knows_is_shown() -> None:
    tables = Scripted()
    alert = msgspec.structs.replace(_state(tables, "T04").alerts[0], name="OF_TOMORROW")
    said = msgspec.structs.replace(_state(tables, "T04"), alerts=[alert])
    assert list_reasons(said, Freshness.LIVE, 0)[0].name == "OF_TOMORROW"


def _state(tables: Scripted, table: str) -> Any:
    found = tables.snapshot(table).state
    assert found is not None
    return found


def _calls(tables: Scripted) -> list[Any]:
    return list(_state(tables, "T02").calls)


async def test_where_changes_never_end_it_is_still_asked_who_may_look() -> None:
    shown, loop = PageParts(), asyncio.get_running_loop()
    may, beats = True, 0

    async def changing() -> None:
        for number in count():
            shown.put("state", number)
            await asyncio.sleep(0.001)

    async def looks() -> bool:
        return may

    busy = asyncio.ensure_future(changing())
    begun = loop.time()
    async for said in event_stream(shown, lambda: 1, {}, looks):
        beats += said.startswith(b"event: beat")
        may = loop.time() - begun < 3 * BEAT_INTERVAL_S
        if said.startswith(b"event: gone"):
            break
        assert loop.time() - begun < 5 * BEAT_INTERVAL_S
    busy.cancel()
    assert beats >= 2


async def test_a_thousand_events_at_once_are_told_once_and_read_once(
    engine: Engine, tables: Scripted, desk: CommandDispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall = Hall(tables, CallAssignments(AssignmentStore(engine), now, lambda: 0), lambda: 10**13)
    read = 0

    async def orders(table: str) -> list[Any]:
        nonlocal read
        read += 1
        await asyncio.sleep(0)
        return []

    monkeypatch.setattr(desk, "recent_commands", orders)
    pages = TablePages(tables, desk, hall, Archive(engine), now, lambda: 10**13)
    pages.start()
    told = 0
    async with pages.open_page("T01", Role.REFEREE) as (shown, _):
        await asyncio.sleep(OFFERS_INTERVAL_S)
        before, put = read, shown.put

        def counted(name: str, value: object) -> bool:
            nonlocal told
            told += name == "told"
            return put(name, value)

        monkeypatch.setattr(shown, "put", counted)
        for number in range(1000):
            tables.tell("T01", "command", id=f"order-{number:06}", cmd="hold")
        await asyncio.sleep(OFFERS_INTERVAL_S)
    await pages.close()
    assert read - before <= 2
    assert told == 1


@pytest.mark.parametrize("odd", [None, 7, ["hold"], {"hold": 1}, "<b>" * 99])
def test_a_command_that_is_no_word_is_told_in_some(odd: object) -> None:
    event = an_event("T01", 1, "command", {"cmd": odd, "id": odd, "person": odd, "args": odd})
    assert len(describe_events([event])) == 1


# Orders and their fate.


async def test_what_one_table_says_of_anothers_order_is_nothing(desk: CommandDispatcher) -> None:
    await desk.send(LI, "T01", HOLD)
    desk.note_event(an_event("T02", 7, "command", {"id": HOLD.id, "cmd": "hold"}))
    for n in range(5000):
        desk.note_event(an_event("T02", n + 8, "command", {"id": f"made-up-{n}", "cmd": "hold"}))
    assert [one.seen for one in await desk.recent_commands("T01")] == [None]
    desk.note_event(an_event("T01", 9, "command", {"id": HOLD.id, "cmd": "hold"}))
    assert [one.seen for one in await desk.recent_commands("T01")] == [9]
    assert len(desk._entry_of_command["T02"]) < 2000


async def test_an_order_that_its_table_refused_is_not_shown_as_seen(
    desk: CommandDispatcher,
) -> None:
    await desk.send(LI, "T01", HOLD)
    desk.note_event(an_event("T01", 7, "command", {"id": HOLD.id, "refused": "PAUSED"}))
    assert [one.seen for one in await desk.recent_commands("T01")] == [None]


async def test_no_order_goes_to_a_table_that_says_it_is_another(
    desk: CommandDispatcher, wire: Wire
) -> None:
    """Announced under another's name, its keys are its own, and their fingerprint is right."""
    wire.says["snapshot"] = {"table": "T05", "boot": "fresh"}
    with pytest.raises(RequestError, match="another table"):
        await desk.send(LI, "T12", HOLD)
    assert [sent.cmd for sent in wire.sent] == ["snapshot"]


@pytest.mark.parametrize(
    "part", [{}, {"parts": "x"}, {"parts": 10**9}, {"parts": 2, "part": 1, "digest": "a"}]
)
def test_a_document_that_lacks_something_is_refused_in_words(part: dict[str, Any]) -> None:
    step = TransferStep(step="document", table="T01", fate="done")
    with pytest.raises(_StepFailed):
        _part_count(step, part)
    with pytest.raises(_StepFailed):
        _check_signature(step, part, "ab" * 32)


# What is kept.


async def test_a_sheet_of_another_table_is_not_kept_as_that_ones(
    engine: Engine, tables: Scripted, desk: CommandDispatcher, wire: Wire
) -> None:
    sheets = ScoreSheetStore(engine, lambda: 1)
    wire.says["sheet"] = msgspec.to_builtins(a_sheet(played(), name="T05"))
    keeper = SheetKeeper(tables, desk, sheets, now)
    keeper.start()
    tables.say(TABLE, shown_as(a_sheet(played())))
    await asyncio.sleep(3 * RETRY_INTERVAL_S)
    await keeper.close()
    assert [sent.cmd for sent in wire.sent].count("sheet") >= 1
    assert sheets.versions_of("M1") == []


async def test_a_sheet_with_a_number_that_no_database_has_is_a_failure_of_the_store(
    engine: Engine,
) -> None:
    huge = msgspec.structs.replace(a_sheet(played()), version=1 << 63)
    with pytest.raises(StoreError):
        ScoreSheetStore(engine, lambda: 1).write(huge)


async def test_hands_and_names_without_end_do_not_fill_the_chiefs_page(
    engine: Engine, tables: Scripted
) -> None:
    found = ChiefNotes(tables, Archive(engine), lambda table: None, now)
    for n in range(2000):
        found.note_event(an_event("T01", n, "opened_hand", {"seat": "N" * 999, "by": "x" * 999}))
        found.note_event(an_event("T01", n, "command", {"id": "x", "person": f"nobody {n}"}))
        found.note_event(an_event("T01", n, "command", {"id": "x", "person": "y" * 41}))
    assert len(found._opened_hands["T01"]) == noted.MAX_OPENED_HANDS
    assert len(found._command_count) == noted.MAX_PEOPLE
    view = found.view([tables.snapshot(table) for table in tables.ids], 10**13)
    assert len(msgspec.json.encode(view)) < 300_000


def test_a_proof_that_names_no_rulebook_is_shown_without_one(engine: Engine) -> None:
    odd = an_event("T01", 1, "committed", {"profile_hash": ["x"]})
    shut = an_event("T01", 2, "revealed", {})
    Archive(engine).keep([StoredEvent(one, msgspec.json.encode(one)) for one in (odd, shut)])
    shown = build_proof_view(
        "T01", 1, AttemptRecords(engine).rows_of_attempt("T01", 1), {}, over=True
    )
    assert (shown.standing, shown.rulebooks, len(shown.events)) == ("revealed", [], 2)


def test_a_proof_without_end_is_cut_off(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_records, "MAX_PROOF_ROWS", 10)
    kinds = ["committed", *["state"] * 50, "revealed"]
    rows = [an_event("T01", n, kind, {}) for n, kind in enumerate(kinds, 1)]
    Archive(engine).keep([StoredEvent(one, msgspec.json.encode(one)) for one in rows])
    found = AttemptRecords(engine).rows_of_attempt("T01", 1)
    assert found is not None
    assert len(found.bodies) == 10
