"""Cards that people leave behind in the machine."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from drivers.firmware.wire import FROM_TRAY, HOPPER
from sim.mechanics.cards import Cards, PhysicalCard
from sim.mechanics.faults import SimulatedFault
from sim.mechanics.pockets import TRAY

if TYPE_CHECKING:
    from sim.mechanics.world import World

LEFT_CARD_FAULTS = ("left_in_pocket", "left_in_path")
"""The faults of this kind, in the order in which they are asked for."""


def _put_in_feeder(world: "World", pocket: int, cards: Cards) -> None:
    world.feeders[HOPPER].place_by_hand(cards)


def _put_in_tray(world: "World", pocket: int, cards: Cards) -> None:
    world.pockets.add_by_hand(TRAY, cards)


def _put_in_window(world: "World", pocket: int, cards: Cards) -> None:
    world.window.place_by_hand(cards, in_gate=False)


def _put_in_gate(world: "World", pocket: int, cards: Cards) -> None:
    world.window.place_by_hand(cards, in_gate=True)


def _put_in_chute(world: "World", pocket: int, cards: Cards) -> None:
    world.pockets.stick_in_chute(pocket, cards)


def _put_in_shuffler(world: "World", pocket: int, cards: Cards) -> None:
    world.shuffler.place_by_hand(cards)


def _put_on_floor(world: "World", pocket: int, cards: Cards) -> None:
    world.pockets.floor.extend(cards)


def _put_in_pocket(world: "World", pocket: int, cards: Cards) -> None:
    world.pockets.add_by_hand(pocket, cards)


_PutCards = Callable[["World", int, Cards], None]
_CardsThere = Callable[["World", int], Sequence[PhysicalCard]]


def _cards_in_feeder(world: "World", pocket: int) -> Cards:
    return world.feeders[HOPPER].path


def _cards_in_tray(world: "World", pocket: int) -> Sequence[PhysicalCard]:
    return (*world.pockets.stacks[TRAY], *world.feeders[FROM_TRAY].path)


def _cards_in_window(world: "World", pocket: int) -> Cards:
    return world.window.cards


def _cards_in_chute(world: "World", pocket: int) -> Cards:
    return world.pockets.stuck[pocket]


def _cards_in_shuffler(world: "World", pocket: int) -> Cards:
    return world.shuffler.cards


def _cards_on_floor(world: "World", pocket: int) -> Sequence[PhysicalCard]:
    return world.pockets.floor


def _cards_in_pocket(world: "World", pocket: int) -> Sequence[PhysicalCard]:
    return world.pockets.stacks[pocket]


# Where a card is left, how, and what lies there afterwards.
_PLACES: dict[str, tuple[_PutCards, _CardsThere]] = {
    "feeder": (_put_in_feeder, _cards_in_feeder),
    "tray_feeder": (_put_in_tray, _cards_in_tray),
    "window": (_put_in_window, _cards_in_window),
    "gate": (_put_in_gate, _cards_in_window),
    "landing": (_put_in_chute, _cards_in_chute),
    "shuffler": (_put_in_shuffler, _cards_in_shuffler),
    "lift": (_put_on_floor, _cards_on_floor),
}
# In these is room for one card, or one set, at a time.
_SINGLE_PLACES = ("feeder", "window", "gate", "shuffler")


def leave_card(world: "World", fault: SimulatedFault, cards: Cards) -> Cards:
    """Leave the last of `cards` where the fault says; return the others.

    Nothing is left where something lies already that has no room for one more. It is in
    force until the hopper is filled again and that card lies there no more.
    """
    put, lies = _PLACES[fault.place]
    if fault.name == "left_in_pocket":
        put, lies = _put_in_pocket, _cards_in_pocket
    elif fault.place in _SINGLE_PLACES and lies(world, fault.pocket):
        return cards
    *others, left = cards
    put(world, fault.pocket, (left,))
    filling = world.tally.filling
    world.keep_active_while(
        lambda: world.tally.filling == filling or left in lies(world, fault.pocket),
    )
    return tuple(others)
