"""Common core of both boards: session, numbered commands, events and heartbeat.

A core has no clock and no port: `step(now_ms, rx) -> tx`. `deadline()` returns the latest moment of
the next step. Late, repeated or unneeded steps do no harm. drivers/link/PROTOCOL.md defines the
frames.
"""

import struct

from . import protocol
from .event_memory import EventMemory
from .framing import Decoder, encode
from .pins import LOST_EDGES, Hal
from .settings import BoardSettings
from .version import FIRMWARE_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Events reserved for later reports when the board starts nothing new.
EVENT_RESERVE = 32
MAX_COUNT = 255  # The largest count in one byte.
LAST_NUMBER = 0xFFFF  # Of a command; the next number is 1.
_LIFE = ">II"
_LIFE_SIZE = struct.calcsize(_LIFE)
_MAX_LIFE = 0xFFFFFFFF  # Upper limit of a total. A damaged store may contain it on a young board.


class BoardCore:
    """The core of one board: its sessions, commands, events, settings and stored data.

    A subclass adds commands, pins and totals. `boot` is a number this board never used before,
    `reset_cause` one of RESET_… of the protocol, `fw_hash` the hash over the package's files,
    `stored` the result of `to_store` before the reset.
    """

    kind = 0

    def __init__(
        self,
        hal: Hal,
        boot: int,
        reset_cause: int = 0,
        fw_hash: bytes = bytes(8),
        stored: bytes = b"",
    ) -> None:
        self.hal = hal
        self.boot = boot
        self.settings = BoardSettings(self.kind)
        self.memory = EventMemory()
        self.session = 0  # 0: none
        self.attempt = 0  # 0: none
        self.now = 0  # The latest time given to `step`.
        self.edge_ms = 0  # The time of the present edge; otherwise now.
        self.life_in = 0  # Cards fed (dealer) or pulses counted (reader) in the board's life.
        self.life_out = 0  # Cards landed, or reads sent.
        self.events_lost = False  # an event was lost because the memory was full
        self._reset_cause = reset_cause
        self._fw_hash = fw_hash
        self._decoder = Decoder()
        self._number = 0  # The last command done in this session.
        self._reply = b""
        self._heard_ms = 0
        self._sent_ms = 0
        self._is_silent = False
        self._tx: list[bytes] = []
        self._levels: dict[str, int] = {}
        self.service_requested = False  # True: the shell gives the chip to a technician.
        self._restore(stored)
        self._stored_state = self._state_to_store()
        # The function of a numbered command receives the body's fields and returns a result.
        self.commands: dict[int, Callable[..., int]] = {
            protocol.CONFIGURE: self._configure,
            protocol.STATUS: self._get_status,
        }

    # Methods that a subclass overrides.

    def totals(self) -> tuple[int, int]:
        """Return two counts of this attempt's cards: cards that arrived, and finished cards.

        Each event contains both. The dealer board counts cards at the window and landings, the
        reader board announced cards and READ events.
        """
        raise NotImplementedError

    def doing(self) -> int:
        """Return the present activity as a number of the protocol (IDLE, FEEDING …)."""
        raise NotImplementedError

    def is_busy(self) -> bool:
        """Return whether the board moves or reads a card, so that no setting may change now."""
        raise NotImplementedError

    def pack_status(self) -> bytes:
        """Return the state of the board as the body of its answer to STATUS."""
        raise NotImplementedError

    def is_polled(self) -> int:
        """Return 1 if the host announces cards by LOOK, or 0 if a wire announces them."""
        return 0

    def on_edge(self, name: str, value: int) -> None:
        """Handle one change of an input, which happened at `self.edge_ms`.

        Edges come in order.
        """
        raise NotImplementedError

    def on_time(self, until_ms: int) -> None:
        """Handle every time limit that ended at or before `until_ms`."""
        raise NotImplementedError

    def on_answers(self) -> None:
        """Handle the answers of a reading engine, if the board has one."""

    def can_pause(self) -> bool:
        """Return whether the program may stop for some milliseconds now, to collect garbage."""
        return not self.is_busy()

    def check_service(self) -> int:
        """Return DONE if SERVICE may end the program now, else a result code with the reason."""
        return protocol.BUSY if self.is_busy() else protocol.DONE

    def on_edges_lost(self) -> None:
        """Report that inputs changed too fast for all changes to be stored."""
        self.emit(protocol.STOPPED, place=protocol.EDGES_LOST)

    def on_silence(self) -> None:
        """Report that the host was silent for the time of the setting `silence_ms`."""
        self.emit(protocol.STOPPED, place=protocol.HOST_SILENT)

    def on_stop(self) -> None:
        """Handle STOP from the host."""

    def advance(self) -> None:
        """Start every motion that is possible now."""

    def next_ms(self) -> int:
        """Return when the next time limit of a motion or look ends, or NEVER_MS if none is set."""
        raise NotImplementedError

    # The core.

    def step(self, now_ms: int, rx: bytes) -> bytes:
        """Handle input changes, ended time limits and received bytes. Return the bytes to send.

        Answers of an engine come first: they answer earlier steps. Edges come before frames: a
        command is judged by what the sensors have already reported.
        """
        self.now = now = max(self.now, now_ms)
        self.on_answers()
        for at, name, value in self.hal.edges():
            self.edge_ms = min(at, now)
            self.on_time(self.edge_ms - 1)
            if name == LOST_EDGES:
                self._levels.clear()
                self.on_edges_lost()
                continue
            self._levels[name] = value
            self.on_edge(name, value)
        self.edge_ms = now
        self.on_time(now)
        if rx:
            for payload in self._decoder.feed(rx):
                self._on_payload(payload)
        self._check_silence()
        self.advance()
        self._send_due()
        if not self._tx:
            return b""
        tx = b"".join(self._tx)
        self._tx = []
        return tx

    def deadline(self) -> int:
        """Return the latest time at which `step` must be called again, on the clock of `step`."""
        if not self.session or self._is_silent:
            return self.next_ms()
        return min(
            self.next_ms(),
            self._heard_ms + self.settings["silence_ms"],
            self._sent_ms + self.settings["alive_ms"],
            self.memory.deadline(),
        )

    def allow_service(self) -> None:
        """Accept the command SERVICE from now on, which opens the chip's prompt for a technician.

        The program around the core calls this method if it can open the prompt.
        """
        self.commands[protocol.SERVICE] = self._enter_service

    def level(self, name: str) -> int:
        """Return the level of the input `name` at the time of the edge that is handled now."""
        value = self._levels.get(name)
        return self.hal.read(name) if value is None else value

    def emit(self, code: int, index: int = 0, place: int = 0, more: bytes = b"") -> None:
        """Store an event of this attempt, to be sent to the host after all earlier events.

        If the memory is full, the event is lost.
        """
        if not self.memory.free_slots():
            self.events_lost = True
            return
        total_in, total_out = self.totals()
        fields = (
            self.attempt,
            code,
            min(total_in, MAX_COUNT),
            min(total_out, MAX_COUNT),
            index,
            place,
        )
        number = self.memory.last + 1
        self.memory.add(
            struct.pack(protocol.BODIES[protocol.EVENT], self.boot, number, *fields) + more
        )

    def is_memory_low(self) -> bool:
        """Return whether stored events leave too little memory to start a motion or a look."""
        return self.memory.free_slots() < EVENT_RESERVE

    def pack_stored(self) -> bytes:
        """Return the bytes that `__init__` accepts as `stored`: lifetime totals and settings."""
        return struct.pack(_LIFE, *self.life_totals()) + self.settings.pack()

    def life_totals(self) -> tuple[int, int]:
        """Return the lifetime totals of arrived and of finished cards, each limited to 32 bits."""
        return min(self.life_in, _MAX_LIFE), min(self.life_out, _MAX_LIFE)

    def to_store(self) -> bytes:
        """Return the data to store if they changed since they were returned last, else b"".

        A busy board also returns b"", and returns the changed data later.
        """
        kept = self._state_to_store()
        if kept == self._stored_state or self.is_busy():
            return b""
        self._stored_state = kept
        return self.pack_stored()

    def _state_to_store(self) -> tuple[int, int, int]:
        """Return a tuple that is different after each change of the data to store."""
        return (self.life_in, self.life_out, self.settings.change_count)

    def _restore(self, stored: bytes) -> None:
        if len(stored) >= _LIFE_SIZE:
            self.life_in, self.life_out = struct.unpack(_LIFE, stored[:_LIFE_SIZE])
            self.settings.restore(stored[_LIFE_SIZE:])

    # Frames from the host.

    def _on_payload(self, payload: bytes) -> None:
        if len(payload) < protocol.HOST_HEADER_SIZE:
            return
        header = payload[: protocol.HOST_HEADER_SIZE]
        kind, session, number, seen, kept = struct.unpack(protocol.HOST_HEADER, header)
        body = payload[protocol.HOST_HEADER_SIZE :]
        layout = protocol.BODIES.get(kind)
        if layout is None or kind >= protocol.WELCOME or len(body) != struct.calcsize(layout):
            return
        if kind == protocol.HELLO:
            self._on_hello(session)
        elif session != self.session or not session:
            body = struct.pack(protocol.BODIES[protocol.NO_SESSION], self.boot, self.session)
            self._send(protocol.NO_SESSION, body, session)
        else:
            self._note_host()
            self.memory.acknowledge(seen, kept, self.now)
            if kind == protocol.STOP:
                self.on_stop()
            elif kind >= protocol.BEGIN:
                self._do_command(kind, number, struct.unpack(layout, body))

    def _on_hello(self, session: int) -> None:
        if not session:
            return
        if session != self.session:
            self.session = session
            self._number = 0
            self._reply = b""
            self.memory.begin_session()
        self._note_host()
        body = struct.pack(
            protocol.BODIES[protocol.WELCOME],
            self.kind,
            self.hal.kind,
            self.hal.uid,
            bytes(FIRMWARE_VERSION),
            self._fw_hash,
            protocol.PROTOCOL_HASH,
            self.boot,
            self.settings.crc(),
            self._reset_cause,
            self.attempt,
            self.memory.last,
            *self.life_totals(),
            self.memory.kept,
            self.is_polled(),
        )
        self._send(protocol.WELCOME, body, session)

    def _note_host(self) -> None:
        self._heard_ms = self.now
        if self._is_silent:
            self._is_silent = False
            self.memory.resend_now()

    def _do_command(self, kind: int, number: int, fields: tuple[int, ...]) -> None:
        """Do and answer the command if `number` follows the number of the last command.

        If `number` is that of the last command, repeat the old answer. Ignore any other number.
        """
        if number == self._number % LAST_NUMBER + 1:
            work = self.commands.get(kind)
            result = work(*fields) if work else protocol.UNKNOWN
            self._number = number
            self._reply = struct.pack(protocol.BODIES[protocol.ACK], number, result)
            if kind == protocol.STATUS and result == protocol.DONE:
                self._reply += self.pack_status()
        elif number != self._number or not number:
            return
        self._send(protocol.ACK, self._reply, self.session)

    def _configure(self, setting: int, value: int) -> int:
        if self.is_busy():
            return protocol.BUSY
        return protocol.DONE if self.settings.change(setting, value) else protocol.BAD_VALUE

    def _get_status(self) -> int:
        return protocol.DONE

    def _enter_service(self) -> int:
        result = self.check_service()
        self.service_requested = result == protocol.DONE
        return result

    # Timeouts of the line.

    def _check_silence(self) -> None:
        if not self.session or self._is_silent:
            return
        if self.now >= self._heard_ms + self.settings["silence_ms"]:
            self._is_silent = True
            self.on_silence()

    def _send_due(self) -> None:
        """Send the stored events that are due, or a due heartbeat if there is nothing else to send.

        While the host is silent, nothing is sent, and events stay stored.
        """
        if not self.session or self._is_silent:
            return
        for body in self.memory.bodies_due(self.now):
            self._send(protocol.EVENT, body, self.session)
        if not self._tx and self.now >= self._sent_ms + self.settings["alive_ms"]:
            fields = (self.boot, self.memory.last, self.doing())
            self._send(
                protocol.ALIVE, struct.pack(protocol.BODIES[protocol.ALIVE], *fields), self.session
            )

    def _send(self, kind: int, body: bytes, session: int) -> None:
        self._sent_ms = self.now
        self._tx.append(encode(struct.pack(protocol.BOARD_HEADER, kind, session) + body))
