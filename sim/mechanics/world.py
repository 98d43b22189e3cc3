"""One whole simulated machine (`World`), with its cards, its people and its faults."""

import random
from collections.abc import Mapping
from types import MappingProxyType

from sim.mechanics.card_handling import PeopleAtMachine
from sim.mechanics.cards import PhysicalCard
from sim.mechanics.fault_effects import MOVE_SENSORS, FaultInjector, OutsideHandler
from sim.mechanics.fault_menu import FaultStrike, FaultTarget, SimulatedFault
from sim.mechanics.machine_parts import MachineParts
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.truth import Truth


class World(MachineParts):
    """One simulated machine, with its cards, its faults, and the people who handle the cards.

    It runs in the time of the running loop. People act through `people`. `truth()` returns the true
    positions of the cards. `outside` contains the handlers that carry out faults of a line, a board
    or the host, in the loop's next turn. A handler calls `end_fault` when its fault is over.
    `strike_listeners` are called for every fault that strikes.
    """

    def __init__(
        self,
        settings: MechanicsSettings,
        rng: random.Random,
        outside: Mapping[FaultTarget, OutsideHandler] = MappingProxyType({}),
    ) -> None:
        super().__init__(settings, rng)
        self._injector = FaultInjector(self, outside, settings.together)
        self.outside_handlers = self._injector.outside_handlers
        self.strike_listeners = self._injector.strike_listeners
        self.window.on_entered = self._on_card_in_window
        self.dealer.observe(self._injector.strike_after_move, MOVE_SENSORS)
        self.people = PeopleAtMachine(self, self._injector, settings)
        for fault in settings.faults:
            self.add_fault(fault)
        self.people.unpack()

    def add_fault(self, fault: SimulatedFault) -> None:
        """Add `fault` to the planned faults. It strikes as its fields `at` and `rate` require.

        A fault of a part, a line, a board or the host strikes at once if it has neither `at` nor
        `rate`. A fault of the set alters the cards in the hopper if none of them has reached the
        window yet, otherwise the next cards that are put there. Raises FaultError for a fault that
        is not on the menu or that no handler can carry out. A fault without a handler is accepted
        if it has a `rate`, and never strikes.
        """
        self._injector.add(fault)

    def truth(self) -> Truth:
        """Return the true position of every card."""
        return self.people.truth()

    def active_faults(self) -> tuple[FaultStrike, ...]:
        """Return the faults that have struck and still have an effect, oldest first."""
        return self._injector.active.current()

    def end_fault(self, fault: SimulatedFault) -> None:
        """End the oldest occurrence of `fault`, a fault of a line, of a board or of the host."""
        self._injector.active.end(fault)

    def _on_card_in_window(self, card: PhysicalCard, number: int) -> None:
        self.engine.card_arrived(card, number)
        self._injector.strike_due_parts(number)
