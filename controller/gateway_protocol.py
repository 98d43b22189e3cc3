"""The messages between machine and gateway (JSON lines on a Unix socket), and types of metrics.

This module performs no I/O.
"""

from bisect import bisect_left
from typing import Final, TypeAlias, TypeVar

import msgspec

from controller.messages import ClientCommand, CommandReply, Message, PublicEvent, PublicState


class MetricSample(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One value of a metric, with the metric's name and the values of its labels.

    The value of a label is the name of a fault, of a board or of a card set.
    """

    name: str
    labels: tuple[str, ...]
    value: float


class MetricDistribution(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The distribution of measured durations: how many of them are in each range.

    `counts[i]` durations were at most `bounds_s[i]` and more than the previous bound. `counts` has
    one more number than `bounds_s`; the last number counts all longer durations. `sum_s` is the sum
    of all durations.
    """

    name: str
    labels: tuple[str, ...]
    bounds_s: tuple[float, ...]
    counts: tuple[int, ...]
    sum_s: float


class Histogram:
    """A histogram of durations in seconds. Each duration costs only one call of `add`."""

    def __init__(self, bounds_s: tuple[float, ...]) -> None:
        self._bounds_s = bounds_s
        self._counts = [0] * (len(bounds_s) + 1)
        self._sum_s = 0.0

    def add(self, duration_s: float) -> None:
        """Add one duration, in seconds, to the histogram."""
        self._counts[bisect_left(self._bounds_s, duration_s)] += 1
        self._sum_s += duration_s

    def distribution(self, name: str, *labels: str) -> MetricDistribution:
        """Return the histogram as a metric with this `name` and the label values `labels`.

        controller/gateway/metric_families.py has the names.
        """
        return MetricDistribution(name, labels, self._bounds_s, tuple(self._counts), self._sum_s)


SOCKET_NAME: Final = "machine.sock"

MAX_MACHINE_LINE_BYTES: Final = 1 << 20
"""Maximum length in bytes of a line from the machine. It leaves room for an opened record."""

MAX_GATEWAY_LINE_BYTES: Final = 1 << 16
"""Maximum length in bytes of a line from the gateway: four times a client's largest command."""

MAX_ARGUMENT_DEPTH: Final = 16
"""Maximum depth of nested lists and objects in a command's arguments. The commands need three. Both
processes later encode and walk the arguments, where Python's own limit may be lower.
"""


class HelloMessage(Message, frozen=True, tag_field="to", tag="hello"):
    """The first message of the machine: its table, and whether its boards are simulated.

    `boot` identifies this run of the daemon (hex). `metrics` is true if the machine answers
    `ask_metrics`. A machine of an older version would treat that message as unknown and close the
    connection.
    """

    table: str
    simulated: bool
    boot: str = ""
    metrics: bool = False


class FeedMessage(Message, frozen=True, tag_field="to", tag="feed"):
    """A public state or event of the machine. The gateway publishes `body` under `topic`."""

    topic: str
    body: msgspec.Raw


class ReplyMessage(Message, frozen=True, tag_field="to", tag="reply"):
    """The machine's answer to a command. `ref` is the number of the CommandMessage."""

    ref: int
    body: CommandReply


class CommandMessage(Message, frozen=True, tag_field="to", tag="command"):
    """A command of a client, which the gateway passes on to the machine.

    `peer` is the CURVE key (Z85) of the connection. It is only for the record: the role follows
    from the command's own signature.
    """

    ref: int
    peer: str
    body: ClientCommand


class MetricsMessage(Message, frozen=True, tag_field="to", tag="metrics"):
    """The machine's present metrics. This is the answer to an AskMetricsMessage.

    The names are those of controller/gateway/metric_families.py. The gateway ignores a name that it
    does not have.
    """

    samples: tuple[MetricSample, ...]
    distributions: tuple[MetricDistribution, ...]


class AskMetricsMessage(Message, frozen=True, tag_field="to", tag="ask_metrics"):
    """A request for the machine's present metrics."""


MachineMessage: TypeAlias = HelloMessage | FeedMessage | ReplyMessage | MetricsMessage
GatewayMessage: TypeAlias = CommandMessage | AskMetricsMessage


class GatewayProtocolError(Exception):
    """An error for data that the other process sent, but that this protocol does not allow."""


def state_topic(table: str) -> str:
    """Return the topic under which the public state of a table is published."""
    return f"state/{table}"


def event_topic(table: str) -> str:
    """Return the topic under which the public events of a table are published."""
    return f"event/{table}"


def feed_message(value: PublicState | PublicEvent) -> FeedMessage:
    """Return a message that contains `value`, which the gateway will publish."""
    topic = state_topic if isinstance(value, PublicState) else event_topic
    return FeedMessage(topic(value.table), msgspec.Raw(msgspec.json.encode(value)))


def encode_line(message: MachineMessage | GatewayMessage) -> bytes:
    """Return `message` as one line of JSON that ends with a newline."""
    return msgspec.json.encode(message) + b"\n"


def decode_machine_line(line: bytes) -> MachineMessage:
    """Return the message in a line from the machine. Raises GatewayProtocolError."""
    return _decode(_MACHINE_DECODER, line)


def decode_gateway_line(line: bytes) -> GatewayMessage:
    """Return the message in a line from the gateway. Raises GatewayProtocolError."""
    message = _decode(_GATEWAY_DECODER, line)
    if isinstance(message, CommandMessage) and is_too_deep(message.body.args):
        raise GatewayProtocolError(
            f"arguments more than {MAX_ARGUMENT_DEPTH} deep within each other"
        )
    return message


def is_too_deep(value: object, max_depth: int = MAX_ARGUMENT_DEPTH) -> bool:
    """Return whether lists and dictionaries in `value` are nested more than `max_depth` deep."""
    if not isinstance(value, (dict, list)):
        return False
    held = value.values() if isinstance(value, dict) else value
    return max_depth == 0 or any(is_too_deep(each, max_depth - 1) for each in held)


class LineSplitter:
    """A splitter of a stream of bytes into lines of at most `limit` bytes.

    For a longer line `split` raises GatewayProtocolError. The caller then closes the connection.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = b""

    def split(self, data: bytes) -> list[bytes]:
        """Add `data` to the stream, and return all lines that are now complete, without newlines.

        Raises GatewayProtocolError for a line of more than `limit` bytes.
        """
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = self._rest + lines[0]
            self._rest = rest
        else:
            self._rest += rest
        if max(map(len, (*lines, self._rest))) > self._limit:
            raise GatewayProtocolError(f"a line of more than {self._limit} bytes")
        return lines


_T = TypeVar("_T")

_MACHINE_DECODER: Final[msgspec.json.Decoder[MachineMessage]] = msgspec.json.Decoder(MachineMessage)
_GATEWAY_DECODER: Final[msgspec.json.Decoder[GatewayMessage]] = msgspec.json.Decoder(GatewayMessage)


def _decode(decoder: msgspec.json.Decoder[_T], line: bytes) -> _T:
    try:
        return decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise GatewayProtocolError(f"a line that is no message: {wrong}") from wrong
