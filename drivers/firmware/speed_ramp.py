"""Speed ramps of a stepper motor, which speeds up, runs and slows down in counted steps. Pure.

A move is a row of (steps, cycles): a number of steps, and the PIO cycles of each. The step counts
always add up to the requested steps, at any speed.
"""

import array
import math

CLOCK_HZ = 2_000_000  # Of the PIO: half a microsecond per cycle.
# Cycles of the PIO's program around its wait: a period is this plus the wait.
OVERHEAD_CYCLES = 12
# The most stairs in a ramp.
STAIRS = 16
MAX_STAIR_STEPS = 0x10000  # of one stair: sixteen bits
MAX_CYCLES = 0xFFFF + OVERHEAD_CYCLES


class SpeedProfile:
    """The speeds and acceleration of a stepper motor, and its longest move.

    Speeds are in steps per second, and `accel` is in steps per second squared. Moves start and end
    at `start_hz`, which needs no ramp. `most` is the longest move of the mechanics. Raises
    ValueError if the PIO cannot step so.
    """

    def __init__(self, start_hz: int, top_hz: int, accel: int, most: int) -> None:
        if not 0 < start_hz <= top_hz or accel <= 0 or most <= 0:
            raise ValueError("speeds, acceleration and most steps are above 0")
        if CLOCK_HZ // start_hz > MAX_CYCLES or CLOCK_HZ // top_hz <= OVERHEAD_CYCLES:
            raise ValueError("the PIO cannot step so")
        self.start_hz = start_hz
        self.top_hz = top_hz
        self.accel = accel
        self.max_steps = most


def trapezoid(profile: SpeedProfile, steps: int, creep: int = 0) -> "list[tuple[int, int]]":
    """Return a move of `steps` steps, then `creep` slow steps, as pairs (steps, cycles per step).

    The motor speeds up, runs, slows down and then makes the slow steps. A short move slows
    down before it reaches the top speed. Raises ValueError if the profile allows fewer steps.
    """
    if steps < 0 or creep < 0 or steps + creep > profile.max_steps:
        raise ValueError("more steps than there is way")
    start, accel = profile.start_hz, profile.accel
    way = (profile.top_hz * profile.top_hz - start * start) // (2 * accel)
    up = min(way, steps // 2)
    top = min(profile.top_hz, _speed(start, accel, up))
    climb = []
    for stair in range(STAIRS):
        begin, end = up * stair // STAIRS, up * (stair + 1) // STAIRS
        if end > begin:
            climb.append((end - begin, _cycles(_speed(start, accel, (begin + end) // 2))))
    row = climb + _constant_row(steps - 2 * up, _cycles(top)) + climb[::-1]
    return row + _constant_row(creep, _cycles(start))


def pack_row(row: "list[tuple[int, int]]") -> "array.array[int]":
    """Return the move `row` as 32-bit words for the PIO, one for each pair (steps, cycles).

    The low half of a word has steps - 1, the high half the wait cycles of each step.
    """
    return array.array(
        "I", [(cycles - OVERHEAD_CYCLES) << 16 | (steps - 1) for steps, cycles in row]
    )


def duration_ms(row: "list[tuple[int, int]]") -> int:
    """Return the duration of the move `row`: the complete milliseconds, plus one millisecond."""
    # A word is fetched in two cycles.
    return sum([steps * cycles + 2 for steps, cycles in row]) // (CLOCK_HZ // 1000) + 1


def _speed(start_hz: int, accel: int, steps: int) -> int:
    return int(math.sqrt(start_hz * start_hz + 2 * accel * steps))


def _cycles(hertz: int) -> int:
    return CLOCK_HZ // hertz


def _constant_row(steps: int, cycles: int) -> "list[tuple[int, int]]":
    row = []
    while steps:
        part = min(steps, MAX_STAIR_STEPS)
        row.append((part, cycles))
        steps -= part
    return row
