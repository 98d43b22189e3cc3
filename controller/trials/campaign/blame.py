"""Which faults are active, and which words for what went wrong they account for.

Active are the faults that struck since the verdict before, and those that still are so or were
so as the attempt began: the end of one, a board that is changed back, disturbs an attempt, too.
What people do at the machine, told or not, counts as a fault of that name while it is new:
whoever clears up opens the lid.
"""

from collections.abc import Iterable
from functools import lru_cache

import msgspec

from sim.mechanics.faults import FaultStrike, SimulatedFault, accepted_codes, fault_menu, is_mild
from sim.mechanics.world import World

CONSEQUENCES = frozenset({"TWO_MISDEALS", "SET_BARRED"})
"""Alerts that follow from verdicts, not from a fault of their own."""

ACT_BLAME_S = 2.0
"""How long something that people did may still be spoken of once the next attempt begins."""

_STRIKES_AT_A_FILLING = "set"
_FAULT_FIELDS = msgspec.structs.fields(SimulatedFault)


@lru_cache(maxsize=4096)
def fault_text(fault: SimulatedFault) -> str:
    """Return a fault in the menu's words, as parse_fault reads them: `jam:place=gate`."""
    takes = fault_menu()[fault.name].takes
    defaults = {field.name: field.default for field in _FAULT_FIELDS}
    given = [(name, getattr(fault, name)) for name in takes]
    told = [f"{name}={value}" for name, value in given if value != defaults[name]]
    return fault.name + (":" + ",".join(told) if told else "")


def unexplained_codes(codes: Iterable[str], active: Iterable[SimulatedFault]) -> tuple[str, ...]:
    """Return the codes that are right words for none of the active faults."""
    right = {code for fault in active for code in accepted_codes(fault)}
    return tuple(code for code in codes if code not in right)


def is_needless(active: Iterable[SimulatedFault]) -> bool:
    """Tell whether an attempt need not have gone wrong: every fault active in it was mild."""
    return all(is_mild(fault) for fault in active)


class PossibleCauses:
    """The faults of one world that something may be blamed on now."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._strikes: list[FaultStrike] = []
        self._actions: list[FaultStrike] = []
        self._at_begin: tuple[FaultStrike, ...] = ()
        self._earlier_verdict_s = self._verdict_s = -1.0

    def add_strike(self, struck: FaultStrike) -> None:
        """Take a fault that strikes now."""
        self._strikes.append(struck)

    def add_action(self, fault: SimulatedFault) -> None:
        """Take what people do themselves at the machine now, as a fault of that name."""
        self._actions.append(FaultStrike(fault, 0, self._world.clock.now_s()))

    def end_attempt(self) -> None:
        """Say that an attempt has ended now."""
        self._verdict_s = self._world.clock.now_s()

    def begin_attempt(self) -> None:
        """Say that the next attempt begins: what struck before the last verdict is past."""
        self._earlier_verdict_s = self._verdict_s
        self._strikes = [one for one in self._strikes if one.at_s > self._earlier_verdict_s]
        self._at_begin = self._world.active_faults()
        now_s, truth = self._world.clock.now_s(), self._world.truth()
        self._actions = [one for one in self._actions if one.at_s > now_s - ACT_BLAME_S]
        in_it, size = len(truth.hopper) + len(truth.shuffler), self._world.people.cards_per_set
        if in_it < size:
            # A card that lay in the hopper passed for the set, which the players still have.
            self._actions.append(FaultStrike(SimulatedFault("missing_card"), 0, now_s))
        elif in_it > size:
            # A later fault can replace the extra card itself: there is still one card too many.
            self._actions.append(FaultStrike(SimulatedFault("extra_card"), 0, now_s))

    def active_faults(self) -> tuple[SimulatedFault, ...]:
        """Return the faults that are active now, people's own acts not among them."""
        each = (*self._strikes, *self._at_begin, *self._world.active_faults())
        return tuple(dict.fromkeys(one.fault for one in each))

    def all_causes(self) -> tuple[SimulatedFault, ...]:
        """Return the faults that are active now and what people did."""
        return (*self.active_faults(), *(one.fault for one in self._actions))

    def since_verdict(self) -> tuple[SimulatedFault, ...]:
        """Return the faults that struck since the last verdict, but for those of a new filling."""
        return tuple(
            one.fault
            for one in self._strikes
            if one.at_s > self._verdict_s
            and fault_menu()[one.fault.name].strikes != _STRIKES_AT_A_FILLING
        )
