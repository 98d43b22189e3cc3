"""The faults that are still to strike, and those that have."""

import random
from collections.abc import Callable
from itertools import accumulate

from sim.mechanics.cards import FillingTally, PhysicalCard
from sim.mechanics.fault_menu import FaultStrike, SimulatedFault, check_fault

FieldValues = tuple[tuple[str, object], ...]
"""The values that fields of a fault must have, in the order in which they were asked for."""


class _FaultQueue:
    """The faults of one name: those with a seeded rate, and the others in order.

    One draw decides for all rates together, so that many of them cost no more than one; at
    most one of them strikes.
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
        """Return which of those with a rate strikes now, if one does, of so many chances."""
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


class FaultSchedule:
    """What is to go wrong, by the names of sim/faults.toml, and what has.

    The order of asking is the order of what happens in the machine, so that a seeded rate
    strikes the same cards in every run. `now_s` stamps what strikes (the loop's time in
    seconds), `tally` numbers it; `told` hears of it at once.
    """

    def __init__(
        self,
        rng: random.Random,
        tally: FillingTally | None = None,
        now_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.past_strikes: list[FaultStrike] = []
        self.on_strike: Callable[[FaultStrike], None] = lambda struck: None
        self._rng = rng
        self._tally = tally or FillingTally()
        self._now_s = now_s
        self._queues: dict[str, _FaultQueue] = {}

    def add(self, fault: SimulatedFault) -> None:
        """Let `fault` strike when its time comes; raises FaultError if it is not on the menu."""
        self._queues.setdefault(check_fault(fault).name, _FaultQueue()).add(fault)

    def drop(self, fault: SimulatedFault) -> None:
        """Forget one fault, unless it has struck already."""
        shelf = self._queues.get(fault.name)
        if shelf is not None:
            shelf.drop(fault)
            if not (shelf.unrated or shelf.rated):
                del self._queues[fault.name]

    def clear(self, name: str | None = None) -> None:
        """Forget the faults of this name, or all that have not struck yet."""
        if name is None:
            self._queues.clear()
        else:
            self._queues.pop(name, None)

    def has_any(self, names: frozenset[str]) -> bool:
        """Whether a fault of any of these names may strike yet."""
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
        """Return the fault `name` that strikes here and now, else None.

        `number`: the card's, else that of the last one that came to the window; `card`: the
        card itself; `chances`: how many cards this moment counts for; `where`: the values that
        fields of the fault must have (`place="gate"`).
        A fault that strikes once is gone from the book with this.
        """
        shelf = self._queues.get(name)
        if shelf is None:
            return None
        return self._strike(shelf, number, card, chances, tuple(where.items()))

    def strike_fields(self, name: str, where: FieldValues) -> SimulatedFault | None:
        """Strike as `strike` does, for those who ask for the same fields again and again."""
        shelf = self._queues.get(name)
        return None if shelf is None else self._strike(shelf, None, None, 1, where)

    def _strike(
        self,
        shelf: _FaultQueue,
        number: int | None,
        card: PhysicalCard | None,
        chances: int,
        where: FieldValues,
    ) -> SimulatedFault | None:
        if number is None:
            number = self._tally.arrived
        fault = _first_due(shelf.unrated, number, card, where) if shelf.unrated else None
        if fault is None:
            fault = shelf.draw(where, self._rng, chances)
            if fault is None or not _matches_card(fault, card):
                return None
        if not (fault.repeat or fault.rate):
            self.drop(fault)
        self.record(fault, number)
        return fault

    def record(self, fault: SimulatedFault, number: int) -> None:
        """Write down that `fault` strikes now, as card `number` comes."""
        struck = FaultStrike(fault, number, self._now_s())
        self.past_strikes.append(struck)
        self.on_strike(struck)


def _first_due(
    faults: list[SimulatedFault], number: int, card: PhysicalCard | None, where: FieldValues
) -> SimulatedFault | None:
    """Return the first of these that is due at card `number`, and strikes it."""
    for fault in faults:
        due = fault.at is None or fault.at == number
        if due and _matches_card(fault, card) and _matches_fields(fault, where):
            return fault
    return None


def _matches_fields(fault: SimulatedFault, where: FieldValues) -> bool:
    return all(getattr(fault, field) == value for field, value in where)


def _matches_card(fault: SimulatedFault, card: PhysicalCard | None) -> bool:
    return card is None or fault.face is None or fault.face == card.face
