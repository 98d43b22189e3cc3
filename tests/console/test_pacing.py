"""How fast one person may order: as hands do, and what is refused for that was surely not sent."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from httpx import AsyncClient, Response

from controller.console.commands.command_log import CommandLog
from controller.console.console import RefereeConsole
from controller.console.rate_limits import COMMAND_BURST, COMMANDS_PER_SECOND, TokenBuckets
from controller.messages import ClientCommand, CommandReply
from tests.console.fake import ScriptedLine
from tests.console.web import logged_in, refused, standing

pytestmark = pytest.mark.virtual

FLOOD = 200


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[RefereeConsole]:
    """A console over scripted tables, whose orders have no time to grow more in."""
    async with standing(tmp_path) as (console, _):
        console.command_buckets = TokenBuckets(COMMAND_BURST, 1e-6)
        yield console


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of what was sent to tables; every table does it."""
    found: list[str] = []

    async def send(line: ScriptedLine, command: ClientCommand) -> CommandReply:
        found.append(command.id)
        return CommandReply(id=command.id, ok=True, result={})

    monkeypatch.setattr(ScriptedLine, "send", send)
    return found


async def orders(client: AsyncClient, n: int) -> Response:
    """Let somebody stop the clocks of a table."""
    told = {"id": f"flood-{n:04}", "cmd": "hold", "args": {"reason": "smoke"}}
    return await client.post("/api/tables/T01/do", json=told)


async def test_a_script_that_floods_a_table_gets_as_many_orders_there_as_hands_press(
    console: RefereeConsole, sent: list[str]
) -> None:
    async with logged_in(console, "ref") as client:
        answers = await asyncio.gather(*(orders(client, n) for n in range(FLOOD)))
    done = [n for n, answer in enumerate(answers) if answer.status_code == 200]
    assert len(done) == COMMAND_BURST
    assert sorted(sent) == [f"flood-{n:04}" for n in done]
    assert all(answers[n].json()["reply"]["ok"] for n in done)


async def test_what_is_refused_for_its_pace_is_written_nowhere_and_goes_out_when_tried_again(
    console: RefereeConsole, sent: list[str]
) -> None:
    async with logged_in(console, "ref") as client:
        console.command_buckets = TokenBuckets(1, 1 / 30)
        assert (await orders(client, 0)).status_code == 200
        answer = await orders(client, 1)
        status, why = refused(answer)
        assert (status, answer.headers["retry-after"]) == (429, "30")
        assert "too many commands" in why
        assert CommandLog(console.engine).find("flood-0001") is None
        assert sent == ["flood-0000"]
        console.command_buckets = TokenBuckets(1, 1.0)
        assert (await orders(client, 1)).json()["reply"]["ok"]
    assert sent == ["flood-0000", "flood-0001"]


async def test_one_who_floods_keeps_nobody_else_from_ordering(
    console: RefereeConsole, sent: list[str]
) -> None:
    async with logged_in(console, "ref") as client, logged_in(console, "ref2") as other:
        await asyncio.gather(*(orders(client, n) for n in range(FLOOD)))
        assert (await orders(other, 900)).json()["reply"]["ok"]
        assert refused(await orders(client, 901))[0] == 429


async def test_a_person_has_one_pace_in_all_his_browsers(
    console: RefereeConsole, sent: list[str]
) -> None:
    console.command_buckets = TokenBuckets(2, 1e-6)
    async with logged_in(console, "ref") as tablet, logged_in(console, "ref") as telephone:
        found = [await orders(tablet, 0), await orders(telephone, 1), await orders(tablet, 2)]
    assert [answer.status_code for answer in found] == [200, 200, 429]


async def test_an_order_for_a_whole_area_is_one(console: RefereeConsole, sent: list[str]) -> None:
    console.command_buckets = TokenBuckets(2, 1e-6)
    async with logged_in(console, "chief") as client:
        told = {"id": "area-0001", "reason": "fire alarm"}
        answer = await client.post("/api/areas/A/hold", json=told)
        assert len(answer.json()["tables"]) == len(sent) > 2
        assert (await orders(client, 0)).status_code == 200
        assert (await orders(client, 1)).status_code == 429


async def test_to_look_to_ask_and_to_leave_is_no_order(console: RefereeConsole) -> None:
    console.command_buckets = TokenBuckets(0, 1e-6)
    async with logged_in(console, "ref") as client:
        assert (await client.get("/api/areas")).status_code == 200
        assert (await client.post("/api/judge", json={})).status_code == 400  # it was read
        assert (await client.post("/api/tables/T01/take", json={})).status_code == 429
        assert (await client.post("/api/logout")).status_code == 200


def test_hands_are_never_too_fast_and_a_script_that_goes_on_has_its_steady_rate() -> None:
    pace = TokenBuckets(COMMAND_BURST, COMMANDS_PER_SECOND)
    assert all(pace.allow("hands", n / 4) for n in range(1_000))
    took = sum(pace.allow("script", n / 1_000) for n in range(60_000))
    assert took == pytest.approx(COMMAND_BURST + 60 * COMMANDS_PER_SECOND, abs=1)
    assert pace.wait_s == 1
