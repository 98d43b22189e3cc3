"""The people at a table in process: their hands, their eyes and the buttons' pins.

They know the lift, the hopper and the panel, nothing of the machine's inside. All of it
is in the loop's time; nothing leaves a timer behind.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from controller.machine.machine import TableMachine
from controller.machine.machine_supervisor import MachineSupervisor
from controller.messages import Seat
from drivers.panel import DEBOUNCE_S, LONG_PRESS_S, PanelPins
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.card_handling import PeopleAtMachine
from sim.mechanics.truth import Truth
from sim.panel_contacts import PanelContacts
from sim.pin_factories import ContactsFactory

WAIT_TIMEOUT_S = 300.0
"""How long a trial waits for anything, in virtual seconds: many deals."""
LOOK_INTERVAL_S = 0.1
"""How often people look at the machine."""
TAP_S = 0.15
"""How long a finger stays on a button that it taps."""
SEAT_NAMES: Mapping[Seat, str] = {"N": "north", "W": "west", "S": "south", "E": "east"}


@dataclass
class HandledTable:
    """A table in process as the people at it have it."""

    sim: HardwareInProcess
    lasting: MachineSupervisor
    _contacts: PanelContacts | None = field(default=None, init=False)

    @property
    def machine(self) -> TableMachine:
        """The machine as it is now; after a full disk it is another one."""
        return self.lasting.machine

    @property
    def people(self) -> PeopleAtMachine:
        """Everybody's hands: what has no move of its own here (collect, change_set, mix)."""
        return self.sim.world.people

    async def wait_until_seen(self, condition: Callable[[Truth], bool]) -> Truth:
        """Return the mechanics as people see them, once `what` holds of them.

        Raises TimeoutError after PATIENCE_S.
        """
        for _ in range(round(WAIT_TIMEOUT_S / LOOK_INTERVAL_S)):
            truth = self.sim.world.truth()
            if condition(truth):
                return truth
            await asyncio.sleep(LOOK_INTERVAL_S)
        raise TimeoutError

    async def take_hands(self) -> None:
        """Wait for the lift, and let each player take the own hand."""
        await self.wait_until_seen(lambda truth: truth.lift_up)
        self.people.take_hands()

    def lay_down(self) -> None:
        """Let the players lay all their cards on the table, as played."""
        self.people.lay_down()

    async def load(self, card_set: str | None = None) -> None:
        """Put a set into the hopper: by its name once the hopper is free, else what was played.

        Raises OutOfReach where the set is not there (sim/mechanics/card_handling.py).
        """
        if card_set is not None:
            await self.wait_until_seen(
                lambda truth: not (truth.hopper or truth.shuffler or truth.feeder)
            )
        self.people.load(card_set)

    async def panel(self) -> PanelContacts:
        """Return the panel's contacts and lamps; the first time, wire the table's front to them."""
        if self._contacts is None:
            contacts = self._contacts = PanelContacts(self.sim.world)

            async def factory() -> object:
                return ContactsFactory(contacts)

            await self.machine.panel_control.open(PanelPins(), factory)
        return self._contacts

    async def press(
        self, seat: Seat, colour: Literal["green", "red"], *, for_s: float = TAP_S
    ) -> None:
        """Press a seat's green or red button for so long, and see it settle."""
        await self._press(f"{SEAT_NAMES[seat]}_{colour}", for_s)

    async def hold_button(self, seat: Seat, colour: Literal["green", "red"] = "green") -> None:
        """Hold a seat's button until it counts as held."""
        await self.press(seat, colour, for_s=LONG_PRESS_S + TAP_S)

    async def press_start(self) -> None:
        """Press the start button."""
        await self._press("start", TAP_S)

    async def _press(self, name: str, for_s: float) -> None:
        contacts = await self.panel()
        contacts.press(name)
        try:
            await asyncio.sleep(for_s)
        finally:
            contacts.release(name)
        await asyncio.sleep(2 * DEBOUNCE_S)

    def close(self) -> None:
        """Take the wires off the panel."""
        if self._contacts is not None:
            self._contacts.close()
            self._contacts = None
