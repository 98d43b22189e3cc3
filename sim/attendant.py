"""A simulated person who serves one table. The person sees and does only what people can."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from sim.mechanics.card_handling import OutOfReach
from sim.mechanics.world import World
from sim.panel_contacts import PanelContacts

# The times that a person needs, in milliseconds of the machine's time. In a machine that runs ten
# times as fast, people act ten times as fast too.
TAKE_MS = 1500.0
LOAD_MS = 4000.0
REACT_MS = 2000.0
START_AGAIN_MS = 3000.0
MAX_START_PRESSES = 3


class Attendant:
    """A simulated person who takes the hands, loads the cards again and clears faults.

    The attendant sees the lift, the lamps and whether the machine moves, and nothing else. At the
    red lamp the attendant releases the emergency stop, counts the set, and repairs boards and
    cables with `mend`. Run it as a task: `asyncio.create_task(attendant.run())`. Cancel the task to
    end it.
    """

    def __init__(
        self, world: World, contacts: PanelContacts, mend: Callable[[], None] = lambda: None
    ) -> None:
        self._world, self._contacts, self._mend = world, contacts, mend
        self._changed = asyncio.Event()
        self._red_lamp_seen = False

    async def run(self) -> None:
        """Serve the table until the task is cancelled: take hands, load cards and clear faults."""
        unwatch = (
            self._world.dealer.observe(lambda name, value: self._changed.set()),
            self._contacts.watch(self._on_lamp),
        )
        self._red_lamp_seen = self._contacts.lamps["lamp_red"]
        try:
            while True:
                stacks = self._world.pockets.stacks
                if self._world.lift.is_up and any(stacks[seat] for seat in range(4)):
                    await self._return_hands()
                if self._red_lamp_seen:
                    self._red_lamp_seen = False
                    await self._clear_up()
                await self._changed.wait()
                self._changed.clear()
        finally:
            for stop in unwatch:
                stop()

    async def _return_hands(self) -> None:
        await self._world.clock.wait_ms(TAKE_MS)
        try:
            self._world.people.take_hands()
        except OutOfReach:
            return
        await self._world.clock.wait_ms(LOAD_MS)
        self._world.people.load()
        await self._press_start()

    async def _clear_up(self) -> None:
        await self._world.clock.wait_ms(REACT_MS)
        if not (self._red_lamp_seen or self._contacts.lamps["lamp_red"]):
            return
        self._mend()
        self._world.set_estop(False)
        await self._world.people.collect()
        with suppress(OutOfReach):
            self._world.people.put_right()
        self._red_lamp_seen = False
        await self._press_start()

    async def _press_start(self) -> None:
        """Press the start button repeatedly until cards move or the red lamp has been lit.

        Give up after MAX_START_PRESSES presses.
        """
        for _ in range(MAX_START_PRESSES):
            if self._red_lamp_seen or self._world.shuffler.cards or self._world.tally.arrived:
                return
            await self._contacts.tap("start")
            await self._world.clock.wait_ms(START_AGAIN_MS)

    def _on_lamp(self, name: str, lit: bool) -> None:
        if name == "lamp_red" and lit:
            self._red_lamp_seen = True
        self._changed.set()
