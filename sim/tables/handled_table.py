"""A table in this process (`HandledTable`), with actions of people at its machine and panel.

People see the lift, the hopper and the panel, and nothing inside the machine. All times are in the
event loop's time. No timer remains after an action.
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
"""The limit for each wait of a trial, in virtual seconds: longer than many deals."""
LOOK_INTERVAL_S = 0.1
"""The interval at which people look at the machine."""
TAP_S = 0.15
"""The time that a tap presses a button."""
SEAT_NAMES: Mapping[Seat, str] = {"N": "north", "W": "west", "S": "south", "E": "east"}


@dataclass
class HandledTable:
    """A table in this process, with methods for the actions of its people."""

    sim: HardwareInProcess
    lasting: MachineSupervisor
    _contacts: PanelContacts | None = field(default=None, init=False)

    @property
    def machine(self) -> TableMachine:
        """The TableMachine that runs now. After a full disk this is a new object."""
        return self.lasting.machine

    @property
    def people(self) -> PeopleAtMachine:
        """The simulated people. Use them for actions that have no method in this class."""
        return self.sim.world.people

    async def wait_until_seen(self, condition: Callable[[Truth], bool]) -> Truth:
        """Wait until `condition` is true for the truth of the mechanics, and return this truth.

        Raises TimeoutError after WAIT_TIMEOUT_S.
        """
        for _ in range(round(WAIT_TIMEOUT_S / LOOK_INTERVAL_S)):
            truth = self.sim.world.truth()
            if condition(truth):
                return truth
            await asyncio.sleep(LOOK_INTERVAL_S)
        raise TimeoutError

    async def take_hands(self) -> None:
        """Wait until the lift is up, then give each player their own hand."""
        await self.wait_until_seen(lambda truth: truth.lift_up)
        self.people.take_hands()

    def lay_down(self) -> None:
        """Lay all cards that the players hold on the table, as if they were played."""
        self.people.lay_down()

    async def load(self, card_set: str | None = None) -> None:
        """Wait until hopper, shuffler and feeder are empty, then put `card_set` into the hopper.

        With None, put in all cards of the players and of the table, without a wait. Raises
        OutOfReach if the set is not there (sim/mechanics/card_handling.py).
        """
        if card_set is not None:
            await self.wait_until_seen(
                lambda truth: not (truth.hopper or truth.shuffler or truth.feeder)
            )
        self.people.load(card_set)

    async def panel(self) -> PanelContacts:
        """Return the panel's contacts and lamps. The first call connects them to the machine."""
        if self._contacts is None:
            contacts = self._contacts = PanelContacts(self.sim.world)

            async def factory() -> object:
                return ContactsFactory(contacts)

            await self.machine.panel_control.open(PanelPins(), factory)
        return self._contacts

    async def press(
        self, seat: Seat, colour: Literal["green", "red"], *, for_s: float = TAP_S
    ) -> None:
        """Press a seat's button for `for_s` seconds, and wait until the debounce time is over."""
        await self._press(f"{SEAT_NAMES[seat]}_{colour}", for_s)

    async def hold_button(self, seat: Seat, colour: Literal["green", "red"] = "green") -> None:
        """Press a seat's button until it counts as a long press."""
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
        """Disconnect the panel from the simulated machine. Do nothing if no panel is connected."""
        if self._contacts is not None:
            self._contacts.close()
            self._contacts = None
