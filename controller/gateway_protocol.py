"""What machine and gateway count, as numbers for technicians and lines of a log. Pure."""

from bisect import bisect_left
from typing import Final, TypeAlias, TypeVar

import msgspec

from controller.messages import ClientCommand, CommandReply, Message, PublicEvent, PublicState


class MetricSample(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One number: what it counts, for which label values (names of faults, boards, sets)."""

    name: str
    labels: tuple[str, ...]
    value: float


class MetricDistribution(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """How many of something took how long.

    `counts[i]` of them took at most `bounds_s[i]` and more than the bound before; the last
    count, one more than there are bounds, is of the rest. `sum_s` is all of them together.
    """

    name: str
    labels: tuple[str, ...]
    bounds_s: tuple[float, ...]
    counts: tuple[int, ...]
    sum_s: float


class Histogram:
    """How often something took how long, in seconds; `add` is all that it costs to measure."""

    def __init__(self, bounds_s: tuple[float, ...]) -> None:
        self._bounds_s = bounds_s
        self._counts = [0] * (len(bounds_s) + 1)
        self._sum_s = 0.0

    def add(self, duration_s: float) -> None:
        """Count one more."""
        self._counts[bisect_left(self._bounds_s, duration_s)] += 1
        self._sum_s += duration_s

    def distribution(self, name: str, *labels: str) -> MetricDistribution:
        """Return what it counted, under a name of gateway/families.py."""
        return MetricDistribution(name, labels, self._bounds_s, tuple(self._counts), self._sum_s)


SOCKET_NAME: Final = "machine.sock"

MAX_MACHINE_LINE_BYTES: Final = 1 << 20
"""Most bytes of a line the machine sends: room for an opened record."""

MAX_GATEWAY_LINE_BYTES: Final = 1 << 16
"""Most bytes of a line the gateway sends: four times a client's largest command."""


MAX_ARGUMENT_DEPTH: Final = 16
"""How deep lists and objects may stand within each other in a command's arguments: the commands
need three. Both sides encode and walk them later, where Python's own limit may be nearer."""


class HelloMessage(Message, frozen=True, tag_field="to", tag="hello"):
    """The machine's first line: which table it is, and whether its boards are simulated.

    `boot` names this run of the daemon (hex). `metrics`: it answers `ask_metrics`; a machine of
    an older version would take that for a stranger's word and hang up.
    """

    table: str
    simulated: bool
    boot: str = ""
    metrics: bool = False


class FeedMessage(Message, frozen=True, tag_field="to", tag="feed"):
    """Something public: `body` goes out under `topic` as it stands."""

    topic: str
    body: msgspec.Raw


class ReplyMessage(Message, frozen=True, tag_field="to", tag="reply"):
    """The machine's answer to the command of this `ref`."""

    ref: int
    body: CommandReply


class CommandMessage(Message, frozen=True, tag_field="to", tag="command"):
    """A client's command. `peer` is the CURVE key (Z85) it came in under, for the record:
    roles and orders follow from the command's own signature."""

    ref: int
    peer: str
    body: ClientCommand


class MetricsMessage(Message, frozen=True, tag_field="to", tag="metrics"):
    """What only the machine can count, as numbers. Names are those of
    gateway/families.py; one that the gateway does not know is passed over."""

    samples: tuple[MetricSample, ...]
    distributions: tuple[MetricDistribution, ...]


class AskMetricsMessage(Message, frozen=True, tag_field="to", tag="ask_metrics"):
    """Let the machine say its numbers, as they are now."""


MachineMessage: TypeAlias = HelloMessage | FeedMessage | ReplyMessage | MetricsMessage
GatewayMessage: TypeAlias = CommandMessage | AskMetricsMessage


class GatewayProtocolError(Exception):
    """The other side sent what this protocol does not have."""


def state_topic(table: str) -> str:
    """Return the topic of a table's public state."""
    return f"state/{table}"


def event_topic(table: str) -> str:
    """Return the topic of a table's public events."""
    return f"event/{table}"


def feed_message(value: PublicState | PublicEvent) -> FeedMessage:
    """Return what the machine sends to publish a state or an event."""
    topic = state_topic if isinstance(value, PublicState) else event_topic
    return FeedMessage(topic(value.table), msgspec.Raw(msgspec.json.encode(value)))


def encode_line(message: MachineMessage | GatewayMessage) -> bytes:
    """Return the line, closed by a newline, that carries `message`."""
    return msgspec.json.encode(message) + b"\n"


def decode_machine_line(line: bytes) -> MachineMessage:
    """Return the message in a line the machine sent. Raises BridgeError."""
    return _decode(_MACHINE_DECODER, line)


def decode_gateway_line(line: bytes) -> GatewayMessage:
    """Return the message in a line the gateway sent. Raises BridgeError."""
    message = _decode(_GATEWAY_DECODER, line)
    if isinstance(message, CommandMessage) and is_too_deep(message.body.args):
        raise GatewayProtocolError(
            f"arguments more than {MAX_ARGUMENT_DEPTH} deep within each other"
        )
    return message


def is_too_deep(value: object, max_depth: int = MAX_ARGUMENT_DEPTH) -> bool:
    """Tell whether lists and objects stand more than `deepest` deep within each other."""
    if not isinstance(value, (dict, list)):
        return False
    held = value.values() if isinstance(value, dict) else value
    return max_depth == 0 or any(is_too_deep(each, max_depth - 1) for each in held)


class LineSplitter:
    """Cuts a stream into lines of at most `limit` bytes each.

    A peer that sends a longer one is no peer: `take` raises BridgeError, and the
    connection is to be closed.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = b""

    def split(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes, in order and without their newlines."""
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
