"""A chip's `machine` for MicroPython's unix port: levels that a script moves, and nothing behind.

`RESET` is what `reset` does: by default the process ends with exit code 3.
"""

import sys
import time

PWRON_RESET = 1
WDT_RESET = 3
LINES = {}
REGISTER = [0]  # what the slow inputs are


class Irq:
    def __init__(self):
        self.handler = None
        self.shown = 0

    def flags(self):
        return self.shown


class Pin:
    IN, OUT, PULL_UP, PULL_DOWN = 0, 1, 1, 2
    IRQ_FALLING, IRQ_RISING = 4, 8

    def __init__(self, number, mode=-1, pull=-1, value=None):
        self.number = number
        self.level = value or 0
        self.watch = None
        LINES[number] = self

    def value(self, level=None):
        if level is None:
            return self.level
        self.level = level

    def irq(self, handler=None, trigger=12, hard=False):
        if self.watch is None:
            self.watch = Irq()
        self.watch.handler = handler
        return self.watch


def drive(number, level):
    """Move an input, and run its handler."""
    pin = LINES[number]
    if pin.level != level:
        pin.level = level
        pin.watch.shown = 8 if level else 4
        pin.watch.handler(pin)


class ADC:
    def __init__(self, pin):
        pass

    def read_u16(self):
        return 43_000


class PWM:
    def __init__(self, pin, freq=0, duty_u16=0):
        pass

    def duty_u16(self, duty):
        pass


class UART:
    def __init__(self, number, baud, tx=None, rx=None, rxbuf=0):
        pass

    def any(self):
        return 0

    def write(self, data):
        return len(data)

    def readinto(self, room):
        return None


class SPI:
    def __init__(self, number, baudrate=0, sck=None, mosi=None, miso=None):
        pass

    def readinto(self, room):
        room[0], room[1] = REGISTER[0] >> 8, REGISTER[0] & 255


class WDT:
    def __init__(self, timeout=0):
        pass

    def feed(self):
        pass


def unique_id():
    return b"\xe6\x60\xa4\x93\x17\x54\x43\x2f"


def reset_cause():
    return PWRON_RESET


def idle():
    time.sleep_ms(1)


def reset():
    sys.exit(3)
