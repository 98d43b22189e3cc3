"""Other answers of scripted tables than those that they are written to give."""

from collections.abc import Callable

import pytest

from controller.messages import ClientCommand, CommandReply
from tests.console.fake import ScriptedLine

Answers = Callable[[str, ClientCommand], CommandReply | None]
"""What a table answers; None: as scripted. Raises NoAnswer."""


def let_answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answers], None]:
    """Return a function that lets all tables answer by another one."""
    scripted = ScriptedLine.send

    def let(answer: Answers) -> None:
        async def send(line: ScriptedLine, command: ClientCommand) -> CommandReply:
            said = answer(line._table, command)
            return said if said is not None else await scripted(line, command)

        monkeypatch.setattr(ScriptedLine, "send", send)

    return let
