"""The class `FaultSchedule`: the planned faults of one machine, and the faults that struck."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate

from sim.mechanics.cards import FillingTally, PhysicalCard
from sim.mechanics.fault_menu import FaultStrike, SimulatedFault, check_fault

FieldValues = tuple[tuple[str, object], ...]
"""The values that fields of a fault must have, in the order of the query."""


class _FaultQueue:
    """The planned faults of one name, in a queue.

    `rated`: faults that strike at a rate. `unrated`: the other faults, in order. One random draw
    decides for all rates together, so that many rates cost no more than one. At most one of these
    faults strikes.
    """

    def __init__(self) -> None:
        self.unrated: list[SimulatedFault] = []
        self.rated: list[SimulatedFault] = []
        self._sums: dict[FieldValues, tuple[tuple[SimulatedFault, ...], tuple[float, ...]]] = {}

    def add(self, fault: SimulatedFault) -> None:
        by_rate = bool(fault.rate) and fault.at is None
        (self.rated if by_rate else self.unrated).append(fault)
        self._sums.clear()

    def drop(self, fault: SimulatedFault) -> None:
        for faults in (self.unrated, self.rated):
            if fault in faults:
                faults.remove(fault)
                break
        self._sums.clear()

    def draw(self, where: FieldValues, rng: random.Random, chances: int) -> SimulatedFault | None:
        """Return a fault of `rated`, chosen at random by the rates, or None if none strikes now.

        Only faults with the field values of `where` may strike. `chances` multiplies the rates,
        and is the number of cards that this draw represents.
        """
        known = self._sums.get(where)
        if known is None:
            fitting = tuple(fault for fault in self.rated if _matches_fields(fault, where))
            known = fitting, tuple(accumulate(fault.rate for fault in fitting))
            self._sums[where] = known
        faults, sums = known
        if not faults:
            return None
        drawn = rng.random() / chances
        if drawn >= sums[-1]:
            return None
        return next(fault for fault, upto in zip(faults, sums, strict=True) if drawn < upto)


@dataclass
class FaultSchedule:
    """The planned faults of one machine, and the faults that have struck.

    sim/faults.toml lists the names of faults. The order of the queries is the order of events in
    the machine, so that a seeded rate strikes the same cards in every run. `now_s` returns the time
    of a strike (the loop's time in seconds), and `tally` its card number. `on_strike` is called at
    once for each strike.
    """

    rng: random.Random
    tally: FillingTally = field(default_factory=FillingTally)
    now_s: Callable[[], float] = lambda: 0.0
    past_strikes: list[FaultStrike] = field(default_factory=list)
    on_strike: Callable[[FaultStrike], None] = lambda struck: None
    _queues: dict[str, _FaultQueue] = field(default_factory=dict)

    def add(self, fault: SimulatedFault) -> None:
        """Add `fault` to the schedule. Raises FaultError if it is not on the menu."""
        self._queues.setdefault(check_fault(fault).name, _FaultQueue()).add(fault)

    def drop(self, fault: SimulatedFault) -> None:
        """Remove `fault` from the schedule, if the schedule contains it."""
        queue = self._queues.get(fault.name)
        if queue is not None:
            queue.drop(fault)
            if not (queue.unrated or queue.rated):
                del self._queues[fault.name]

    def clear(self, name: str | None = None) -> None:
        """Remove all planned faults named `name`, or with None all planned faults."""
        if name is None:
            self._queues.clear()
        else:
            self._queues.pop(name, None)

    def has_any(self, names: frozenset[str]) -> bool:
        """Return True if a fault that has one of these names may still strike."""
        return not names.isdisjoint(self._queues)

    def strike(
        self,
        name: str,
        number: int | None = None,
        *,
        card: PhysicalCard | None = None,
        chances: int = 1,
        **where: object,
    ) -> SimulatedFault | None:
        """Return the planned fault named `name` that strikes now, and record it. Else return None.

        `number`: the number of the card, by default of the last card that reached the window.
        `card`: the card. `chances`: a factor that multiplies the rates of the faults. `where`:
        required values of the fault's fields (`place="gate"`). A fault that strikes only once is
        removed from the schedule.
        """
        queue = self._queues.get(name)
        if queue is None:
            return None
        if number is None:
            number = self.tally.arrived
        fields = tuple(where.items())
        due = (fault for fault in queue.unrated if fault.at in (None, number))
        fits = (f for f in due if _matches_card(f, card) and _matches_fields(f, fields))
        fault = next(fits, None) or queue.draw(fields, self.rng, chances)
        if fault is None or not _matches_card(fault, card):
            return None
        if not (fault.repeat or fault.rate):
            self.drop(fault)
        self.record(fault, number)
        return fault

    def record(self, fault: SimulatedFault, number: int) -> None:
        """Record that `fault` strikes now, at card number `number`."""
        struck = FaultStrike(fault, number, self.now_s())
        self.past_strikes.append(struck)
        self.on_strike(struck)


def _matches_fields(fault: SimulatedFault, where: FieldValues) -> bool:
    return all(getattr(fault, field) == value for field, value in where)


def _matches_card(fault: SimulatedFault, card: PhysicalCard | None) -> bool:
    return card is None or fault.face is None or fault.face == card.face
