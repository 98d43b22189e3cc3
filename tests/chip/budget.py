"""What the firmware costs: memory and time of the chip's loop, under MicroPython.

`micropython budget.py`, with the folder of `firmware` and tests/chip/mpy on MICROPYPATH. Prints
JSON. Deals a whole attempt through the real HAL and loop, and runs every interrupt handler
with the heap locked, where allocating raises MemoryError.
"""

import gc
import json
import sys
import time

import machine
import micropython

gc.collect()
EMPTY = gc.mem_alloc()

from firmware import framing, protocol, rp2_hal, rp2_loop  # noqa: E402
from firmware.dealer import DealerCore  # noqa: E402
from firmware.pins import FORWARD  # noqa: E402
from firmware.reader import ReaderCore  # noqa: E402

gc.collect()
CODE = gc.mem_alloc()
CARDS = 108
IDLE = 20  # turns in which nothing happens, timed together: one takes two ticks of the clock
SESSION = 0x5EA10001
PINS = dict(rp2_hal.FAST)
LIFT_DOWN = 1 << rp2_hal.SLOW.index("lift_down")
# What a bitwise CRC-16 of ten bytes takes on an emulated chip at 125 MHz. The emulator is said to
# be near, not exact.
CHIP_CRC_US = 2_643


class Line:
    """A host that says the next word."""

    def __init__(self):
        self.rx = b""
        self.number = 0
        self.events = 0
        self.bytes = 0
        self.said = []
        self.decoder = framing.Decoder()

    def read(self):
        rx, self.rx = self.rx, b""
        return rx

    def write(self, data):
        self.bytes += len(data)
        self.said.append(data)

    def hear(self):
        """Take what the board said: outside of what is measured."""
        said, self.said = b"".join(self.said), []
        for payload in self.decoder.feed(said):
            if payload[0] == protocol.EVENT:
                self.events += 1
            elif payload[0] == protocol.ACK:
                assert payload[protocol.BOARD_HEADER_SIZE + 2] == protocol.DONE, payload

    def say(self, kind, *fields):
        if kind >= protocol.BEGIN:
            self.number += 1
        number = self.number if kind >= protocol.BEGIN else 0
        frame = protocol.pack_host_frame(kind, SESSION, number, self.events, self.events, *fields)
        self.rx += framing.encode(frame)


class Clock:
    now = 0

    def now_ms(self):
        return self.now


def register(outlet):
    machine.REGISTER[0] = LIFT_DOWN | 1 << (rp2_hal.GATE_BITS + outlet)


def locked(what):
    """Run `what` with the heap locked; return how much it allocated: nothing, or it raised."""
    micropython.heap_lock()
    try:
        what()
    finally:
        micropython.heap_unlock()


class Table:
    """A dealer board, moved by hand."""

    def __init__(self):
        register(0)
        self.line = Line()
        self.clock = Clock()
        self.hal = rp2_hal.Rp2DealerHal()
        board = DealerCore(self.hal, 7)
        self.loop = rp2_loop.ChipLoop(board, self.hal, self.line, self.clock, lambda *_: None)
        self.turns = 0
        self.counts = True
        self.littered = 0
        self.us = 0
        self.worst = 0

    def turn(self, after_ms=1):
        self.clock.now += after_ms
        used = gc.mem_alloc() if self.counts else 0  # which takes longer than the turn
        began = time.ticks_us()
        self.loop.run_once()
        took = time.ticks_diff(time.ticks_us(), began)
        if self.counts:
            self.littered += gc.mem_alloc() - used
        self.line.hear()
        self.us += took
        self.worst = max(self.worst, took)
        self.turns += 1

    def say(self, *words):
        self.line.say(*words)
        self.turn()

    def edge(self, name, level):
        locked(lambda: machine.drive(PINS[name], level))
        self.turn()

    def card(self, index):
        outlet = index % 4
        self.edge("window", 1)
        for _ in range(15):  # the reader looks at it
            self.turn()
        self.say(protocol.ROUTE, 7, index, outlet)
        register(outlet)
        for _ in range(4):
            self.turn()
        for name, level in (("exit", 1), ("window", 0), ("exit", 0)):
            self.edge(name, level)
        self.edge(f"land_{outlet}", 1)
        self.edge(f"land_{outlet}", 0)
        for _ in range(40):  # the next one is fed
            self.turn()
        self.line.say(protocol.BEAT)
        self.turn()


def deal():
    gc.collect()
    before = gc.mem_alloc()
    table = Table()
    gc.collect()
    board = gc.mem_alloc() - before
    machine.drive(PINS["hopper"], 1)
    table.turn()
    table.line.say(protocol.HELLO)
    table.turn()
    table.say(protocol.BEGIN, 7, CARDS, CARDS // 4)
    table.say(protocol.FEED, 7, protocol.HOPPER, CARDS)
    # The litter of each card is counted.
    table.loop._garbage.is_due = lambda now_ms, can_pause: False
    for _ in range(3):
        table.turn()
    table.littered = 0
    for _ in range(IDLE):
        table.turn(0)
    idle = table.littered / IDLE
    table.counts, idle_us = False, 1_000_000
    for _ in range(20):
        table.us = 0
        for _ in range(IDLE):
            table.turn(0)
        idle_us = min(idle_us, table.us / IDLE)
    table.turns = table.line.bytes = 0
    most, card_us, turn_us = 0, [], []
    for index in range(1, CARDS + 1):
        gc.collect()
        gc.disable()
        table.littered = table.us = table.worst = 0
        table.counts = index % 12 == 0
        table.card(index)
        gc.enable()
        most = max(most, table.littered)
        card_us.append(table.us)
        turn_us.append(table.worst)
    assert table.loop._board.feeding.fed == CARDS, table.loop._board.feeding.fed
    assert table.loop._board.landings.total() == CARDS
    gc.collect()
    return {
        "board": board,
        "attempt": gc.mem_alloc() - before,
        "litter_card": most,
        "litter_idle": idle,
        "us_idle_turn": idle_us,
        # The least of all cards: what is more was other programs' time.
        "us_card": min(card_us),
        "us_longest_turn": min(turn_us),
        "turns_card": table.turns / CARDS,
        "bytes_card": table.line.bytes / CARDS,
    }


def handlers():
    """Every handler, both edges of each, with the heap locked; and the window's cut."""
    hal = rp2_hal.Rp2ReaderHal()
    for level in (1, 0):
        locked(lambda: machine.drive(rp2_hal.PULSE_PIN, level))  # noqa: B023
    pin = machine.LINES[rp2_hal.PULSE_PIN]
    pin.watch.shown = 12
    locked(lambda: pin.watch.handler(pin))
    for _ in range(100):  # a ring that is full only counts
        locked(lambda: pin.watch.handler(pin))
    ReaderCore(hal, 8)
    hal.update(5)
    assert hal.edges()[-1][1] == "lost"


def motion():
    """Starting and stopping a motor."""
    hal = rp2_hal.Rp2DealerHal()
    began = time.ticks_us()
    for _ in range(100):
        hal.set("feed", FORWARD)
        hal.set("feed", 0)
    return time.ticks_diff(time.ticks_us(), began) / 100


def crc(data):
    value = 0xFFFF
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ 0x1021 if value & 0x8000 else value << 1) & 0xFFFF
    return value


def crc_us():
    data = bytes(range(10))
    best = 1_000_000
    for _ in range(20):
        began = time.ticks_us()
        for _ in range(100):
            crc(data)
        best = min(best, time.ticks_diff(time.ticks_us(), began))
    return best / 100


def main():
    found = deal()
    handlers()
    found["code"] = CODE - EMPTY
    found["us_start"] = motion()
    found["slower"] = CHIP_CRC_US / crc_us()
    sys.stdout.write(json.dumps(found) + "\n")


main()
