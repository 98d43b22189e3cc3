"""One press for many tables: an order each, all at once, and a repeat acts once."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.client.client import NoAnswer
from controller.client.connection import TableConnectionState
from controller.commands.registry import refusal_reply
from controller.console.accounts.account_store import Account
from controller.console.commands.area_actions import AreaActionLog, AreaActions
from controller.console.commands.command_log import CommandLog, LoggedCommand
from controller.console.console import RefereeConsole
from controller.console.routes.area_routes import command_id
from controller.console.store.database import StoreError
from controller.messages import ClientCommand, CommandReply, Role
from tests.console.fake import Scripted, ScriptedLine, now
from tests.console.web import logged_in, refused, standing
from tests.waiting import until

pytestmark = pytest.mark.virtual

Sent = list[tuple[str, ClientCommand]]


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[tuple[RefereeConsole, Scripted]]:
    """A console over scripted tables."""
    async with standing(tmp_path) as (console, tables):
        yield console, tables


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """What was sent, and whereto; every table does it."""
    found: Sent = []

    async def send(line: ScriptedLine, command: ClientCommand) -> CommandReply:
        found.append((line._table, command))
        await asyncio.sleep(0)
        return CommandReply(id=command.id, ok=True, result={})

    monkeypatch.setattr(ScriptedLine, "send", send)
    return found


async def press(console: RefereeConsole, act: str, name: str = "chief", **said: Any) -> Any:
    """Let somebody order something of area A; return what each table has answered."""
    async with logged_in(console, name) as client:
        answer = await client.post(f"/api/areas/A/{act}", json={"id": "press-0001"} | said)
        assert answer.status_code == 200, answer.text
        return answer.json()["tables"]


def not_begun(tables: Scripted, *names: str) -> None:
    """Let matches be laid out that nobody has started."""
    for name in names:
        known = tables.snapshot(name).state
        assert known is not None
        match = msgspec.structs.replace(known.match, started=False)
        tables.say(name, msgspec.structs.replace(known, match=match))


def acts(console: RefereeConsole, role: Role = Role.CHIEF) -> Any:
    """Return what pages show of what was ordered of areas."""
    console.hall._publish_hall_parts(console.now_ms())
    _, parts = console.hall.parts_for(role).changes_since(0)
    return json.loads(parts.get("acts") or b"null")


def fates(console: RefereeConsole, role: Role = Role.CHIEF) -> dict[str, str]:
    """Return the newest act's fate at each table."""
    return {one["table"]: one["fate"] for one in acts(console, role)[0]["tables"]}


async def test_the_areas_are_listed_for_whoever_may_look(
    hall: tuple[RefereeConsole, Scripted],
) -> None:
    console, _ = hall
    async with logged_in(console, "obs") as client:
        said = (await client.get("/api/areas")).json()
    assert [one["area"] for one in said] == ["A", "B"]


async def test_a_start_goes_to_every_match_of_the_area_that_has_not_begun(
    hall: tuple[RefereeConsole, Scripted], sent: Sent
) -> None:
    console, tables = hall
    not_begun(tables, "T01", "T02", "T08")
    replies = await press(console, "start")
    assert set(replies) == {table for table, _ in sent} == {"T01", "T02"}  # T08 is in area B
    assert all(reply["ok"] for reply in replies.values())
    assert {command.cmd for _, command in sent} == {"start_match"}
    assert {command.id for _, command in sent} == {"press-0001-T01", "press-0001-T02"}
    assert {command.person for _, command in sent} == {"chief"}


async def test_pressed_again_it_acts_once_and_answers_for_the_same_tables(
    hall: tuple[RefereeConsole, Scripted], sent: Sent
) -> None:
    console, tables = hall
    not_begun(tables, "T01", "T02")
    first = await press(console, "start")
    begun = tables.snapshot("T01").state
    assert begun is not None
    started = msgspec.structs.replace(begun.match, started=True)
    tables.say("T01", msgspec.structs.replace(begun, match=started))
    assert await press(console, "start") == first
    assert len(sent) == 2


async def test_a_stop_and_its_end_are_the_whole_areas(
    hall: tuple[RefereeConsole, Scripted], sent: Sent
) -> None:
    console, _ = hall
    await press(console, "hold", reason="fire alarm")
    assert {tuple(command.args.items()) for _, command in sent} == {
        (("reason", "fire alarm"), ("area", True))
    }
    sent.clear()
    await press(console, "resume", id="press-0002")
    assert {command.cmd for _, command in sent} == {"resume"}
    assert all(command.args == {"area": True} for _, command in sent)


async def test_time_is_added_at_the_tables_that_are_named(
    hall: tuple[RefereeConsole, Scripted], sent: Sent
) -> None:
    console, _ = hall
    replies = await press(console, "time", name="ref", seconds=120, tables=["T03", "T01"])
    assert list(replies) == ["T03", "T01"]
    assert {command.args["seconds"] for _, command in sent} == {120}


async def test_each_table_answers_for_itself(
    hall: tuple[RefereeConsole, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _ = hall

    async def send(line: ScriptedLine, command: ClientCommand) -> CommandReply:
        if line._table == "T01":
            return refusal_reply(command.id, "NOT_SUSPENDED")
        if line._table == "T02":
            raise NoAnswer("no answer in 8 s")
        return CommandReply(id=command.id, ok=True, result={})

    monkeypatch.setattr(ScriptedLine, "send", send)
    replies = await press(console, "resume", tables=["T01", "T02", "T03"])
    assert replies["T01"]["error"]["code"] == "NOT_SUSPENDED"
    assert replies["T02"] is None
    assert replies["T03"]["ok"]


async def test_tables_that_failed_are_asked_again_alone(
    hall: tuple[RefereeConsole, Scripted], sent: Sent
) -> None:
    console, _ = hall
    await press(console, "resume", tables=["T02"])
    assert [table for table, _ in sent] == ["T02"]


@pytest.mark.parametrize("act", ["start", "hold", "resume"])
async def test_the_areas_clock_is_the_chiefs_and_from_a_referee_nothing_is_sent(
    hall: tuple[RefereeConsole, Scripted], sent: Sent, act: str
) -> None:
    console, tables = hall
    not_begun(tables, "T01")
    async with logged_in(console, "ref") as client:
        said = {"id": "press-0001", "reason": "smoke"}
        answer = await client.post(f"/api/areas/A/{act}", json=said)
    assert refused(answer)[0] == 403
    assert not sent
    assert acts(console) == []


@pytest.mark.parametrize(
    ("path", "said", "status"),
    [
        ("/api/areas/A/hold", {}, 400),
        ("/api/areas/A/time", {}, 400),
        ("/api/areas/A/start", {"id": "short"}, 400),
        ("/api/areas/A/start", {"tables": ["T08"]}, 400),
        ("/api/areas/Z/start", {}, 404),
        ("/api/areas/A/destroy", {}, 404),
    ],
)
async def test_what_makes_no_sense_is_refused_before_anything_is_sent(
    hall: tuple[RefereeConsole, Scripted], sent: Sent, path: str, said: dict[str, Any], status: int
) -> None:
    console, _ = hall
    async with logged_in(console, "chief") as client:
        answer = await client.post(path, json={"id": "press-0001"} | said)
    assert refused(answer)[0] == status
    assert not sent


async def test_an_observer_orders_nothing(
    hall: tuple[RefereeConsole, Scripted], sent: Sent
) -> None:
    console, _ = hall
    async with logged_in(console, "obs") as client:
        answer = await client.post("/api/areas/A/resume", json={"id": "press-0001"})
    assert answer.status_code == 403
    assert not sent


class Mixed:
    """Tables of which one refuses, one is silent, one is slow."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: Sent = []
        self.silent, self.refusing = {"T02"}, {"T03"}
        self.go = asyncio.Event()
        mixed = self

        async def send(line: ScriptedLine, command: ClientCommand) -> CommandReply:
            return await mixed.answer(line._table, command)

        monkeypatch.setattr(ScriptedLine, "send", send)

    async def answer(self, table: str, command: ClientCommand) -> CommandReply:
        self.sent.append((table, command))
        if table == "T05":
            await self.go.wait()
        if table in self.silent:
            raise NoAnswer("no answer in 8 s")
        if table in self.refusing:
            return refusal_reply(command.id, "OTHER_RUN")
        return CommandReply(id=command.id, ok=True, result={})


async def test_what_was_ordered_of_an_area_is_followed_table_by_table_until_it_is_seen(
    hall: tuple[RefereeConsole, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    console, tables = hall
    mixed = Mixed(monkeypatch)
    pressed = asyncio.ensure_future(press(console, "hold", reason="fire alarm"))
    await until(lambda: acts(console) and fates(console).get("T04") == "accepted")
    found = fates(console)
    assert found == {
        "T01": "accepted",
        "T02": "silent",
        "T03": "refused",
        "T04": "accepted",
        "T05": "sent",
        "T06": "accepted",
    }
    tables.tell("T01", "command", id="press-0001-T01")
    mixed.go.set()
    await pressed
    tables.tell("T05", "command", id="press-0001-T05")
    assert fates(console, Role.REFEREE) == found | {"T01": "seen", "T05": "seen"}
    (act,) = acts(console)
    assert (act["act"], act["person"], act["reason"]) == ("hold", "chief", "fire alarm")
    assert act["tables"][2]["error"]["code"] == "OTHER_RUN"
    assert acts(console, Role.OBSERVER) is None


async def test_what_is_not_known_of_an_area_is_asked_for_again_and_what_refused_is_not(
    hall: tuple[RefereeConsole, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _ = hall
    mixed = Mixed(monkeypatch)
    mixed.go.set()
    await press(console, "hold", reason="fire alarm")
    before, mixed.sent, mixed.silent = mixed.sent, [], set()
    async with logged_in(console, "ref") as client:
        assert refused(await client.post("/api/acts/press-0001/again"))[0] == 403
    async with logged_in(console, "chief") as client:
        assert (await client.post("/api/acts/press-0001/again")).status_code == 200
        assert refused(await client.post("/api/acts/press-0404/again"))[0] == 409
    assert mixed.sent == [one for one in before if one[0] == "T02"]
    assert (fates(console)["T02"], fates(console)["T03"]) == ("accepted", "refused")
    mixed.refusing = set()
    await press(console, "hold", id="press-0002", reason="fire alarm", tables=["T03"])
    assert fates(console) == {"T03": "accepted"}


async def test_what_is_not_known_stays_shown_beside_what_is_ordered_next(
    hall: tuple[RefereeConsole, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _ = hall
    mixed = Mixed(monkeypatch)
    mixed.go.set()
    await press(console, "hold", reason="fire alarm")
    for n in range(2, 10):
        await press(console, "hold", id=f"press-000{n}", reason="smoke", tables=["T01"])
    assert [act["id"] for act in acts(console)] == ["press-0009", "press-0001"]
    mixed.silent = set()
    async with logged_in(console, "chief") as client:
        await client.post("/api/acts/press-0001/again")
    await press(console, "hold", id="press-0010", reason="smoke", tables=["T01"])
    assert [act["id"] for act in acts(console)] == ["press-0010", "press-0001"]  # T03 refused
    mixed.refusing = set()
    await press(console, "hold", id="press-0011", reason="smoke", tables=["T03"])
    assert [act["id"] for act in acts(console)] == ["press-0011"]


async def test_what_was_refused_and_ordered_anew_stands_in_the_newer_act_alone(
    hall: tuple[RefereeConsole, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    console, tables = hall
    mixed = Mixed(monkeypatch)
    mixed.go.set()
    await press(console, "hold", reason="fire alarm")
    mixed.refusing = set()
    tables.clock.turn(1)
    await press(console, "hold", id="press-0002", reason="fire alarm", tables=["T03"])

    def older(said: Any) -> dict[str, str]:
        (act,) = [one for one in said if one["id"] == "press-0001"]
        return {one["table"]: one["fate"] for one in act["tables"]}

    left = older(acts(console))
    assert ("T03" in left, left["T02"]) == (False, "silent")
    assert fates(console) == {"T03": "accepted"}
    # … also once the newer act itself is shown no more, and after a restart.
    await press(console, "hold", id="press-0003", reason="smoke", tables=["T01"])
    assert [act["id"] for act in acts(console)] == ["press-0003", "press-0001"]
    assert older(acts(console)) == left
    again = AreaActions(
        console.dispatcher, CommandLog(console.engine), AreaActionLog(console.engine), now
    )
    await again.load()
    assert older(msgspec.to_builtins(again.view([], 0))) == left


async def test_an_area_is_followed_over_a_restart_and_what_was_never_sent_is_sent_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed = Mixed(monkeypatch)
    mixed.go.set()
    write = CommandLog.write

    def dies(orders: CommandLog, given: LoggedCommand) -> None:
        if given.table == "T04":
            raise StoreError("no such disk")
        write(orders, given)

    async with standing(tmp_path) as (console, _):
        with monkeypatch.context() as patch:
            patch.setattr(CommandLog, "write", dies)
            replies = await press(console, "hold", reason="fire alarm")
        assert "nothing was sent" in replies["T04"]["error"]["message"]
        assert fates(console)["T04"] == "unsent"
        engine, kept = console.engine, AreaActionLog(console.engine)
        later = AreaActions(console.dispatcher, CommandLog(engine), kept, now)
        await later.load()
        (act,) = later.view([], 0)
        found = {one.table: one.fate for one in act.tables}
        assert (found["T01"], found["T02"], found["T04"]) == ("accepted", "silent", "unsent")
        mixed.sent.clear()
        other = Account(name="chief2", role=Role.CHIEF)
        await later.ask_again(other, later.find_shown("press-0001"))
        assert {(table, order.person) for table, order in mixed.sent} == {
            ("T02", "chief"),  # it may have acted: asked for in the name of who ordered it
            ("T04", "chief2"),
        }


async def test_whoever_ordered_an_area_asks_after_what_another_chief_sent_of_it(
    hall: tuple[RefereeConsole, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _ = hall
    mixed = Mixed(monkeypatch)
    mixed.go.set()
    mixed.silent = {"T04"}
    write = CommandLog.write

    def dies(orders: CommandLog, given: LoggedCommand) -> None:
        if given.table == "T04":
            raise StoreError("no such disk")
        write(orders, given)

    with monkeypatch.context() as patch:
        patch.setattr(CommandLog, "write", dies)
        await press(console, "hold", reason="fire alarm")
    act = console.area_actions.find_shown("press-0001")
    assert await console.area_actions.ask_again(Account(name="chief2", role=Role.CHIEF), act) == {
        "T04": None
    }
    mixed.silent.clear()
    replies = await console.area_actions.ask_again(Account(name="chief", role=Role.CHIEF), act)
    assert replies["T04"] is not None
    assert replies["T04"].ok
    sent = [command for table, command in mixed.sent if table == "T04"]
    assert sent[0] == sent[1]
    assert sent[0].person == "chief2"
    assert fates(console)["T04"] == "accepted"


@pytest.mark.parametrize("who", ["chief", "chief2"])
async def test_a_table_that_was_let_go_keeps_nobody_from_asking_after_the_others(
    hall: tuple[RefereeConsole, Scripted], monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    console, tables = hall
    mixed = Mixed(monkeypatch)
    mixed.go.set()
    mixed.silent = {"T02", "T04"}
    await press(console, "hold", reason="fire alarm")
    mixed.silent.clear()
    tables.remove("T02")
    act = console.area_actions.find_shown("press-0001")
    replies = await console.area_actions.ask_again(Account(name=who, role=Role.CHIEF), act)
    gone = replies["T02"]
    assert gone is not None
    assert gone.error is not None
    assert "no table T02" in gone.error.message
    assert (fates(console)["T02"], fates(console)["T04"]) == ("silent", "accepted")


async def test_an_order_that_fails_on_its_way_is_told_as_one_that_may_have_acted(
    hall: tuple[RefereeConsole, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _ = hall

    async def send(line: ScriptedLine, command: ClientCommand) -> CommandReply:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(ScriptedLine, "send", send)
    with pytest.raises(RuntimeError, match="ours"):
        await press(console, "hold", reason="fire alarm", tables=["T01"])
    assert fates(console) == {"T01": "silent"}


async def test_an_area_of_which_nothing_can_be_written_down_is_not_ordered_at_all(
    hall: tuple[RefereeConsole, Scripted], sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _ = hall

    def away(*_: object) -> None:
        raise StoreError("no such disk")

    monkeypatch.setattr(AreaActionLog, "write", away)
    async with logged_in(console, "chief") as client:
        said = {"id": "press-0001", "reason": "smoke"}
        answer = await client.post("/api/areas/A/hold", json=said)
    assert refused(answer)[0] == 503
    assert "nothing was sent" in refused(answer)[1]
    assert not sent


async def test_tables_whose_last_word_is_old_are_ordered_or_named_as_left_out(
    hall: tuple[RefereeConsole, Scripted], sent: Sent
) -> None:
    """A match that was over an hour ago may be another one by now."""
    console, tables = hall
    for name in tables.ids:
        known = tables.snapshot(name).state
        if known is not None:
            tables.say(name, known)
    for name in ("T09", "T10"):  # one plays, one was over, by their last words
        tables.cut_off(name, TableConnectionState.DOWN, ago_s=3600)
    async with logged_in(console, "chief") as client:
        await client.post("/api/areas/B/hold", json={"id": "press-0001", "reason": "x"})
    assert {table for table, _ in sent} == {"T07", "T08", "T09"}
    assert acts(console)[0]["unheard"] == ["T10", "T12"]


async def test_where_no_table_is_known_to_be_meant_those_left_out_are_named_all_the_same(
    hall: tuple[RefereeConsole, Scripted], sent: Sent
) -> None:
    console, tables = hall
    for name in tables.ids:
        if name != "T10":
            tables.remove(name)
    tables.cut_off("T10", TableConnectionState.DOWN, ago_s=3600)  # over, by its last word
    async with logged_in(console, "chief") as client:
        said = {"id": "press-0001", "reason": "x"}
        answer = await client.post("/api/areas/B/hold", json=said)
    assert (answer.json(), sent) == ({"tables": {}}, [])
    assert acts(console)[0]["unheard"] == ["T10"]


async def test_tables_that_were_never_heard_are_named_as_left_out(
    hall: tuple[RefereeConsole, Scripted], sent: Sent
) -> None:
    console, tables = hall
    line = msgspec.structs.replace(console.config.tables[0], id="T18", area="B")
    tables.add(line)
    async with logged_in(console, "chief") as client:
        await client.post("/api/areas/B/hold", json={"id": "press-0001", "reason": "x"})
    assert "T18" not in {table for table, _ in sent}
    assert acts(console)[0]["unheard"] == ["T12", "T18"]


def test_an_order_is_named_by_its_request_and_its_table() -> None:
    assert command_id("press-0001", "T01") == "press-0001-T01"
    odd = {command_id("press-0001", table) for table in ("第1台", "第2台", "x" * 60, "a b")}
    assert len(odd) == 4
    assert all(len(name) <= 60 and name.isascii() for name in odd)
