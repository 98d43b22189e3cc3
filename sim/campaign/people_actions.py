"""What people's hands do at a table of a campaign, and the orders that they give.

Every deed that is more than taking, laying down and loading is a hand: `hand(name)` is told of
it before it is lent, `acted(fault)` of what it does to the machine, as a fault of the menu.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from controller.messages import CommandReply, Role
from controller.rules.profile import Profile
from sim.board_faults import BoardName
from sim.campaign.life_judge import JudgedCardSet, find_wrong_set
from sim.campaign.table_host import SETS, TableHost
from sim.mechanics.card_handling import OutOfReach
from sim.mechanics.cards import PhysicalCard
from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.mechanics_settings import BACKS

PeopleAction = Coroutine[Any, Any, None]
ANSWER_TIMEOUT_S = 5.0
"""How long somebody waits for the answer to an order about a set."""
RETRY_INTERVAL_S = 1.0
"""How long people wait before they give an order again."""
_ACTION_FAULTS = {
    "collect": SimulatedFault("lid"),
    "change_set": SimulatedFault("lid"),
    "close_lid": SimulatedFault("lid"),
    "release_estop": SimulatedFault("estop"),
}
"""What people do to the machine, as the menu calls it."""


class PeopleActions:
    """The hands at one table. `last` is what they did last, beyond what every deal asks for."""

    def __init__(
        self,
        host: TableHost,
        profile: Profile,
        *,
        on_hand: Callable[[str], None],
        on_action: Callable[[SimulatedFault], None],
    ) -> None:
        self.last = "nothing"
        self._host, self._world = host, host.sim.world
        self._on_hand, self._on_action = on_hand, on_action
        deck = profile.deck
        self._cards = deck.cards
        self._sets = {
            one.id: JudgedCardSet(deck.packs, deck.cards // deck.packs, BACKS[one.back])
            for one in SETS
        }
        self._loop = asyncio.get_running_loop()
        self._pending_answers: dict[str, asyncio.Future[CommandReply]] = {}
        self._asked_at_s: dict[str, float] = {}

    # Of every deal.

    async def take_hands(self) -> None:
        """Let the players take their hands."""
        self._world.people.take_hands()

    async def load(self) -> None:
        """Put the set back that was played."""
        self._world.people.load()

    # Hands.

    async def release_estop(self) -> None:
        """Let the emergency stop out."""
        self._note_action("release_estop")
        self._world.set_estop(False)

    async def close_lid(self) -> None:
        """Close the lid that somebody left open."""
        self._note_action("close_lid")
        self._world.set_lid(False)

    async def start_daemon(self) -> None:
        """Start the machine's program."""
        self._note_action("start_daemon")
        self._host.start_daemon()

    async def free_disk(self) -> None:
        """Make room on the disk."""
        self._note_action("make_room")
        self._host.free_disk()

    async def plug_in(self, names: tuple[BoardName, ...]) -> None:
        """Look after a board's cable, and that it is the right one."""
        self._note_action("plug_in")
        for name in names:
            self._on_action(SimulatedFault("unplugged", board=name))
        self._host.sim.mend()

    async def take_out(self) -> None:
        """Take the cards out that a player left in his pocket."""
        self._note_action("take_out")
        self._world.people.take_hands()

    async def collect(self, loaded: str | None = None) -> None:
        """Open the lid, put all cards back, close it.

        `loaded` is the set in the machine: players who hold another one keep it.
        """
        self._note_action("collect")
        people = self._world.people
        held = [card.back for hand in people.hands for card in hand]
        apart = loaded is not None and bool(held) and people.backs[loaded] not in held
        await people.collect(loaded if apart else None)

    async def mend(self) -> None:
        """Free what sticks and clean the sensors; the cards stay where they are."""
        self._note_action("mend")
        for motor in self._world.motors.values():
            motor.free()
        self._world.dealer.unstick_all()

    async def free_hopper(self) -> None:
        """Take out what lies in the hopper; where nothing does, its sensor is at fault."""
        if not self._world.hopper:
            await self.mend()
            return
        self._note_action("free_hopper")
        cards: list[PhysicalCard] = list(self._world.hopper)
        self._world.hopper.clear()
        self._world.hopper_changed()
        self._world.people.table.extend(cards)

    async def change_set(self, old: str) -> None:
        """Put another set in, and say so."""
        new = next(one.id for one in SETS if one.id != old)
        self._note_action("change_set")
        self._make_whole(new)
        try:
            await self._world.people.change_set(card_set=new)
        except OutOfReach:
            return
        await self._wait_for_answer(self._host.command(Role.REFEREE, "replace_set", set=new))

    async def count_set(self, name: str) -> None:
        """Count a set that lies beside the machine, make it whole, and say so."""
        self._note_action("count_set")
        self._make_whole(name)
        asked = self._host.command(Role.REFEREE, "clear_set", set=name, cards=self._cards)
        await self._wait_for_answer(asked)

    async def acknowledge(self, name: str) -> None:
        """Say that somebody saw a fault."""
        self._note_action("acknowledge")
        self._host.command(Role.REFEREE, "acknowledge", code=name)

    # Orders.

    def command(
        self, cmd: str, role: Role, *, action_name: str | None = None, **args: Any
    ) -> PeopleAction | None:
        """Give an order, unless one like it waits for its answer or was given a moment ago.

        `hand`: what it is called, where it is one.
        """
        asked = self._pending_answers.get(cmd)
        waits = asked is not None and not asked.done()
        if (
            waits
            or self._loop.time() - self._asked_at_s.get(cmd, -RETRY_INTERVAL_S) < RETRY_INTERVAL_S
        ):
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
        """Wait for an answer for a while; a dead daemon gives none."""
        if asked is not None:
            await asyncio.wait({asked}, timeout=ANSWER_TIMEOUT_S)

    def _note_action(self, name: str) -> None:
        self.last = name
        if name in _ACTION_FAULTS:
            self._on_action(_ACTION_FAULTS[name])
        self._on_hand(name)

    def _make_whole(self, name: str) -> None:
        """Exchange a set beside the machine for a new one, unless it is whole."""
        pile, right = self._world.people.beside[name], self._sets[name]
        if any(find_wrong_set(tuple(pile), right)):
            self._world.people.box.extend(pile)
            pile[:] = self._world.new_set(self._cards, right.back, right.faces)
