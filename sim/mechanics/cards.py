"""Physical cards and the sets a person puts into the hopper."""

from dataclasses import dataclass

from drivers.firmware.wire import FACES

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
