"""What nobody may see yet, as the bytes that are looked for, and until when it is hidden.

Whatever way a thing was written, reading.py brings it back to one form: cards to a byte each
(0…53), pockets to a letter each or to a byte each (0…3), keys to their bytes. So each thing has few
patterns here, and all of them together go into one automaton.

How long a run must be follows from how often one comes up by chance. A deal is drawn evenly from
all there are, whatever stands in a process's memory; so the chance that one given run of foreign
bytes is anywhere in the deal is at most

    8 cards      101 windows * (2/108)(2/107)…(2/101)               1.9e-12
    8 pockets    101 windows * (27/108)(27/107)(27/106)(27/105)…    1.8e-3
    18 pockets    91 windows * …                                    1.7e-9
    24 pockets    85 windows * …                                    4.4e-13

Eight pockets are 16 bits: a single foreign run of eight letters would raise an alarm in one attempt
of 600, wherever it stands. What four deals show has 1,700 different runs of letters and names of
seats (who waits, who acts; ciphertext), so these must be 18 long; and 700 runs of the numbers 0…3
that are not nearly all zeros, which must be 24. There are 2,000 runs of bytes that could be cards.
`chance` computes these, and test_chances.py holds them together. Half a key has 128 bits.

The order in which a simulated shuffler lays cards is no even draw. What it may leave, cards that
still lie as in the box, is a table of numbers that any program may have, among zeros: a run of one
step is left out, also with a second 0 before or behind it. Of a sorted hand, which is no even draw
either, a run is 12 cards. A run whose cards follow each other by 0 or 1, as the numbers of messages
do, is left out, too; the rest of that hand is looked for.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from controller.cards import RANKS, SMALL_JOKER

CARDS, LETTERS, NUMBERS, SORTED = 8, 18, 24, 12
"""How many cards, letters and names of pockets, numbers of pockets, sorted cards make a run."""
NEVER = 1 << 60
HALF = 16
POCKETS = "NWSE"
_ZEROS = bytes(2)
_DIGITS = bytes.maketrans(bytes(range(4)), b"0123")


@dataclass(frozen=True)
class Hidden:
    """Something hidden, for people `what`, from exhibit `since` on and before exhibit `until`.

    `public_by`: kind and attempt of the journal's row behind which it is no secret any more.
    `but_in`: a place that contains the same anyway. `is_text`: its patterns are short words.
    Every 8th byte of a journal, which is full of quotation marks, gives such a word by chance.
    """

    what: str
    patterns: tuple[bytes, ...]
    until: int = NEVER
    since: int = 0
    public_by: tuple[str, int] | None = None
    but_in: str = ""
    is_text: bool = False


def cards(order: Sequence[int], run: int = CARDS) -> tuple[bytes, ...]:
    """Return every run of cards of this order, unless it is one that any table of numbers has."""
    return tuple(piece for piece in map(bytes, _windows(order, run)) if not _is_even(piece))


def pockets(letters: str) -> tuple[bytes, ...]:
    """Return every run of pockets: as letters, digits and numbers."""
    numbers = bytes(POCKETS.index(letter) for letter in letters)
    return (
        *map(bytes, _windows(letters.encode(), LETTERS)),
        *map(bytes, _windows(numbers, NUMBERS)),
        *map(bytes, _windows(numbers.translate(_DIGITS), NUMBERS)),
    )


def hands(order: Sequence[int], letters: str) -> tuple[bytes, ...]:
    """Return runs of the four hands: as the cards came, and sorted in each way a screen may."""
    found: list[bytes] = []
    for seat in POCKETS:
        hand = [face for face, to in zip(order, letters, strict=True) if to == seat]
        found += cards(hand)
        for key in (_by_suit, _by_rank):
            up = sorted(hand, key=key)
            found += [*cards(up, SORTED), *cards(up[::-1], SORTED)]
    return tuple(found)


def key(raw: bytes) -> tuple[bytes, ...]:
    """Return the halves of a seed, a key or a nonce: a piece of 31 bytes has one of them."""
    return tuple(raw[at : at + HALF] for at in range(0, len(raw), HALF))


def chance(run: int, of_a_kind: int, kinds: int) -> float:
    """Return a bound for the chance that a given run is anywhere in an even draw.

    The draw has `of_a_kind` of each of `kinds`; the likeliest run is one in which they take turns.
    """
    size = of_a_kind * kinds
    left = [of_a_kind - n // kinds for n in range(run)]
    one = math.prod(now / (size - n) for n, now in enumerate(left))
    if kinds > run:  # twins beside each other are as likely as they can be
        one = math.prod(of_a_kind / (size - n) for n in range(run))
    return (size - run + 1) * one


def _windows(of: Sequence[int], run: int) -> Iterator[Sequence[int]]:
    return (of[at : at + run] for at in range(len(of) - run + 1))


def _is_even(piece: bytes) -> bool:
    """Return whether a run has even steps, or is a counter that is sent repeatedly.

    Even steps may have zeros before and after them.
    """
    first = 1 if piece[:2] == _ZEROS else 0
    behind = len(piece) - (1 if piece[-2:] == _ZEROS else 0)
    steps = {b - a for a, b in itertools.pairwise(piece[first:behind])}
    return len(steps) == 1 or steps in ({0, 1}, {0, -1})


def _by_suit(face: int) -> tuple[int, ...]:
    return (face,)


def _by_rank(face: int) -> tuple[int, ...]:
    """Jokers behind the ace; a level card where its rank is."""
    if face >= SMALL_JOKER:
        return (len(RANKS), face)
    suit, rank = divmod(face, len(RANKS))
    return (rank, suit)
