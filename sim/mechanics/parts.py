"""Faults that strike a part of the machine, a line, a board or the host, not a card."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from sim.mechanics.faults import SimulatedFault, fault_menu

if TYPE_CHECKING:
    from sim.mechanics.world import World

BYTE_FAULTS = frozenset({"bytes_dropped", "bytes_corrupted", "bytes_repeated", "bytes_delayed"})
"""Faults of a line that sim/noise.py carries out, write by write."""

_OUTSIDE_TARGETS = ("line", "board", "host")


def _undo_after(shut: Callable[[], None], world: "World", fault: SimulatedFault) -> None:
    if fault.for_ms is not None:
        world.clock.after(fault.for_ms, shut)


def _open_lid(world: "World", fault: SimulatedFault) -> None:
    world.set_lid(True)
    _undo_after(partial(world.set_lid, False), world, fault)


def _press_estop(world: "World", fault: SimulatedFault) -> None:
    world.set_estop(True)
    _undo_after(partial(world.set_estop, False), world, fault)


def _stall_motor(world: "World", fault: SimulatedFault) -> None:
    world.motors[fault.motor].stall(fault.clears_after)


def _stick_sensor(world: "World", fault: SimulatedFault) -> None:
    world.dealer.stick(fault.sensor, fault.value)


def _delay_sensor(world: "World", fault: SimulatedFault) -> None:
    world.dealer.delay(fault.sensor, partial(world.clock.after, fault.ms))


def _bounce_sensor(world: "World", fault: SimulatedFault) -> None:
    world.dealer.bounce(fault.sensor, world.clock.after)


def _blind_hopper_sensor(world: "World", fault: SimulatedFault) -> None:
    world.dealer.stick("hopper", 0)


def _carry_out_outside(world: "World", fault: SimulatedFault) -> None:
    world.carry_out(fault)


_EFFECTS: dict[str, Callable[["World", SimulatedFault], None]] = {
    "stall": _stall_motor,
    "sensor_stuck": _stick_sensor,
    "sensor_late": _delay_sensor,
    "sensor_bounce": _bounce_sensor,
    "hopper_early": _blind_hopper_sensor,
    "lid": _open_lid,
    "estop": _press_estop,
}


def is_outside(fault: SimulatedFault) -> bool:
    """Whether `fault` is carried out by whoever has lines, boards, a daemon."""
    return fault_menu()[fault.name].strikes in _OUTSIDE_TARGETS and fault.name not in BYTE_FAULTS


PART_FAULTS = tuple(
    sorted({*_EFFECTS} | {name for name in fault_menu() if is_outside(SimulatedFault(name))})
)
"""The faults that strike a part, in the order in which they are asked for."""
_PART_FAULT_NAMES = frozenset(PART_FAULTS)


MOVE_SENSORS = frozenset({"lift", "lift_down", "shuffler"})
"""The sensors that tell of a move without a card, behind which parts may fail, too."""
AFTER_MOVE_MAX_MS = 1500.0
"""At what time behind such a move they fail, at the latest: the lift is on its way so long."""
CHANCES_PER_MOVE = 5
"""How many cards such a moment counts for: there are few of them in a deal."""


def strike_after_move(world: "World", name: str, value: int) -> None:
    """Let strike what has a rate, at some time behind a change of one of MOVES."""
    if world.faults.has_any(_PART_FAULT_NAMES):
        delay_ms = world.rng.uniform(0, AFTER_MOVE_MAX_MS)
        world.clock.after(delay_ms, partial(strike_due_parts, world, 0, CHANCES_PER_MOVE))


def strike_due_parts(world: "World", number: int, chances: int = 1) -> None:
    """Let strike what is due as card `number` comes to the window (0: now)."""
    book = world.faults
    if not book.has_any(_PART_FAULT_NAMES):
        return
    for name in PART_FAULTS:
        do = _EFFECTS.get(name) or (
            _carry_out_outside if fault_menu()[name].strikes in world.outside_handlers else None
        )
        fault = book.strike(name, number, chances=chances) if do else None
        if do is not None and fault is not None:
            do(world, fault)
