"""A console to which a referee gives a draw, and tables that receive their matches from it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from httpx import AsyncClient, Response

from controller.client.client import NoAnswer
from controller.commands.registry import refusal_reply
from controller.console.console import RefereeConsole
from controller.messages import ClientCommand, CommandReply
from tests.console.draw_files import FIRST, SECOND, a_file
from tests.console.fake import Scripted, ScriptedLine
from tests.console.states import state
from tests.console.web import logged_in, standing

BODY = a_file(FIRST, SECOND, encoding="gb18030")


class Lines:
    """Tables that lay out what they are told; of `refusing` and `silent` ones none does."""

    def __init__(self, tables: Scripted) -> None:
        self.tables = tables
        self.laid: list[tuple[str, ClientCommand]] = []
        self.refusing: set[str] = set()
        self.silent: set[str] = set()

    def __call__(self, table: str, _: object) -> Any:
        lines = self

        class Line(ScriptedLine):
            async def send(self, command: ClientCommand) -> CommandReply:
                if command.cmd != "set_match":
                    return await super().send(command)
                lines.laid.append((table, command))
                if table in lines.silent:
                    raise NoAnswer("no answer in 8 s")
                if table in lines.refusing:
                    return refusal_reply(
                        command.id, "WRONG_PHASE", found="dealing", expected="empty"
                    )
                match = {"match": command.args["match_id"], "verdict": None, "started": False}
                lines.tables.say(table, state(table=table, match=match))
                return CommandReply(id=command.id, ok=True, result={})

        return Line(self.tables, table)


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[tuple[RefereeConsole, Lines]]:
    """A console, and what its tables were told."""
    async with standing(tmp_path) as (console, tables):
        lines = Lines(tables)
        console.dispatcher._client_for = lines
        yield console, lines


@pytest.fixture
async def referee(at: tuple[RefereeConsole, Lines]) -> AsyncIterator[AsyncClient]:
    """A referee's browser."""
    async with logged_in(at[0], "ref") as client:
        yield client


async def sent(client: AsyncClient, body: bytes = BODY, area: str = "*", **more: str) -> Response:
    """Post a draw. Without a digest it is only looked at."""
    params = {"event": "Cup"} | more
    return await client.post(f"/api/draw/{area}", content=body, params=params)


async def laid_out(client: AsyncClient, body: bytes = BODY) -> dict[str, Any]:
    """Look at a draw, and send it as it was looked at."""
    shown = (await sent(client, body)).json()
    answer = await sent(client, body, digest=shown["digest"])
    assert answer.status_code == 200
    tables: dict[str, Any] = answer.json()["tables"]
    return tables
