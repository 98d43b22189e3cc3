"""Physical cards and the sets a person puts into the hopper."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from drivers.firmware.protocol import BACK_FOREIGN, FACES
from sim.mechanics.fault_menu import SimulatedFault

JOKERS = 2
PACK_CARDS = FACES - JOKERS
"""Cards of a pack without its jokers; the jokers' faces come after them."""


@dataclass(frozen=True, slots=True)
class PhysicalCard:
    """One piece of plastic.

    `id` is its own, whatever is printed on it; `face` 0…53 and `back` 0…2 as on the
    serial line; `face_up` says how it lies.
    """

    id: int
    face: int
    back: int
    face_up: bool = False


Cards = tuple[PhysicalCard, ...]


def new_set(first_id: int, count: int, back: int, faces: int = FACES) -> Cards:
    """Return `count` cards as they come from the box: pack after pack of `faces`, in order."""
    return tuple(PhysicalCard(first_id + n, n % faces, back) for n in range(count))


@dataclass
class FillingTally:
    """Counts and times of one filling of the hopper.

    `filling`: how often cards were put into the hopper. `arrived`: how often something
    came to stand in the window (two cards stuck together are one arrival). `feeding_ms`: what
    the feeders' ways took together, by the machine's own time, for the cards that were picked.
    Times are the loop's, in seconds.
    """

    filling: int = 0
    arrived: int = 0
    landed: int = 0
    feeding_ms: float = 0.0
    first_feed_s: float | None = None
    last_landing_s: float | None = None

    def reset(self) -> None:
        """Begin anew: cards were put into the hopper."""
        self.filling += 1
        self.arrived = self.landed = 0
        self.feeding_ms = 0.0
        self.first_feed_s = self.last_landing_s = None


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
