"""What `dealtable watch` prints of a table: lines for people, or its JSON."""

import re
from typing import Final, Protocol, TypeVar

import click
import msgspec
from rich.console import Console

from controller.bridge import event_topic, state_topic
from controller.cli.changes import BAD, Line, StateLines
from controller.cli.plain import plain, safe_json
from controller.client.client import BadMessage, Heard
from controller.client.line import LineState
from controller.faults import Language
from controller.messages import Event, State

SILENT_S: Final = 3.0
"""A table says something every second; after three it counts as silent."""


class FeedPrinter(Protocol):
    """What becomes of what one table says. Its gateway may be anybody's: nothing that comes
    raises anything here, nor steers a terminal."""

    def say(self, line: Line) -> None:
        """Something is to be said of the table."""

    def heard(self, heard: Heard) -> None:
        """A message came."""

    def bad(self, why: str) -> None:
        """What came is no message."""

    def line(self, state: LineState) -> None:
        """The way to the table opened or closed."""

    def silent(self) -> None:
        """Nothing came for SILENT_S, though it should."""


class JsonFeedPrinter:
    """Each message's JSON on a line of its own; what is wrong with the line on stderr."""

    def __init__(self, name: str, language: Language = "en") -> None:
        self._name = name
        self._changes = StateLines(language)
        self._wrong = ""

    def say(self, line: Line) -> None:
        """Say it."""
        click.echo(plain(f"{self._name}  {line.text}"), err=True)

    def heard(self, heard: Heard) -> None:
        """Print it as it came; what is not JSON on one line is none of a table's."""
        try:
            body = _checked_json(heard)
        except BadMessage as bad:
            self.bad(str(bad))
            return
        self._wrong = ""
        click.echo(safe_json(body))

    def bad(self, why: str) -> None:
        """Say it, once until something else is wrong, or nothing."""
        if why != self._wrong:
            self._wrong = why
            self.say(Line(self._changes.say("stranger", why=why), BAD))

    def line(self, state: LineState) -> None:
        """Say it."""
        if state is not LineState.OPEN:
            self.say(self._changes.way(state, None))

    def silent(self) -> None:
        """Say it."""
        self.say(self._changes.silence(None, SILENT_S))


class TextFeedPrinter:
    """A line for each change of the state."""

    def __init__(self, name: str, language: Language = "en") -> None:
        self._name = name
        self._changes = StateLines(language)
        self._last_state: State | None = None
        self._pause_reasons: dict[str, str] = {}
        self._line_state = LineState.CONNECTING
        self._wrong = ""
        self._console = Console(highlight=False, soft_wrap=True)

    def say(self, line: Line) -> None:
        """Say it."""
        text = plain(f"{self._name}  {line.text}")
        with self._console.capture() as captured:
            self._console.print(text, style=line.style, markup=False, emoji=False)
        click.echo(captured.get(), nl=False, color=self._console.is_terminal)

    def heard(self, heard: Heard) -> None:
        """Print what is new in a state. Events say no more, but why somebody stops the table."""
        try:
            now = decode_state(heard)
            if now is None:
                self._keep_pause_reason(heard)
        except BadMessage as bad:
            self._print_problem(self._changes.say("version", why=str(bad)))
            return
        self._wrong = ""
        if now is None:
            return
        self._name = now.table
        for line in self._changes.of(self._last_state, now, self._pause_reasons):
            self.say(Line(f"{now.time[11:19]}  {line.text}", line.style))
        self._last_state = now

    def bad(self, why: str) -> None:
        """Say it, once until something else is wrong, or nothing."""
        self._print_problem(self._changes.say("stranger", why=why))

    def line(self, state: LineState) -> None:
        """Say how the way to the table stands now."""
        self._line_state = state
        self.say(self._changes.way(state, self._last_state))

    def silent(self) -> None:
        """Say so, unless the line itself is known to be the reason."""
        if self._line_state in (LineState.CONNECTING, LineState.OPEN):
            self.say(self._changes.silence(self._last_state, SILENT_S))

    def _print_problem(self, text: str) -> None:
        if text != self._wrong:
            self._wrong = text
            self.say(Line(text, BAD))

    def _keep_pause_reason(self, heard: Heard) -> None:
        """Keep the reason of whoever stops the table: it comes before the state that shows it."""
        if not heard.topic.startswith(event_topic("")):
            return
        event = _decode(_EVENT, heard.body)
        if event.kind == "pause":
            self._pause_reasons[str(event.data.get("reason"))] = str(event.data.get("why") or "")


def decode_state(heard: Heard) -> State | None:
    """Return the state in a message; None for an event. Raises BadMessage."""
    return _decode(_STATE, heard.body) if heard.topic.startswith(state_topic("")) else None


_STATE: Final = msgspec.json.Decoder(State)
_EVENT: Final = msgspec.json.Decoder(Event)
_JSON: Final = msgspec.json.Decoder()
_CONTROL_BYTES: Final = re.compile(rb"[\x00-\x1f]")


def _checked_json(heard: Heard) -> str:
    """Return the message's JSON. Raises BadMessage for what is none, or more than one line."""
    if _CONTROL_BYTES.search(heard.body):
        raise BadMessage("JSON on more than one line")
    _decode(_JSON, heard.body)
    return heard.body.decode()


_T = TypeVar("_T")


def _decode(decoder: msgspec.json.Decoder[_T], body: bytes) -> _T:
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise BadMessage(str(wrong)) from None
