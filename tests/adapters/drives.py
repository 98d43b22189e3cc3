"""Modbus units that are none of ours: modbus-tk's, wired to a simulated machine's pins.

As a program it stands in a board's place in the simulator: its pty is the RS-485 line, its
descriptor 3 the pins (sim/CONTROL.md). It knows no more of the table than a wiring list does,
and nothing of the project: registers below are what a person read in the drives' manuals.
"""

import asyncio
import fcntl
import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress

from modbus_tk import defines
from modbus_tk.modbus import Databank
from modbus_tk.modbus_rtu import RtuQuery

IO, FEEDER, ROLLERS, GATE, LIFT = 1, 2, 3, 4, 5
# Terminals of the input module, and its counters.
DISCRETE = (
    *("hopper", "tray_feed", "window", "double", "exit"),
    *("pocket_0", "pocket_1", "pocket_2", "pocket_3", "pocket_4"),
    *("lid", "estop", "lift", "lift_down", "shuffler", "shuffled"),
)
GATE_ENDS = 16  # five switches along the gate's way
COUNTED = ("land_0", "land_1", "land_2", "land_3", "land_4", "exit", "shuffled")
SOURCE_COIL, SHUFFLE_COIL, TRIGGER_COIL = 0, 1, 2
# Registers of the drives.
COMMAND, STEPS, POSITION, WATCHDOG, ALARM, ACTUAL = 0x10, 0x11, 0x20, 0x40, 0x08, 0x20
MOTOR = {0: 0, 1: 1, 3: 2}  # command word: stop, on, on and back
LIFTING = {0: 2, 1: 1, 2: 0}  # command word: stay, up, down
PITCH = 1600  # counts of the gate's encoder from outlet to outlet

LINE, PINS = 0, 3
TIOCGPTN = 0x8004_5430  # asks a pty for the number of its other end

Set = Callable[[str, int], None]


class Drives:
    """Five units: an input module, two motors, a positioning drive and the lift's."""

    def __init__(self, put: Set) -> None:
        self._put = put
        self.also: Set = lambda name, value: None  # who else hears what is driven
        self.driven: list[tuple[str, int]] = []
        self._bank = Databank(error_on_missing_slave=False)
        self.silent: set[int] = set()
        self.refuses: dict[int, int] = {}  # unit: exception code
        self.refuses_writes: dict[int, int] = {}
        self.busy_once = False
        self.stuck: set[tuple[int, int]] = set()  # registers that keep what they have
        self.heard_ms = dict.fromkeys((IO, FEEDER, ROLLERS, GATE, LIFT), 0)
        for unit in self.heard_ms:
            slave = self._bank.add_slave(unit)
            slave.add_block("coils", defines.COILS, 0, 8)
            slave.add_block("discrete", defines.DISCRETE_INPUTS, 0, 32)
            slave.add_block("input", defines.ANALOG_INPUTS, 0, 0x40)
            slave.add_block("holding", defines.HOLDING_REGISTERS, 0, 0x80)
        self._was = dict.fromkeys(("source", "shuffle", "trigger", "feed", "pass"), 0)
        self._was |= {"gate": 0, "lift": 2}

    def at(self, name: str, value: int) -> None:
        """A wire of the machine has another level."""
        io = self._bank.get_slave(IO)
        if name in DISCRETE:
            io.set_values("discrete", DISCRETE.index(name), value)
        if name in COUNTED and value:
            place = COUNTED.index(name)
            counted = io.get_values("input", place)[0] + 1
            io.set_values("input", place, counted % 0x10000)
        if name == "gate_at":
            ends = [int(outlet == value) for outlet in range(5)]
            io.set_values("discrete", GATE_ENDS, ends)
            if value < 5:
                stands = list(struct.unpack(">HH", struct.pack(">i", value * PITCH)))
                self._bank.get_slave(GATE).set_values("input", ACTUAL, stands)

    def answer(self, request: bytes, now_ms: int) -> bytes:
        """Hear a frame; return the answer, b"" where nobody gives one."""
        if len(request) < 4 or request[0] in self.silent:
            return b""
        unit, function = request[0], request[1]
        query = RtuQuery()
        code = self.refuses.get(unit) or (self.refuses_writes.get(unit) if function > 4 else None)
        if self.busy_once and function > 4 and unit == FEEDER:
            self.busy_once, code = False, 6
        if code:
            query.parse_request(request)
            return bytes(query.build_response(struct.pack(">BB", function | 0x80, code)))
        kept = {place: self._holding(*place) for place in self.stuck}
        reply = self._bank.handle_request(query, request) or b""
        if reply:
            self.heard_ms[unit] = now_ms
        for (stuck_unit, register), value in kept.items():
            self._bank.get_slave(stuck_unit).set_values("holding", register, value)
        self._drive()
        return bytes(reply)

    def tick(self, now_ms: int) -> None:
        """Let the drives that are not spoken to any more stop by themselves."""
        for unit in (IO, FEEDER, ROLLERS, LIFT):
            limit = self._holding(unit, WATCHDOG)
            if limit and now_ms - self.heard_ms[unit] > limit:
                self._bank.get_slave(unit).set_values("holding", COMMAND, 0)
                self._bank.get_slave(unit).set_values("coils", 0, [0] * 3)
                self._drive()

    def poke(self, unit: int, register: int, value: int) -> None:
        """Have a register say something, by the unit itself."""
        self._bank.get_slave(unit).set_values("holding", register, value)
        self._drive()

    def alarm(self, unit: int, on: int) -> None:
        """Have a drive give up, or be well again."""
        self._bank.get_slave(unit).set_values("input", ALARM, on)

    def switch(self, coil: int, value: int) -> None:
        """Have a coil of the input module go on or off, by the unit itself."""
        self._bank.get_slave(IO).set_values("coils", coil, value)
        self._drive()

    def counted_anew(self) -> None:
        """Have the input module lose its power for a moment: it counts from 0 again."""
        self._bank.get_slave(IO).set_values("input", 0, [0] * len(COUNTED))

    def runs(self) -> dict[str, int]:
        """Return what is driven: the outputs that do not stand still."""
        still = {"feed": 0, "pass": 0, "shuffle": 0, "lift": 2}
        return {name: self._was[name] for name in still if self._was[name] != still[name]}

    def held(self, unit: int, register: int) -> int:
        """Return what a holding register says."""
        return self._holding(unit, register)

    def _holding(self, unit: int, register: int) -> int:
        return int(self._bank.get_slave(unit).get_values("holding", register)[0])

    def _drive(self) -> None:
        io = self._bank.get_slave(IO)
        coils = io.get_values("coils", 0, 3)
        high, low = self._bank.get_slave(GATE).get_values("holding", POSITION, 2)
        (place,) = struct.unpack(">i", struct.pack(">HH", high, low))
        now = {
            "source": coils[SOURCE_COIL],
            "shuffle": coils[SHUFFLE_COIL],
            "trigger": coils[TRIGGER_COIL],
            "gate": round(place / PITCH),
            "feed": MOTOR.get(self._holding(FEEDER, COMMAND), 0),
            "pass": MOTOR.get(self._holding(ROLLERS, COMMAND), 0),
            "lift": LIFTING.get(self._holding(LIFT, COMMAND), 2),
        }
        for name, value in now.items():
            if value != self._was[name]:
                self._was[name] = value
                self._put(name, value)
                self.also(name, value)
                self.driven.append((name, value))


def wire_ms(count: int, baud: int) -> float:
    """How long so many bytes are on the wire, at eleven bits a byte."""
    return count * 11_000 / baud


class Line:
    """Units on the descriptors of a board process, at the pace of a line of `baud`."""

    def __init__(self, baud: int, turnaround_ms: float) -> None:
        self._baud, self._turnaround_ms = baud, turnaround_ms
        self._loop = asyncio.get_running_loop()
        self._drives = Drives(lambda name, value: write(PINS, f"set {name} {value}\n".encode()))
        self._rest = self._request = b""
        self._silence: asyncio.TimerHandle | None = None
        self.unplugged = asyncio.Event()
        keep_open(LINE)
        self._loop.add_reader(LINE, self._hear)
        self._loop.add_reader(PINS, self._sense)
        write(PINS, b"set feed 0\n")  # shows that the units run

    async def run(self) -> None:
        """Return when the machine is gone."""
        while not self.unplugged.is_set():
            self._drives.tick(self._now_ms())
            with suppress(TimeoutError):
                await asyncio.wait_for(self.unplugged.wait(), 0.05)

    def _now_ms(self) -> int:
        return int(self._loop.time() * 1000)

    def _hear(self) -> None:
        self._request += os.read(LINE, 4096)
        if self._silence is not None:
            self._silence.cancel()
        # A frame ends where the line is silent.
        self._silence = self._loop.call_later(0.001, self._answer)

    def _answer(self) -> None:
        request, self._request = self._request, b""
        reply = self._drives.answer(request, self._now_ms())
        if reply:
            after_ms = wire_ms(len(request) + len(reply), self._baud) + self._turnaround_ms
            self._loop.call_later(max(0.0, after_ms - 1) / 1000, write, LINE, reply)

    def _sense(self) -> None:
        data = os.read(PINS, 4096)
        if not data:
            self.unplugged.set()
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            word, name, value = line.decode().split()[:3]
            if word == "at":
                self._drives.at(name, int(value))


def keep_open(master: int) -> None:
    """Hold the other end of a pty, which else hangs up while nobody has it open."""
    (number,) = struct.unpack("I", fcntl.ioctl(master, TIOCGPTN, bytes(4)))
    os.open(f"/dev/pts/{number}", os.O_RDWR | os.O_NOCTTY)


def write(end: int, data: bytes) -> None:
    """Write what the other end takes."""
    with suppress(OSError):
        os.write(end, data)


async def main(baud: int, turnaround_ms: float) -> None:
    """Be the units until the machine is gone."""
    await Line(baud, turnaround_ms).run()


if __name__ == "__main__":
    # As a board process it is called with kind, unique id and boot; rate and delay stand before.
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
