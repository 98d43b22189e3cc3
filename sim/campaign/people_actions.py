"""The actions of simulated people at a table of a campaign, and the commands that they send.

Every action that not every deal needs is reported. `on_hand(name)` is called before the action. If
the action disturbs the machine, `on_action(fault)` is called with the simulated fault that has the
same effect.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from controller.messages import CommandReply, Role
from sim.board_faults import BoardName
from sim.campaign.life_judge import find_wrong_set
from sim.campaign.table_host import SETS, TableHost
from sim.mechanics.card_handling import OutOfReach
from sim.mechanics.fault_menu import SimulatedFault

PeopleAction = Coroutine[Any, Any, None]
ANSWER_TIMEOUT_S = 5.0
"""The time for which a person waits for the answer to a command about a set."""
RETRY_INTERVAL_S = 1.0
"""The time that people wait before they send a command again."""
_ACTION_FAULTS = {
    "collect": SimulatedFault("lid"),
    "change_set": SimulatedFault("lid"),
    "close_lid": SimulatedFault("lid"),
    "release_estop": SimulatedFault("estop"),
}
"""For an action that disturbs the machine: the simulated fault that has the same effect."""


class PeopleActions:
    """The actions that people at one table can do.

    `last` is their last action that not every deal needs.
    """

    def __init__(
        self,
        host: TableHost,
        on_hand: Callable[[str], None],
        on_action: Callable[[SimulatedFault], None],
    ) -> None:
        self.last = "nothing"
        self._host, self._world = host, host.sim.world
        self._on_hand, self._on_action = on_hand, on_action
        self._cards = host.profile.deck.cards
        self._loop = asyncio.get_running_loop()
        self._pending_answers: dict[str, asyncio.Future[CommandReply]] = {}
        self._asked_at_s: dict[str, float] = {}
        self._calls: dict[str, Callable[[], None]] = {
            "release_estop": lambda: self._world.set_estop(False),
            "close_lid": lambda: self._world.set_lid(False),
            "start_daemon": host.start_daemon,
            "make_room": host.free_disk,
            "take_out": self._world.people.take_hands,
        }

    # Actions of every deal.

    async def take_hands(self) -> None:
        """Take the released hands out of the pockets, as the players do."""
        self._world.people.take_hands()

    async def load(self) -> None:
        """Put the cards of the last deal back into the hopper."""
        self._world.people.load()

    # Actions after faults.

    async def act(self, name: str) -> None:
        """Carry out the action `name`, which has no arguments, for example `close_lid`.

        `start_daemon` starts the machine's program, which ended and needs a person to start it.
        `make_room` deletes files, so that the full disk has room again. `take_out` takes the cards
        that a player left in a pocket.
        """
        self._note_action(name)
        self._calls[name]()

    async def plug_in(self, names: tuple[BoardName, ...]) -> None:
        """Plug in all cables and put the original boards back. `names`: the boards of the alert."""
        self._note_action("plug_in")
        for name in names:
            self._on_action(SimulatedFault("unplugged", board=name))
        self._host.sim.mend()

    async def collect(self, loaded: str | None = None) -> None:
        """Open the lid, put all cards back into the hopper, and close the lid.

        `loaded` is the set in the machine. Players who have the cards of another set keep them.
        """
        self._note_action("collect")
        people = self._world.people
        held = [card.back for hand in people.hands for card in hand]
        apart = loaded is not None and bool(held) and people.backs[loaded] not in held
        await people.collect(loaded if apart else None)

    async def mend(self) -> None:
        """Free stalled motors and clean the sensors. The cards stay where they are."""
        self._note_action("mend")
        for motor in self._world.motors.values():
            motor.free()
        self._world.dealer.unstick_all()

    async def free_hopper(self) -> None:
        """Take the cards out of the hopper.

        If the hopper is empty, its sensor is wrong: clean the sensors instead.
        """
        if not self._world.hopper:
            await self.mend()
            return
        self._note_action("free_hopper")
        self._world.people.table.extend(self._world.hopper)
        self._world.hopper.clear()
        self._world.hopper_changed()

    async def change_set(self, old: str) -> None:
        """Replace the set `old` by the other set, and send the command that names the new set."""
        new = next(one.id for one in SETS if one.id != old)
        self._note_action("change_set")
        self._make_whole(new)
        try:
            await self._world.people.change_set(card_set=new)
        except OutOfReach:
            return
        await self._wait_for_answer(self._host.command(Role.REFEREE, "replace_set", set=new))

    async def count_set(self, name: str) -> None:
        """Make the set `name` complete, and send the command `clear_set` with the card count."""
        self._note_action("count_set")
        self._make_whole(name)
        asked = self._host.command(Role.REFEREE, "clear_set", set=name, cards=self._cards)
        await self._wait_for_answer(asked)

    async def acknowledge(self, name: str) -> None:
        """Send the command that acknowledges the fault `name`."""
        self._note_action("acknowledge")
        self._host.command(Role.REFEREE, "acknowledge", code=name)

    # Commands.

    def command(
        self, cmd: str, role: Role, *, action_name: str | None = None, **args: Any
    ) -> PeopleAction | None:
        """Return the action that sends `cmd`, or None if people must wait before they send it.

        They wait until the last `cmd` is answered, and RETRY_INTERVAL_S after it was sent.
        `action_name` is the name of the command as an action after a fault, if it is one.
        """
        asked = self._pending_answers.get(cmd)
        waits = asked is not None and not asked.done()
        asked_at_s = self._asked_at_s.get(cmd, -RETRY_INTERVAL_S)
        if waits or self._loop.time() - asked_at_s < RETRY_INTERVAL_S:
            return None
        return self._send(cmd, role, action_name, args)

    async def _send(self, cmd: str, role: Role, hand: str | None, args: dict[str, Any]) -> None:
        asked = self._host.command(role, cmd, **args)
        if asked is None:
            return
        if hand is not None:
            self._note_action(hand)
        self._pending_answers[cmd], self._asked_at_s[cmd] = asked, self._loop.time()

    async def _wait_for_answer(self, asked: "asyncio.Future[CommandReply] | None") -> None:
        """Wait for the answer `asked`, at most ANSWER_TIMEOUT_S. Do not wait if `asked` is None."""
        if asked is not None:
            await asyncio.wait({asked}, timeout=ANSWER_TIMEOUT_S)

    def _note_action(self, name: str) -> None:
        self.last = name
        if name in _ACTION_FAULTS:
            self._on_action(_ACTION_FAULTS[name])
        self._on_hand(name)

    def _make_whole(self, name: str) -> None:
        """If the set `name` beside the machine is not complete, replace it by a new set."""
        pile, right = self._world.people.beside[name], self._host.judged_sets[name]
        if any(find_wrong_set(tuple(pile), right)):
            self._world.people.box.extend(pile)
            pile[:] = self._world.new_set(self._cards, right.back, right.faces)
