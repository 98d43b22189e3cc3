"""The effects of faults that strike a machine part, a serial line, a board or the host.

The host is the computer of the table. `FaultInjector` accepts faults. `ActiveFaults` contains those
that still have an effect. Faults that strike a card take effect where the card moves.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial

from msgspec.structs import replace

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
from sim.mechanics.machine_parts import MachineParts

BYTE_FAULTS = frozenset({"bytes_dropped", "bytes_corrupted", "bytes_repeated", "bytes_delayed"})
"""Faults of a serial line that sim/serial_lines.py carries out for each write."""

_OUTSIDE_TARGETS = ("line", "board", "host")


_PartEffect = Callable[[MachineParts, SimulatedFault], None]


def _make_switch_effect(switch: Callable[[MachineParts, bool], None]) -> _PartEffect:
    """Return an effect that calls `switch` with True, and after `for_ms` (if any) with False."""

    def effect(parts: MachineParts, fault: SimulatedFault) -> None:
        switch(parts, True)
        if fault.for_ms is not None:
            parts.clock.after(fault.for_ms, partial(switch, parts, False))

    return effect


_EFFECTS: dict[str, _PartEffect] = {
    "stall": lambda parts, fault: parts.motors[fault.motor].stall(fault.clears_after),
    "sensor_stuck": lambda parts, fault: parts.dealer.stick(fault.sensor, fault.value),
    "sensor_late": lambda parts, fault: parts.dealer.delay(
        fault.sensor, partial(parts.clock.after, fault.ms)
    ),
    "sensor_bounce": lambda parts, fault: parts.dealer.bounce(fault.sensor, parts.clock.after),
    "hopper_early": lambda parts, fault: parts.dealer.stick("hopper", 0),
    "lid": _make_switch_effect(MachineParts.set_lid),
    "estop": _make_switch_effect(MachineParts.set_estop),
}


def is_outside(fault: SimulatedFault) -> bool:
    """Return True if a handler outside the mechanics must carry out `fault`.

    Such handlers are for faults of serial lines (except BYTE_FAULTS), of boards or of the host.
    """
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


Condition = Callable[[], bool]


# Faults of a part are active until the part is repaired. These functions check that.
_PART_CONDITIONS: dict[str, Callable[[MachineParts, SimulatedFault], bool]] = {
    "stall": lambda parts, fault: parts.motors[fault.motor].stalled,
    "sensor_stuck": lambda parts, fault: fault.sensor in parts.dealer.stuck,
    "hopper_early": lambda parts, fault: "hopper" in parts.dealer.stuck,
    "lid": lambda parts, fault: parts.lid_open,
    "estop": lambda parts, fault: parts.estop,
}


class ActiveFaults:
    """The faults that have struck and still have an effect.

    A fault of a part is active until its repair. Wrong or left cards are active until they
    are corrected or removed. A fault of a card is active until the hopper is filled next. A fault
    of a line, a board or the host is active until `end` is called.
    """

    def __init__(self, parts: MachineParts) -> None:
        self._parts = parts
        self._conditional: list[tuple[FaultStrike, Condition, Condition]] = []
        self._outside: list[FaultStrike] = []

    def add(self, struck: FaultStrike) -> None:
        """Add the occurrence `struck`. Ignore it if its fault is of a set or one of BYTE_FAULTS."""
        name = struck.fault.name
        strikes = fault_menu()[name].strikes
        if name in _PART_CONDITIONS:
            self.keep_while(struck, lambda: _PART_CONDITIONS[name](self._parts, struck.fault))
        elif strikes in ("card", "now"):
            filling = self._parts.tally.filling
            self.keep_while(struck, lambda: self._parts.tally.filling == filling)
        elif is_outside(struck.fault):
            self._outside.append(struck)

    def keep_while(
        self, struck: FaultStrike, is_active: Condition, may_return: Condition | None = None
    ) -> None:
        """Treat `struck` as an active fault at each moment when `is_active()` returns True.

        `may_return()` returns True while an inactive fault can be active again (None: it cannot).
        """
        self._conditional.append((struck, is_active, may_return or is_active))

    def end(self, fault: SimulatedFault) -> None:
        """Remove the oldest occurrence of `fault`, a fault of a line, of a board or of the host."""
        struck = next((each for each in self._outside if each.fault == fault), None)
        if struck is not None:
            self._outside.remove(struck)

    def current(self) -> tuple[FaultStrike, ...]:
        """Return the occurrences of faults that have an effect now, the oldest first."""
        self._conditional = [each for each in self._conditional if each[1]() or each[2]()]
        held = (struck for struck, still, _ in self._conditional if still())
        return tuple(sorted((*held, *self._outside), key=lambda struck: struck.at_s))


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
    """The object that carries out one machine's faults, itself or through a handler.

    An outside handler carries out faults of a serial line, a board or the host. `reload_hopper`
    takes the cards out of the hopper and puts them back, so that a fault of the set strikes them.
    """

    def __init__(
        self,
        parts: MachineParts,
        outside: Mapping[FaultTarget, OutsideHandler],
        combinations: tuple[FaultCombination, ...],
    ) -> None:
        self.outside_handlers: dict[FaultTarget, OutsideHandler] = dict(outside)
        self.strike_listeners: list[Callable[[FaultStrike], None]] = []
        self.active = ActiveFaults(parts)
        self.reload_hopper: Callable[[], None] = lambda: None
        self._parts, self._combinations = parts, combinations
        self._drawn_faults: list[SimulatedFault] = []
        parts.faults.on_strike = self._on_strike

    def add(self, fault: SimulatedFault) -> None:
        """Add `fault` to the schedule, and carry it out at once if it can strike now.

        `World.add_fault` describes the conditions and the errors.
        """
        if fault.name == "jam" and fault.place in _STALLED_MOTORS:
            motor = _STALLED_MOTORS[fault.place]
            fault = replace(
                check_fault(fault), name="stall", motor=motor, place=SimulatedFault("").place
            )
        strikes = fault_menu()[check_fault(fault).name].strikes
        if not (fault.rate or self._can_carry_out(fault)):
            raise FaultError(f"{fault.name}: {_MISSING_PARTS[strikes]}")
        parts = self._parts
        parts.faults.add(fault)
        if fault.at is None and not fault.rate and fault.name in PART_FAULTS:
            self.strike_due_parts(0)
        elif strikes == "set" and parts.hopper and not parts.tally.arrived:
            self.reload_hopper()

    def draw_combinations(self, cards: int) -> None:
        """Choose at random which fault combinations occur with this filling of the hopper.

        The filling has `cards` cards. Faults of one combination, except those of the set, strike
        at the same card, or each at its own. Faults of the last filling that did not strike are
        removed.
        """
        for fault in self._drawn_faults:
            self._parts.faults.drop(fault)
        self._drawn_faults = []
        rng = self._parts.rng
        for pair in self._combinations:
            if rng.random() >= pair.rate:
                continue
            meet, at_one = rng.randint(1, cards), rng.random() < _SAME_CARD_CHANCE
            for fault in filter(self._can_carry_out, pair.faults):
                if fault.at is None and fault_menu()[fault.name].strikes != "set":
                    fault = replace(fault, at=meet if at_one else rng.randint(1, cards))
                self._drawn_faults.append(fault)
                self._parts.faults.add(fault)

    def strike_after_move(self, name: str, value: int) -> None:
        """Carry out due faults of parts at a random moment soon after the lift or shuffler moved.

        The sensor `name`, one of MOVE_SENSORS, has changed because of this move.
        """
        parts = self._parts
        if parts.faults.has_any(_PART_FAULT_NAMES):
            delay_ms = parts.rng.uniform(0, AFTER_MOVE_MAX_MS)
            parts.clock.after(delay_ms, partial(self.strike_due_parts, 0, CHANCES_PER_MOVE))

    def strike_due_parts(self, number: int, chances: int = 1) -> None:
        """Carry out the faults of PART_FAULTS that strike when card `number` reaches the window.

        With 0, carry out the faults that strike now, without a card. `chances` multiplies the
        probability of each fault that has a rate.
        """
        schedule = self._parts.faults
        if not schedule.has_any(_PART_FAULT_NAMES):
            return
        for name in PART_FAULTS:
            effect = _EFFECTS.get(name)
            if effect is None and fault_menu()[name].strikes not in self.outside_handlers:
                continue
            fault = schedule.strike(name, number, chances=chances)
            if fault is None:
                continue
            if effect is not None:
                effect(self._parts, fault)
            else:  # The handler of a line, a board or the host is called in the loop's next turn.
                handler = self.outside_handlers[fault_menu()[name].strikes]
                asyncio.get_running_loop().call_soon(handler, fault)

    def _can_carry_out(self, fault: SimulatedFault) -> bool:
        """Return True if the mechanics or a handler outside them can carry out `fault`."""
        return not is_outside(fault) or fault_menu()[fault.name].strikes in self.outside_handlers

    def _on_strike(self, struck: FaultStrike) -> None:
        self.active.add(struck)
        for told in list(self.strike_listeners):
            told(struck)
