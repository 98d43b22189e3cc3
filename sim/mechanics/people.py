"""What people's hands do with the machine and its cards."""

from typing import TYPE_CHECKING

from drivers.firmware.wire import BACK_A
from sim.mechanics.cards import Cards, PhysicalCard
from sim.mechanics.pockets import TRAY
from sim.mechanics.sensors import OUTLETS
from sim.mechanics.spoil import SPOILS, spoil

if TYPE_CHECKING:
    from sim.mechanics.world import World

# How long a person takes to open or close the lid, and to gather the cards.
LID_MS = 300.0
GATHER_MS = 700.0


class OutOfReach(ValueError):
    """People's hands cannot get there now; one line that says why."""


class People:
    """The hands at one machine.

    `hands` holds what the four players took, `box` the cards that are out of play.
    Whoever gathers the cards also frees what was jammed and turns every card's face
    down.
    """

    def __init__(self, world: "World") -> None:
        self._world = world
        self.hands: tuple[list[PhysicalCard], ...] = tuple([] for _ in range(TRAY))
        self.box: list[PhysicalCard] = []

    def take_hands(self) -> None:
        """Let each player take the cards of the own pocket; raises OutOfReach below the table."""
        if not self._world.lift.up:
            raise OutOfReach("the pockets are not up: nobody can reach the hands")
        left = self._world.faults.strike("left_in_pocket")
        for seat, hand in enumerate(self.hands):
            taken = self._world.pockets.empty(seat)
            if left is not None and left.pocket == seat and taken:
                self._world.pockets.put(seat, taken[-1:])
                taken = taken[:-1]
            hand.extend(taken)

    def load(self) -> None:
        """Put the cards that the players hold into the hopper."""
        cards = tuple(card for hand in self.hands for card in hand)
        for hand in self.hands:
            hand.clear()
        self.fill(cards)

    async def collect(self) -> None:
        """Open the lid, put every card of the machine and the hands into the hopper, close it."""
        clock = self._world.clock
        self._world.set_lid(True)
        await clock.pass_ms(GATHER_MS)
        self.fill(self.gather())
        await clock.pass_ms(LID_MS)
        self._world.set_lid(False)

    async def change_set(self, back: int = BACK_A, count: int = 108) -> None:
        """Open the lid, put all cards into the box and a new set into the hopper, close it."""
        clock = self._world.clock
        self._world.set_lid(True)
        await clock.pass_ms(GATHER_MS)
        self.box.extend(self.gather())
        self.fill(self._world.new_set(count, back))
        await clock.pass_ms(LID_MS)
        self._world.set_lid(False)

    def gather(self) -> Cards:
        """Take every card out of the machine, from the floor and from the players; mend it."""
        world = self._world
        cards: list[PhysicalCard] = []
        for outlet in range(OUTLETS):
            cards.extend(world.pockets.empty(outlet))
        for feeder in world.feeders:
            cards.extend(feeder.empty())
        cards.extend(world.window.empty())
        cards.extend(world.shuffler.empty())
        for pile in (world.hopper, world.pockets.floor, *self.hands):
            cards.extend(pile)
            pile.clear()
        for feeder in world.feeders:
            feeder.stack_changed()
        for motor in world.motors.values():
            motor.free()
        world.dealer.mend()
        return tuple(PhysicalCard(card.id, card.face, card.back) for card in cards)

    def square_up(self) -> None:
        """Take the cards out of the hopper and put them back."""
        cards = tuple(self._world.hopper)
        self._world.hopper.clear()
        self.fill(cards)

    def fill(self, cards: Cards) -> None:
        """Lay `cards` into the hopper; what is wrong with the set happens here."""
        world = self._world
        for name in SPOILS:
            while fault := world.faults.strike(name):
                cards, out = spoil(fault, cards, world.rng, world.fresh_card)
                self.box.extend(out)
                if fault.repeat or fault.rate:
                    break
        left = world.faults.strike("left_in_pocket") if cards else None
        if left is not None:
            world.pockets.put(left.pocket, cards[-1:])
            cards = cards[:-1]
        world.hopper.extend(cards)
        world.tally.reset()
        world.hopper_changed()
