"""Faults that strike a part of the machine, a line, a board or the host, not a card."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from sim.mechanics.faults import Fault, menu

if TYPE_CHECKING:
    from sim.mechanics.world import World

ON_BYTES = frozenset({"bytes_dropped", "bytes_corrupted", "bytes_repeated", "bytes_delayed"})
"""Faults of a line that sim/noise.py carries out, write by write."""

_OUTSIDE = ("line", "board", "host")


def _shut_after(shut: Callable[[], None], world: "World", fault: Fault) -> None:
    if fault.for_ms is not None:
        world.clock.after(fault.for_ms, shut)


def _open_lid(world: "World", fault: Fault) -> None:
    world.set_lid(True)
    _shut_after(partial(world.set_lid, False), world, fault)


def _press_estop(world: "World", fault: Fault) -> None:
    world.set_estop(True)
    _shut_after(partial(world.set_estop, False), world, fault)


def _stall(world: "World", fault: Fault) -> None:
    world.motors[fault.motor].stall(fault.clears_after)


def _stick(world: "World", fault: Fault) -> None:
    world.dealer.stick(fault.sensor, fault.value)


def _say_late(world: "World", fault: Fault) -> None:
    world.dealer.delay(fault.sensor, partial(world.clock.after, fault.ms))


def _bounce(world: "World", fault: Fault) -> None:
    world.dealer.bounce(fault.sensor, world.clock.after)


def _see_no_hopper(world: "World", fault: Fault) -> None:
    world.dealer.stick("hopper", 0)


def _carry_out(world: "World", fault: Fault) -> None:
    world.carry_out(fault)


_DEEDS: dict[str, Callable[["World", Fault], None]] = {
    "stall": _stall,
    "sensor_stuck": _stick,
    "sensor_late": _say_late,
    "sensor_bounce": _bounce,
    "hopper_early": _see_no_hopper,
    "lid": _open_lid,
    "estop": _press_estop,
}


def is_outside(fault: Fault) -> bool:
    """Whether `fault` is carried out by whoever has lines, boards, a daemon."""
    return menu()[fault.name].strikes in _OUTSIDE and fault.name not in ON_BYTES


ORDER = tuple(sorted({*_DEEDS} | {name for name in menu() if is_outside(Fault(name))}))
"""The faults that strike a part, in the order in which they are asked for."""
_NAMES = frozenset(ORDER)


def strike(world: "World", number: int) -> None:
    """Let strike what is due as card `number` comes to the window (0: now)."""
    book = world.faults
    if not book.waits(_NAMES):
        return
    for name in ORDER:
        do = _DEEDS.get(name) or (_carry_out if menu()[name].strikes in world.outside else None)
        fault = book.strike(name, number) if do else None
        if do is not None and fault is not None:
            do(world, fault)
