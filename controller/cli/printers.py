"""What `dealtable watch` prints of a table: lines for people, or its JSON."""

from typing import Final, Protocol

import click
import msgspec
from rich.console import Console

from controller.bridge import state_topic
from controller.cli.changes import BAD, Line, changes, silence, way
from controller.gateway.client import Heard
from controller.gateway.line import LineState
from controller.messages import State

SILENT_S: Final = 3.0
"""A table says something every second; after three it counts as silent."""


class Printer(Protocol):
    """What becomes of what one table says."""

    def say(self, line: Line) -> None:
        """Something is to be said of the table."""

    def heard(self, heard: Heard) -> None:
        """A message came."""

    def line(self, state: LineState) -> None:
        """The way to the table opened or closed."""

    def silent(self) -> None:
        """Nothing came for SILENT_S, though it should."""


class JsonPrinter:
    """Each message's JSON on a line of its own; what is wrong with the line on stderr."""

    def __init__(self, name: str) -> None:
        self._name = name

    def say(self, line: Line) -> None:
        """Say it."""
        click.echo(f"{self._name}  {line.text}", err=True)

    def heard(self, heard: Heard) -> None:
        """Print it as it came."""
        click.echo(heard.body)

    def line(self, state: LineState) -> None:
        """Say it."""
        if state is not LineState.OPEN:
            self.say(Line(str(state)))

    def silent(self) -> None:
        """Say it."""
        self.say(silence(None, SILENT_S))


class LinePrinter:
    """A line for each change of the state."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._last: State | None = None
        self._state = LineState.CONNECTING
        self._console = Console(highlight=False, soft_wrap=True)

    def say(self, line: Line) -> None:
        """Say it."""
        self._console.print(f"{self._name}  {line.text}", style=line.style, markup=False)

    def heard(self, heard: Heard) -> None:
        """Print what is new in a state; events say nothing that a state does not."""
        try:
            now = state_in(heard)
        except msgspec.MsgspecError as error:
            self.say(Line(f"a state of another version: {error}", BAD))
            return
        if now is None:
            return
        self._name = now.table
        for line in changes(self._last, now):
            self.say(Line(f"{now.time[11:19]}  {line.text}", line.style))
        self._last = now

    def line(self, state: LineState) -> None:
        """Say how the way to the table stands now."""
        self._state = state
        self.say(way(state, self._last))

    def silent(self) -> None:
        """Say so, unless the line itself is known to be the reason."""
        if self._state in (LineState.CONNECTING, LineState.OPEN):
            self.say(silence(self._last, SILENT_S))


def state_in(heard: Heard) -> State | None:
    """Return the state in a message; None for an event. Raises MsgspecError."""
    if not heard.topic.startswith(state_topic("")):
        return None
    return msgspec.json.decode(heard.body, type=State)
