"""One press for many tables: an order each, all at once, and a repeat acts once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.client.client import NoAnswer
from controller.client.refused import refusal
from controller.console.console import Console
from controller.console.routes.areas import order_id
from controller.messages import Command, Reply
from tests.console.fake import Scripted, ScriptedLine
from tests.console.web import logged_in, refused, standing

Sent = list[tuple[str, Command]]


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[tuple[Console, Scripted]]:
    """A console over scripted tables."""
    async with standing(tmp_path) as (console, tables):
        yield console, tables


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """What was sent, and whereto; every table does it."""
    found: Sent = []

    async def send(line: ScriptedLine, command: Command) -> Reply:
        found.append((line._table, command))
        await asyncio.sleep(0)
        return Reply(id=command.id, ok=True, result={})

    monkeypatch.setattr(ScriptedLine, "send", send)
    return found


async def press(console: Console, act: str, name: str = "chief", **said: Any) -> Any:
    """Let somebody order something of area A; return what each table has answered."""
    async with logged_in(console, name) as client:
        answer = await client.post(f"/api/areas/A/{act}", json={"id": "press-0001"} | said)
        assert answer.status_code == 200, answer.text
        return answer.json()["tables"]


def not_begun(tables: Scripted, *names: str) -> None:
    """Let matches be laid out that nobody has started."""
    for name in names:
        known = tables.seen(name).state
        assert known is not None
        match = msgspec.structs.replace(known.match, started=False)
        tables.say(name, msgspec.structs.replace(known, match=match))


async def test_the_areas_are_listed_for_whoever_may_look(hall: tuple[Console, Scripted]) -> None:
    console, _ = hall
    async with logged_in(console, "obs") as client:
        said = (await client.get("/api/areas")).json()
    assert [one["area"] for one in said] == ["A", "B"]


async def test_a_start_goes_to_every_match_of_the_area_that_has_not_begun(
    hall: tuple[Console, Scripted], sent: Sent
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
    hall: tuple[Console, Scripted], sent: Sent
) -> None:
    console, tables = hall
    not_begun(tables, "T01", "T02")
    first = await press(console, "start")
    begun = tables.seen("T01").state
    assert begun is not None
    started = msgspec.structs.replace(begun.match, started=True)
    tables.say("T01", msgspec.structs.replace(begun, match=started))
    assert await press(console, "start") == first
    assert len(sent) == 2


async def test_a_stop_and_its_end_are_the_whole_areas(
    hall: tuple[Console, Scripted], sent: Sent
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
    hall: tuple[Console, Scripted], sent: Sent
) -> None:
    console, _ = hall
    replies = await press(console, "time", name="ref", seconds=120, tables=["T03", "T01"])
    assert list(replies) == ["T03", "T01"]
    assert {command.args["seconds"] for _, command in sent} == {120}


async def test_each_table_answers_for_itself(
    hall: tuple[Console, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _ = hall

    async def send(line: ScriptedLine, command: Command) -> Reply:
        if line._table == "T01":
            return refusal(command.id, "NOT_SUSPENDED")
        if line._table == "T02":
            raise NoAnswer("no answer in 8 s")
        return Reply(id=command.id, ok=True, result={})

    monkeypatch.setattr(ScriptedLine, "send", send)
    replies = await press(console, "resume", tables=["T01", "T02", "T03"])
    assert replies["T01"]["error"]["code"] == "NOT_SUSPENDED"
    assert replies["T02"] is None
    assert replies["T03"]["ok"]


async def test_tables_that_failed_are_asked_again_alone(
    hall: tuple[Console, Scripted], sent: Sent
) -> None:
    console, _ = hall
    await press(console, "resume", tables=["T02"])
    assert [table for table, _ in sent] == ["T02"]


async def test_a_referee_may_not_start_an_area_and_nothing_is_sent(
    hall: tuple[Console, Scripted], sent: Sent
) -> None:
    console, tables = hall
    not_begun(tables, "T01")
    replies = await press(console, "start", name="ref")
    assert not replies["T01"]["ok"]
    assert "start_match" in replies["T01"]["error"]["message"]
    assert replies["T01"]["error"]["message_zh"]
    assert not sent


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
    hall: tuple[Console, Scripted], sent: Sent, path: str, said: dict[str, Any], status: int
) -> None:
    console, _ = hall
    async with logged_in(console, "chief") as client:
        answer = await client.post(path, json={"id": "press-0001"} | said)
    assert refused(answer)[0] == status
    assert not sent


async def test_an_observer_orders_nothing(hall: tuple[Console, Scripted], sent: Sent) -> None:
    console, _ = hall
    async with logged_in(console, "obs") as client:
        answer = await client.post("/api/areas/A/resume", json={"id": "press-0001"})
    assert answer.status_code == 403
    assert not sent


def test_an_order_is_named_by_its_request_and_its_table() -> None:
    assert order_id("press-0001", "T01") == "press-0001-T01"
    odd = {order_id("press-0001", table) for table in ("第1台", "第2台", "x" * 60, "a b")}
    assert len(odd) == 4
    assert all(len(name) <= 60 and name.isascii() for name in odd)
