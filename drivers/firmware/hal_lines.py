"""The HAL of a board process: its pins as lines of text on a stream.

From the machine: `at NAME VALUE` (how an input stands) and `read FACE BACK UP CONF`
(the engine's answer; a fifth number would be the shot that it answers). To the
machine: `set NAME VALUE`. At the start the machine sends the level of every input:
the first word about an input is no edge.
"""

from . import wire
from .streams import Stream


class PinsClosed(Exception):
    """The machine has closed the stream: this board has no pins any more."""


class TextPins:
    """The pins of one board, with the unique id `uid` (eight bytes)."""

    kind = wire.HAL_SIM

    def __init__(self, uid: bytes, pins: Stream) -> None:
        self.uid = uid
        self._pins = pins
        self._levels: dict[str, int] = {}
        self._edges: list[tuple[int, str, int]] = []
        self._answers: list[tuple[int, ...]] = []
        self._unparsed = b""

    def update(self, now_ms: int) -> None:
        """Take the lines that have come, as of `now_ms`. Raises Gone."""
        data = self._pins.read()
        if data is None:
            raise PinsClosed
        lines = (self._unparsed + data).split(b"\n")
        self._unparsed = lines.pop()
        for line in lines:
            self._parse_line(line.decode().split(), now_ms)

    def read(self, name: str) -> int:
        """Return the level of an input as last told; 0 before."""
        return self._levels.get(name, 0)

    def set(self, name: str, value: int) -> None:
        """Tell the machine where an output should be. Raises Gone."""
        try:
            self._pins.write_all(("set %s %d\n" % (name, value)).encode())
        except OSError:
            raise PinsClosed from None

    def edges(self) -> list[tuple[int, str, int]]:
        """Return (t_ms, name, value) of every change since last asked, oldest first."""
        edges, self._edges = self._edges, []
        return edges

    def answers(self) -> list[tuple[int, ...]]:
        """Return what the engine answered since last asked."""
        answers, self._answers = self._answers, []
        return answers

    def _parse_line(self, words: list[str], now_ms: int) -> None:
        if words[:1] == ["at"] and len(words) == 3:
            name, value = words[1], int(words[2])
            if self._levels.get(name, value) != value:
                self._edges.append((now_ms, name, value))
            self._levels[name] = value
        elif words[:1] == ["read"] and len(words) in (5, 6):
            self._answers.append(tuple([int(word) for word in words[1:]]))
