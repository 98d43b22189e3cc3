"""Physical cards and the sets a person puts into the hopper."""

from dataclasses import dataclass

from drivers.firmware.wire import BACK_A, FACES


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


def new_set(first_id: int, count: int = 2 * FACES, back: int = BACK_A) -> Cards:
    """Return `count` cards as they come from the box: pack after pack, in order."""
    return tuple(PhysicalCard(first_id + n, n % FACES, back) for n in range(count))
