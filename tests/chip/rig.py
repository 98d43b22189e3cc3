"""A whole table on two simulated chips: the firmware's own HALs and loops, sim's mechanics."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

from drivers.firmware import protocol
from drivers.firmware.board import BoardCore
from drivers.firmware.dealer import DealerCore
from drivers.firmware.reader import ReaderCore
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.world import World
from sim.serial_lines import PipeBoardEnd, PipePort, make_pipe
from tests.chip.chip import Chip, Pin, Reset
from tests.sim.host import Host

TURN_S = 0.001
FEED, PASS, GATE, TRIGGER = 0, 1, 2, 3
LATCH, DATA = 27, 28


class Clock:
    """The chip's milliseconds."""

    def __init__(self, chip: Chip) -> None:
        self._chip, self._born_s = chip, chip.now_s()

    def now_ms(self) -> int:
        return int((self._chip.now_s() - self._born_s) * 1000 + 1e-6)


class Line:
    """The board's end of a pipe, as the loop reads it."""

    def __init__(self, end: PipeBoardEnd) -> None:
        self._end, self._came = end, b""
        end.listen(self._take)

    def read(self) -> bytes:
        came, self._came = self._came, b""
        return came

    def write(self, data: bytes) -> None:
        self._end.write(data)

    def _take(self, data: bytes) -> None:
        self._came += data


class Shift:
    """The shift registers before the chip, as a row of bits; a latch that is low holds none."""

    def __init__(self, chip: Chip) -> None:
        self.bits = 0
        self._shown = 0
        self.cable = True
        chip.lines[LATCH].heard.append(self._latch)
        chip.shifted = lambda: self._shown if self.cable else self._loose()
        self._data = chip.lines[DATA]

    def put(self, bit: int, value: int) -> None:
        self.bits = self.bits & ~(1 << bit) | value << bit

    def _loose(self) -> int:
        return 0xFFFF if self._data.pull == Pin.PULL_UP else 0

    def _latch(self, level: int) -> None:
        self._shown = self.bits if level else 0


class OnChip:
    """A board on its chip: started, and turned every millisecond unless it is `stalled`."""

    def __init__(self, chip: Chip, kind: str, end: PipeBoardEnd) -> None:
        self.chip, self.stalled = chip, False
        self.hal: Any = chip.loaded["rp2_hal"].HALS[kind]()
        core: type[BoardCore] = {"dealer": DealerCore, "reader": ReaderCore}[kind]
        self.board = core(self.hal, 77, self.hal.reset_cause())
        self.saved: dict[str, bytes] = {}
        self.loop: Any = chip.loaded["rp2_loop"].ChipLoop(
            self.board, self.hal, Line(end), Clock(chip), self.saved.__setitem__
        )
        self._timer = asyncio.get_running_loop().call_later(TURN_S, self._turn)

    def close(self) -> None:
        self._timer.cancel()
        self.chip.close()

    def _turn(self) -> None:
        if self.chip.resets:
            return
        self._timer = asyncio.get_running_loop().call_later(TURN_S, self._turn)
        if not self.stalled:
            try:
                self.loop.run_once()
            except Reset:
                self._timer.cancel()


class DealerPins:
    """The wires between the dealer's chip and the mechanics."""

    def __init__(self, chip: Chip, world: World) -> None:
        self._chip, self._world = chip, world
        self._tables = chip.loaded["rp2_hal"]
        self._fast = dict(self._tables.FAST)
        self.shift = Shift(chip)
        self.gate_steps = 0
        for name, value in world.dealer.levels.items():
            self._sense(name, value)
        world.dealer.attach(self._sense)
        chip.on_run = self._run
        chip.on_pwm = lambda pin, duty: world.set_output("shuffle", int(duty > 0))
        up, down = self._tables.LIFT_PINS
        for pin in (up, down):
            chip.lines[pin].heard.append(lambda _: self._lift())
        chip.lines[self._tables.SOURCE_PIN].heard.append(
            lambda level: world.set_output("source", level)
        )

    def _sense(self, name: str, value: int) -> None:
        if name in self._fast:
            self._chip.at(self._fast[name], value)
        elif name == "gate_at":
            for outlet in range(protocol.OUTLETS):
                self.shift.put(self._tables.GATE_BITS + outlet, int(value == outlet))
        elif name in self._tables.SLOW:
            self.shift.put(self._tables.SLOW.index(name), value)

    def _powered(self) -> bool:
        on = bool(self._chip.lines[self._tables.ENABLE_PIN].level)
        return on and not (self._world.lid_open or self._world.estop)

    def _lift(self) -> None:
        up, down = self._tables.LIFT_PINS
        levels = (self._chip.lines[up].level, self._chip.lines[down].level)
        self._world.set_output("lift", {(1, 0): 1, (0, 1): 0}.get(levels, 2))

    def _run(self, number: int, begins: bool) -> None:
        if number == TRIGGER:
            self._world.set_output("trigger", int(begins))
        elif number == GATE:
            if not begins:
                self._gate()
        else:
            name, pins = {
                FEED: ("feed", self._tables.FEED_PINS),
                PASS: ("pass", self._tables.PASS_PINS),
            }[number]
            back = self._chip.lines[pins[1]].level
            turns = begins and self._chip.lines[self._tables.ENABLE_PIN].level
            self._world.set_output(name, 1 + back if turns else 0)

    def _gate(self) -> None:
        if not self._powered():
            return
        back = self._chip.lines[self._tables.GATE_PINS[1]].level
        made = self._chip.machines[GATE].last
        pitch = self._tables.GATE_PITCH
        self.gate_steps += -made if back else made
        self.gate_steps = min(max(self.gate_steps, 0), (protocol.OUTLETS - 1) * pitch)
        outlet, off = divmod(self.gate_steps, pitch)
        if not off:
            self._world.set_output("gate", outlet)


class ReaderPins:
    """The wires between the reader's chip, its engine and the dealer's trigger wire."""

    def __init__(self, chip: Chip, world: World) -> None:
        pulse = chip.loaded["rp2_hal"].PULSE_PIN
        world.reader.attach(lambda _, value: chip.at(pulse, value))
        assert chip.uart is not None
        self._uart, self._world = chip.uart, world
        chip.uart.on_write = self._shot
        world.answer_listeners.append(self._answer)

    def _shot(self, data: bytes) -> None:
        word, shot = data.split()
        assert word == b"S"
        self._world.set_output("shoot", int(shot))

    def _answer(self, answer: tuple[int, ...]) -> None:
        face, back, face_up, confidence, shot = answer
        self._uart.arrive(b"R %d %d %d %d %d\r\n" % (shot, face, back, face_up, confidence))


class ChipTable:
    """A machine, both boards on their chips, and a host at their lines."""

    def __init__(self, settings: MechanicsSettings, seed: int = 1) -> None:
        loop = asyncio.get_running_loop()
        now: Callable[[], float] = loop.time
        self.world = World(settings, random.Random(seed))
        self.chips = {name: Chip(now, loop.call_later) for name in ("dealer", "reader")}
        self.dealer_pins = DealerPins(self.chips["dealer"], self.world)
        self.boards: dict[str, OnChip] = {}
        ports: dict[str, PipePort] = {}
        for name, chip in self.chips.items():
            ports[name], end = make_pipe(1.0)
            self.boards[name] = OnChip(chip, name, end)
        ReaderPins(self.chips["reader"], self.world)
        self.host = Host(ports["dealer"], ports["reader"])

    @property
    def dealer(self) -> OnChip:
        return self.boards["dealer"]

    @property
    def chip(self) -> Chip:
        """The dealer's."""
        return self.chips["dealer"]

    def pin(self, name: str) -> int:
        """A fast sensor's pin."""
        pins: dict[str, int] = dict(self.chip.loaded["rp2_hal"].FAST)
        return pins[name]

    def close(self) -> None:
        self.host.close()
        for board in self.boards.values():
            board.close()
        self.world.close()
