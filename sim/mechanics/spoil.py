"""Sets that are not what they should be: a card gone, one too many, one of another kind."""

import random
from collections.abc import Callable

from drivers.firmware.wire import BACK_FOREIGN
from sim.mechanics.cards import Cards, PhysicalCard
from sim.mechanics.faults import SimulatedFault

# What a fault does to the cards on their way into the hopper: the cards that go in,
# and those that stay out. `fresh` makes a card that was not there before.
AlteredSet = tuple[Cards, Cards]
MakeCard = Callable[[int, int], PhysicalCard]
AlterSet = Callable[[Cards, int, int | None, MakeCard], AlteredSet]


def _without(cards: Cards, place: int) -> Cards:
    return cards[:place] + cards[place + 1 :]


def _remove_card(cards: Cards, place: int, face: int | None, make_card: MakeCard) -> AlteredSet:
    return _without(cards, place), (cards[place],)


def _forge_third_copy(
    cards: Cards, place: int, face: int | None, make_card: MakeCard
) -> AlteredSet:
    copied = cards[place].face if face is None else face
    victims = [n for n, card in enumerate(cards) if card.face != copied]
    if not victims:
        return cards, ()
    victim = victims[place % len(victims)]
    forged = make_card(copied, cards[place].back)
    return (*cards[:victim], forged, *cards[victim + 1 :]), (cards[victim],)


def _forge_foreign_back(
    cards: Cards, place: int, face: int | None, make_card: MakeCard
) -> AlteredSet:
    forged = make_card(cards[place].face, BACK_FOREIGN)
    return (*cards[:place], forged, *cards[place + 1 :]), (cards[place],)


def _add_card(cards: Cards, place: int, face: int | None, make_card: MakeCard) -> AlteredSet:
    copied = cards[place].face if face is None else face
    return (*cards[:place], make_card(copied, cards[place].back), *cards[place:]), ()


SET_FAULTS: dict[str, AlterSet] = {
    "missing_card": _remove_card,
    "third_copy": _forge_third_copy,
    "foreign_back": _forge_foreign_back,
    "extra_card": _add_card,
}


def alter_set(
    fault: SimulatedFault, cards: Cards, rng: random.Random, make_card: MakeCard
) -> AlteredSet:
    """Return the cards that go into the hopper, and those that the fault keeps out of it.

    `fresh(face, back)` brings a card into the world. Without a card that fits the
    fault's face nothing changes; a fault without a face takes any card, by `rng`.
    """
    if not cards:
        return cards, ()
    place = rng.randrange(len(cards))
    if fault.face is not None and fault.name in ("missing_card", "foreign_back"):
        fitting = [n for n, card in enumerate(cards) if card.face == fault.face]
        if not fitting:
            return cards, ()
        place = fitting[place % len(fitting)]
    return SET_FAULTS[fault.name](cards, place, fault.face, make_card)
