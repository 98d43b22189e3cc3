"""Faults that strike a part of the machine, a line, a board or the host, not a card.

`FaultInjector` accepts faults. `ActiveFaults` contains those in force.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sim.mechanics.cards import Cards
from sim.mechanics.fault_menu import (
    LACKS,
    FaultCombination,
    FaultError,
    FaultStrike,
    FaultTarget,
    SimulatedFault,
    check_fault,
    fault_menu,
)

if TYPE_CHECKING:
    from sim.mechanics.world import World


BYTE_FAULTS = frozenset({"bytes_dropped", "bytes_corrupted", "bytes_repeated", "bytes_delayed"})
"""Faults of a line that sim/serial_lines.py carries out for each write."""

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
    """Return True if `fault` is carried out outside the mechanics: by lines, boards or a daemon."""
    return fault_menu()[fault.name].strikes in _OUTSIDE_TARGETS and fault.name not in BYTE_FAULTS


PART_FAULTS = tuple(
    sorted({*_EFFECTS} | {name for name in fault_menu() if is_outside(SimulatedFault(name))})
)
"""The faults that strike a part, in the order in which the schedule is queried."""
_PART_FAULT_NAMES = frozenset(PART_FAULTS)


MOVE_SENSORS = frozenset({"lift", "lift_down", "shuffler"})
"""The sensors of moves without a card. Parts may also fail after such a move."""
AFTER_MOVE_MAX_MS = 1500.0
"""The latest time after such a move at which parts fail, which is also the travel time of the lift.
"""
CHANCES_PER_MOVE = 5
"""The number of cards that such a moment counts for, because a deal has few such moments."""


def strike_after_move(world: "World", name: str, value: int) -> None:
    """Trigger faults with a rate at a random time after a change of one of MOVE_SENSORS."""
    if world.faults.has_any(_PART_FAULT_NAMES):
        delay_ms = world.rng.uniform(0, AFTER_MOVE_MAX_MS)
        world.clock.after(delay_ms, partial(strike_due_parts, world, 0, CHANCES_PER_MOVE))


def strike_due_parts(world: "World", number: int, chances: int = 1) -> None:
    """Trigger every fault that is due when card `number` reaches the window. 0 means now."""
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


Condition = Callable[[], bool]


def _is_stalled(world: "World", fault: SimulatedFault) -> bool:
    return world.motors[fault.motor].stalled


def _is_sensor_stuck(world: "World", fault: SimulatedFault) -> bool:
    return fault.sensor in world.dealer.stuck


def _is_hopper_stuck(world: "World", fault: SimulatedFault) -> bool:
    return "hopper" in world.dealer.stuck


def _is_lid_open(world: "World", fault: SimulatedFault) -> bool:
    return world.lid_open


def _is_estop_pressed(world: "World", fault: SimulatedFault) -> bool:
    return world.estop


# Faults of a part are in force until the part is repaired. These functions check that.
_PART_CONDITIONS: dict[str, Callable[["World", SimulatedFault], bool]] = {
    "stall": _is_stalled,
    "sensor_stuck": _is_sensor_stuck,
    "hopper_early": _is_hopper_stuck,
    "lid": _is_lid_open,
    "estop": _is_estop_pressed,
}


class ActiveFaults:
    """The faults that struck and are still in force.

    A fault of a part is in force until it is repaired. Wrong or left cards are in force until they
    are corrected or removed. A fault of a card is in force until the hopper is filled next. A fault
    of a line, a board or the host is in force until `end` is called.
    """

    def __init__(self, world: "World") -> None:
        self._world = world
        self._conditional: list[tuple[FaultStrike, Condition, Condition]] = []
        self._outside: list[FaultStrike] = []

    def add(self, struck: FaultStrike) -> None:
        """Add a fault that struck just now."""
        name = struck.fault.name
        strikes = fault_menu()[name].strikes
        if name in _PART_CONDITIONS:
            self.keep_while(struck, lambda: _PART_CONDITIONS[name](self._world, struck.fault))
        elif strikes in ("card", "now"):
            filling = self._world.tally.filling
            self.keep_while(struck, lambda: self._world.tally.filling == filling)
        elif is_outside(struck.fault):
            self._outside.append(struck)

    def keep_while(
        self, struck: FaultStrike, is_active: Condition, may_return: Condition | None = None
    ) -> None:
        """Keep `struck` in force for as long as `is_active()` returns True.

        `may_return` returns True if the fault can be in force again later. With None it cannot.
        """
        self._conditional.append((struck, is_active, may_return or is_active))

    def end(self, fault: SimulatedFault) -> None:
        """Remove the oldest strike that equals `fault`, a fault of a line, a board or the host."""
        for struck in self._outside:
            if struck.fault == fault:
                self._outside.remove(struck)
                return

    def current(self) -> tuple[FaultStrike, ...]:
        """Return the faults in force now, oldest first."""
        self._conditional = [each for each in self._conditional if each[1]() or each[2]()]
        held = (struck for struck, still, _ in self._conditional if still())
        everything = (*held, *self._outside)
        return tuple(sorted(everything, key=lambda struck: struck.at_s))


OutsideHandler = Callable[[SimulatedFault], None]

# Jams of a part rather than of a card: the motor of the part stalls.
_STALLED_MOTORS = {"shuffler": "shuffle", "lift": "lift"}
# The probability that faults of a combination strike the same card.
_SAME_CARD_CHANCE = 0.5
# The missing part if no handler carries out faults of these targets.
_MISSING_PARTS = {
    "line": f"{LACKS} cable to unplug",
    "board": f"{LACKS} board to reset",
    "host": f"{LACKS} daemon to kill",
}


class FaultInjector:
    """The distribution of one world's faults to its parts, its cards and the outside handlers."""

    def __init__(
        self,
        world: "World",
        outside: Mapping[FaultTarget, OutsideHandler],
        combinations: tuple[FaultCombination, ...],
    ) -> None:
        self.outside_handlers: dict[FaultTarget, OutsideHandler] = dict(outside)
        self.strike_listeners: list[Callable[[FaultStrike], None]] = []
        self.active = ActiveFaults(world)
        self._world = world
        self._combinations = combinations
        self._drawn_faults: list[SimulatedFault] = []
        world.faults.on_strike = self._on_strike

    def add(self, fault: SimulatedFault) -> None:
        """Accept a fault; see World.add_fault."""
        if fault.name == "jam" and fault.place in _STALLED_MOTORS:
            motor = _STALLED_MOTORS[fault.place]
            fault = replace(
                check_fault(fault), name="stall", motor=motor, place=SimulatedFault("").place
            )
        strikes = fault_menu()[check_fault(fault).name].strikes
        if not (fault.rate or self._can_carry_out(fault)):
            raise FaultError(f"{fault.name}: {_MISSING_PARTS[strikes]}")
        world = self._world
        world.faults.add(fault)
        if fault.at is None and not fault.rate and fault.name in PART_FAULTS:
            strike_due_parts(world, 0)
        elif strikes == "set" and world.hopper and not world.tally.arrived:
            world.people.reload_hopper()

    def draw_combinations(self, cards: int) -> None:
        """Decide which combined faults occur in this filling of the hopper with `cards` cards.

        Those that strike cards strike the same card, or each its own card. Faults of the last
        filling that have not struck are removed.
        """
        for fault in self._drawn_faults:
            self._world.faults.drop(fault)
        self._drawn_faults = []
        for pair in self._combinations:
            if self._world.rng.random() < pair.rate:
                self._draw(pair.faults, cards)

    def carry_out(self, fault: SimulatedFault) -> None:
        """Pass a fault of a line, a board or the host to its handler, in the loop's next turn."""
        asyncio.get_running_loop().call_soon(
            self.outside_handlers[fault_menu()[fault.name].strikes], fault
        )

    def _draw(self, faults: tuple[SimulatedFault, ...], cards: int) -> None:
        rng = self._world.rng
        meet, at_one = rng.randint(1, cards), rng.random() < _SAME_CARD_CHANCE
        for fault in faults:
            if not self._can_carry_out(fault):
                continue
            if fault.at is None and fault_menu()[fault.name].strikes != "set":
                fault = replace(fault, at=meet if at_one else rng.randint(1, cards))
            self._drawn_faults.append(fault)
            self._world.faults.add(fault)

    def _can_carry_out(self, fault: SimulatedFault) -> bool:
        """Return True if this simulator can carry a fault out."""
        return not is_outside(fault) or fault_menu()[fault.name].strikes in self.outside_handlers

    def _on_strike(self, struck: FaultStrike) -> None:
        self.active.add(struck)
        for told in list(self.strike_listeners):
            told(struck)


def keep_wrong_set_active(world: "World", whole: Cards, altered: Cards) -> None:
    """Keep the last strike in force while the set is in play and still wrong.

    `whole` and `altered` are the set before and after the fault. A set beside the machine or in the
    box has no effect. It counts as wrong again when it is back in play.
    """
    members = frozenset(card.id for card in whole)
    in_it = frozenset(card.id for card in altered)
    gone, strange = members - in_it, in_it - members

    def wrong() -> bool:
        box = {card.id for card in world.people.box}
        return bool(gone & box) or not strange <= box

    def so() -> bool:
        return wrong() and not members.isdisjoint(_ids_in_play(world))

    if gone or strange:
        world.keep_active_while(so, wrong)


def _ids_in_play(world: "World") -> set[int]:
    truth = world.truth()
    away = {card.id for card in truth.box}.union(
        *({card.id for card in pile} for pile in truth.beside.values())
    )
    return {card.id for card in truth.all_cards()} - away
