"""Output of `dealtable watch` for one table: lines for people, or JSON."""

import re
from abc import ABC, abstractmethod
from typing import Final, TypeVar

import click
import msgspec
from rich.console import Console

from controller.cli.state_lines import BAD_STYLE, StateLine, StateLines
from controller.client.client import BadMessage, ReceivedMessage
from controller.client.connection import TableConnectionState
from controller.faults import Language
from controller.gateway_protocol import event_topic, state_topic
from controller.host.printable_text import safe_json, safe_line
from controller.messages import PublicEvent, PublicState

SILENCE_TIMEOUT_S: Final = 3.0
"""Time limit for the next message. A table publishes a state every second."""


class _FeedPrinter(ABC):
    """A printer of one table's messages. A gateway may be compromised: no message may raise an
    error here or control the terminal.
    """

    def __init__(self, name: str, language: Language = "en") -> None:
        self._name = name
        self._state_lines = StateLines(language)
        self._last_problem = ""

    @abstractmethod
    def print_line(self, line: StateLine) -> None:
        """Print a line about the table."""

    def print_bad_message(self, reason: str) -> None:
        """Print that a message is bad and why, unless the last printed problem is the same."""
        self._print_problem(self._state_lines.format_text("stranger", why=reason))

    def _print_problem(self, text: str) -> None:
        if text != self._last_problem:
            self._last_problem = text
            self.print_line(StateLine(text, BAD_STYLE))


class JsonFeedPrinter(_FeedPrinter):
    """A printer that prints each message as JSON on one line. Problems are printed on stderr."""

    def print_line(self, line: StateLine) -> None:
        """Print the name of the table and the line on stderr."""
        click.echo(safe_line(f"{self._name}  {line.text}"), err=True)

    def print_message(self, message: ReceivedMessage) -> None:
        """Print the message unchanged. Data that is not JSON on one line is reported as invalid."""
        try:
            if _CONTROL_BYTES.search(message.body):
                raise BadMessage("JSON on more than one line")
            _decode(_JSON, message.body)
        except BadMessage as bad:
            self.print_bad_message(str(bad))
            return
        self._last_problem = ""
        click.echo(safe_json(message.body.decode()))

    def print_line_state(self, state: TableConnectionState) -> None:
        """Print the state of the connection on stderr unless the connection is open."""
        if state is not TableConnectionState.OPEN:
            self.print_line(self._state_lines.connection_line(state, None))

    def print_silence(self) -> None:
        """Print on stderr that the table is silent."""
        self.print_line(self._state_lines.silence_line(None, SILENCE_TIMEOUT_S))


class TextFeedPrinter(_FeedPrinter):
    """A printer that prints one line for people for each change of a table's state."""

    def __init__(self, name: str, language: Language = "en") -> None:
        super().__init__(name, language)
        self._last_state: PublicState | None = None
        self._pause_reasons: dict[str, str] = {}
        self._line_state = TableConnectionState.CONNECTING
        self._console = Console(highlight=False, soft_wrap=True)

    def print_line(self, line: StateLine) -> None:
        """Print the name of the table and the line, in the style of the line."""
        text = safe_line(f"{self._name}  {line.text}")
        with self._console.capture() as captured:
            self._console.print(text, style=line.style, markup=False, emoji=False)
        click.echo(captured.get(), nl=False, color=self._console.is_terminal)

    def print_message(self, message: ReceivedMessage) -> None:
        """Print one line for each difference between a new state and the last state.

        From an event, this method stores only the reason of a pause.
        """
        try:
            if (now := decode_state(message)) is None:
                self._keep_pause_reason(message)
        except BadMessage as bad:
            self._print_problem(self._state_lines.format_text("version", why=str(bad)))
            return
        self._last_problem = ""
        if now is None:
            return
        self._name = now.table
        for line in self._state_lines.compare(self._last_state, now, self._pause_reasons):
            self.print_line(StateLine(f"{now.time[11:19]}  {line.text}", line.style))
        self._last_state = now

    def print_line_state(self, state: TableConnectionState) -> None:
        """Print a line about `state`, the present state of the connection."""
        self._line_state = state
        self.print_line(self._state_lines.connection_line(state, self._last_state))

    def print_silence(self) -> None:
        """Print that the table is silent, if the connection is open or is being opened."""
        if self._line_state in (TableConnectionState.CONNECTING, TableConnectionState.OPEN):
            self.print_line(self._state_lines.silence_line(self._last_state, SILENCE_TIMEOUT_S))

    def _keep_pause_reason(self, message: ReceivedMessage) -> None:
        """Store the reason given in a pause event, because no state contains this reason."""
        if not message.topic.startswith(event_topic("")):
            return
        event = _decode(_EVENT, message.body)
        if event.kind == "pause":
            self._pause_reasons[str(event.data.get("reason"))] = str(event.data.get("why") or "")


FeedPrinter = JsonFeedPrinter | TextFeedPrinter


def decode_state(message: ReceivedMessage) -> PublicState | None:
    """Return the state in a message, or None if the message is an event. Raises BadMessage."""
    return _decode(_STATE, message.body) if message.topic.startswith(state_topic("")) else None


_STATE: Final = msgspec.json.Decoder(PublicState)
_EVENT: Final = msgspec.json.Decoder(PublicEvent)
_JSON: Final = msgspec.json.Decoder()
_CONTROL_BYTES: Final = re.compile(rb"[\x00-\x1f]")


_T = TypeVar("_T")


def _decode(decoder: msgspec.json.Decoder[_T], body: bytes) -> _T:
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise BadMessage(str(wrong)) from None
