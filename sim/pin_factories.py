"""Factories of gpiozero pins that are wired to a simulated panel, not to a Raspberry Pi.

`SocketFactory` serves `panel.pins = "unix:PATH"` of a table: the table's sim process sets the pins
over a socket, one line for each change (sim/CONTROL.md). `ContactsFactory` does the same for a
panel that is simulated in this process.
"""

import asyncio
import socket
from collections.abc import Callable

from gpiozero.exc import (
    PinFixedPull,
    PinInvalidFunction,
    PinInvalidPull,
    PinPWMUnsupported,
    PinSetInput,
)
from gpiozero.pins.pi import PiFactory, PiPin

from sim.panel_contacts import PanelContacts
from sim.serial_lines import read_ready

# The board that the header is taken from: a Pi 4 B.
REVISION = 0xC03111
# The time limit for the sim process to send the levels of its contacts.
READY_TIMEOUT_S = 5.0


class WirePin(PiPin):
    """A pin at one end of a simulated wire. An undriven input has its pull resistor's level."""

    bounce: float | None = None

    def __init__(self, factory: "WireFactory", info: object) -> None:
        super().__init__(factory, info)
        self._wires = factory
        self._function = "input"
        self._pull = self.info.pull or "floating"
        self._output = False
        self._edges = "both"
        self._is_listening = False

    def report_change(self, at_s: float | None = None) -> None:
        """Report the wire's new level to gpiozero, if gpiozero listens for this kind of edge.

        `at_s` is the loop's time of the edge. None means now.
        """
        if self._is_listening and self._edges in ("both", "rising" if self.state else "falling"):
            self._call_when_changed(self._wires.ticks() if at_s is None else at_s, self.state)

    def close(self) -> None:
        """Make the pin an input again, without a listener."""
        self.when_changed = None
        self._function = "input"

    def _get_function(self) -> str:
        return self._function

    def _set_function(self, value: str) -> None:
        if value not in ("input", "output"):
            raise PinInvalidFunction(f"{self!r} is an input or an output, not {value!r}")
        self._function = value

    def _get_state(self) -> bool:
        if self._function == "output":
            return self._output
        return self._wires.level(self._number, self._pull == "up")

    def _set_state(self, value: float) -> None:
        if self._function == "input":
            raise PinSetInput(f"cannot set the state of input {self!r}")
        self._wires.send(self._number, bool(value))
        self._output = bool(value)

    def _get_pull(self) -> str:
        return str(self._pull)

    def _set_pull(self, value: str) -> None:
        if self._function != "input":
            raise PinFixedPull(f"cannot set the pull of output {self!r}")
        if self.info.pull and value != self.info.pull:
            raise PinFixedPull(f"{self!r} has a pull resistor of its own")
        if value not in ("floating", "up", "down"):
            raise PinInvalidPull(f"a pull is floating, up or down, not {value!r}")
        self._pull = value

    def _get_frequency(self) -> None:
        return None

    def _set_frequency(self, value: float | None) -> None:
        if value is not None:
            raise PinPWMUnsupported(f"{self!r} is on or off")

    def _get_edges(self) -> str:
        return self._edges

    def _set_edges(self, value: str) -> None:
        self._edges = value

    def _enable_event_detect(self) -> None:
        self._is_listening = True

    def _disable_event_detect(self) -> None:
        self._is_listening = False


class WireFactory(PiFactory):
    """The base class of pin factories for simulated wires.

    `set_level` sets the level of an input, and `send` carries the level of an output.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pin_class = WirePin
        self._loop = asyncio.get_running_loop()
        self._levels: dict[int, bool] = {}

    def set_level(self, number: int, level: bool, at_s: float | None = None) -> None:
        """Set the level of wire `number`. Report an edge at the loop's time `at_s` (None: now)."""
        self._levels[number] = level
        for info, pin in list(self.pins.items()):
            if info.name == f"GPIO{number}":
                pin.report_change(at_s)

    def level(self, number: int, pulled: bool) -> bool:
        """Return the level of wire `number`, or `pulled` if the panel does not drive the wire."""
        return self._levels.get(number, pulled)

    def send(self, number: int, level: bool) -> None:
        """Send the level of output `number` to the panel. Raises OSError if the panel is gone."""
        raise NotImplementedError

    def ticks(self) -> float:
        """Return the loop's time, which gpiozero attaches to each edge."""
        return self._loop.time()

    def ticks_diff(self, later: float, earlier: float) -> float:
        """Return the seconds between two ticks."""
        return later - earlier

    def _get_revision(self) -> int:
        return REVISION


class ContactsFactory(WireFactory):
    """A factory of pins that are wired to simulated contacts in this process."""

    def __init__(self, contacts: PanelContacts) -> None:
        super().__init__()
        self._contacts = contacts
        for number, level in contacts.levels.items():
            self.set_level(number, level)
        self._detach = contacts.attach(self.set_level)

    def send(self, number: int, level: bool) -> None:
        """Switch the lamp or buzzer at output `number` on if `level` is True, otherwise off."""
        self._contacts.set_output(number, level)

    def close(self) -> None:
        """Detach the wires from the contacts."""
        self._detach()
        self._detach = lambda: None
        super().close()


class SocketFactory(WireFactory):
    """A factory of pins that are wired to the contacts of a sim process, over a socket.

    Created by `connect`. If the process ends, every pin raises OSError and `on_lost` is called.
    """

    def __init__(self, sock: socket.socket) -> None:
        """Begin to read pin levels from the connected socket `sock`. Only `connect` calls this."""
        super().__init__()
        self.on_lost: Callable[[], None] = lambda: None
        self._sock = sock
        self._sock.setblocking(False)
        self._unparsed = b""
        self._lost = False
        self._ready = asyncio.Event()
        self._loop.add_reader(sock, self._read_socket)

    @classmethod
    async def connect(cls, path: str) -> "SocketFactory":
        """Return a factory connected to `path` that has received all levels. Raises OSError."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.connect(path)
        except OSError:
            sock.close()
            raise
        factory = cls(sock)
        try:
            async with asyncio.timeout(READY_TIMEOUT_S):
                await factory._ready.wait()
            factory._check()
        except OSError:
            factory.close()
            raise
        return factory

    def level(self, number: int, pulled: bool) -> bool:
        """Return the level of wire `number`, or `pulled` if the sim process has set no level.

        Raises OSError if the sim process has ended.
        """
        self._check()
        return super().level(number, pulled)

    def send(self, number: int, level: bool) -> None:
        """Send the level of output `number` to the sim process. Raises OSError if it has ended."""
        self._check()
        self._sock.send(b"out %d %d\n" % (number, level))

    def close(self) -> None:
        """Detach the wires and close the socket."""
        super().close()
        if self._sock.fileno() >= 0:
            self._loop.remove_reader(self._sock)
            self._sock.close()

    def _check(self) -> None:
        if self._lost:
            raise OSError("the simulated panel is gone")

    def _read_socket(self) -> None:
        if (data := read_ready(self._sock.fileno())) is None:
            return
        if not data:
            self._loop.remove_reader(self._sock)
            self._lost = True
            self._ready.set()
            self.on_lost()
            return
        *lines, self._unparsed = (self._unparsed + data).split(b"\n")
        for words in map(bytes.split, lines):
            if words[:1] == [b"level"] and len(words) == 4:
                self.set_level(int(words[1]), words[2] == b"1", float(words[3]))
            elif words == [b"ready"]:
                self._ready.set()
