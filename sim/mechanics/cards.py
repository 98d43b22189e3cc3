"""Physical cards, new sets of cards, and the faults that change the cards of a set."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from drivers.firmware.protocol import BACK_FOREIGN, FACES
from sim.mechanics.fault_menu import SimulatedFault

JOKERS = 2
PACK_CARDS = FACES - JOKERS
"""The number of cards of a pack without jokers. The jokers' faces have the numbers after them."""


@dataclass(frozen=True, slots=True)
class PhysicalCard:
    """One card as a physical object, which has its own identity, a face and a back.

    `id` is unique to the card, whatever is printed on it. `face` (0…53) and `back` (0…2) are coded
    as on the serial line. `face_up` is True if the card is face up.
    """

    id: int
    face: int
    back: int
    face_up: bool = False


Cards = tuple[PhysicalCard, ...]


def new_set(first_id: int, count: int, back: int, faces: int = FACES) -> Cards:
    """Return `count` new cards, sorted as in a new box: one pack after another.

    Each pack has `faces` different faces.
    """
    return tuple(PhysicalCard(first_id + n, n % faces, back) for n in range(count))


@dataclass
class FillingTally:
    """Card counts and feed times since the hopper was last filled, and the number of fillings.

    `filling`: the number of times that cards were put into the hopper. `arrived`: the number of
    arrivals in the window (two cards stuck together are one arrival). `feeding_ms`: the total
    travel time in the feeders of the picked cards, in the machine's own time. Other times are the
    loop's, in seconds.
    """

    filling: int = 0
    arrived: int = 0
    landed: int = 0
    feeding_ms: float = 0.0
    first_feed_s: float | None = None
    last_landing_s: float | None = None

    def reset(self) -> None:
        """Count a new filling of the hopper, and reset all other counts and times."""
        self.filling += 1
        self.arrived = self.landed = 0
        self.feeding_ms = 0.0
        self.first_feed_s = self.last_landing_s = None


SET_FAULTS = ("missing_card", "third_copy", "foreign_back", "extra_card")
"""The faults of a set, in the order in which the schedule is queried."""

MakeCard = Callable[[int, int], PhysicalCard]
"""A function that returns a new card with this face and this back."""


def alter_set(
    fault: SimulatedFault, cards: Cards, rng: random.Random, make_card: MakeCard
) -> tuple[Cards, Cards]:
    """Return the set `cards` after `fault` has struck it, and the cards that the fault removed.

    `make_card(face, back)` creates a new card. A fault without a face takes any card, chosen by
    `rng`. If a card must be removed or replaced and no card fits, nothing changes.
    """
    if not cards:
        return cards, ()
    place = rng.randrange(len(cards))
    if fault.face is not None and fault.name in ("missing_card", "foreign_back"):
        fitting = [n for n, card in enumerate(cards) if card.face == fault.face]
        if not fitting:
            return cards, ()
        place = fitting[place % len(fitting)]
    before, old, after = cards[:place], cards[place], cards[place + 1 :]
    if fault.name == "missing_card":
        return before + after, (old,)
    if fault.name == "foreign_back":
        return (*before, make_card(old.face, BACK_FOREIGN), *after), (old,)
    copied = old.face if fault.face is None else fault.face
    if fault.name == "extra_card":
        return (*before, make_card(copied, old.back), old, *after), ()
    victims = [n for n, card in enumerate(cards) if card.face != copied]
    if not victims:
        return cards, ()
    victim = victims[place % len(victims)]
    forged = make_card(copied, old.back)
    return (*cards[:victim], forged, *cards[victim + 1 :]), (cards[victim],)
