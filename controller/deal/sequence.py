"""The fair sequence of pockets (made from seed and cut), and the commitments to seed and hands.

PROOF.md beside this file defines the same without code, and vectors.json has test vectors. This
module must not import faces.
"""

import hashlib
from collections.abc import Callable, Iterator
from itertools import chain

from controller.signing import length_prefixed

SEED_BYTES = 32
NONCE_BYTES = 32
POCKET_LETTERS = "NWSE"

_FULL_RUNS = (0, *(256 - 256 % bound for bound in range(1, 257)))
"""For each bound: the number of byte values in full runs of 0…bound-1."""
_RATE_BYTES = 136
"""Bytes that SHAKE-256 produces at a time. One more byte costs as much as all of them."""


def context(
    table_key: str, match_id: str, deal: int, attempt: int, profile_hash: bytes, set_id: str
) -> bytes:
    """Return the bytes that identify one attempt. A proof with them is valid for no other attempt.

    `table_key` is the table's public key as text, `profile_hash` has 32 raw bytes.
    """
    fields = (table_key, match_id, deal, attempt, profile_hash, set_id)
    return b"".join(length_prefixed(field) for field in fields)


def commitment(bound_to: bytes, seed: bytes) -> bytes:
    """Return the commitment to `seed` for one attempt. `bound_to` is the attempt's `context`."""
    return hashlib.sha256(
        length_prefixed("dealtable/commit/1") + bound_to + length_prefixed(seed)
    ).digest()


def hands_commitment(committed: bytes, nonce: bytes, record: bytes) -> bytes:
    """Return the commitment to the hands in `record`: a hash, published before their release.

    `committed` is the commitment to the seed. `record` has one face byte for each place. `nonce` is
    a random number, so that the record cannot be guessed from the hash.
    """
    return hashlib.sha256(
        length_prefixed("dealtable/hands/1")
        + length_prefixed(committed)
        + length_prefixed(nonce)
        + record
    ).digest()


def sequence(committed: bytes, seed: bytes, cut: int | None, cards: int) -> str:
    """Return the pocket letter of each card, in the order in which the hopper feeds the cards.

    Letter i - 1 belongs to feed index i. `cut` is the player's number, or None without a cut.
    Raises ValueError for a number of cards that four pockets cannot share or a byte cannot draw.
    """
    return fair_order(_draws(committed, seed, cut), cards)


def turn_up_places(committed: bytes, seed: bytes, cut: int | None, cards: int) -> Iterator[int]:
    """Yield an endless series of random places (1…cards), to choose the card that is turned up.

    The caller takes the first place with a card that the rulebook accepts for choosing the leader.
    """
    below = _draws(committed, seed, cut)
    fair_order(below, cards)
    while True:
        yield below(cards) + 1


def fair_order(below: Callable[[int], int], cards: int) -> str:
    """Return the pocket letters of all cards, shuffled with random numbers from `below`.

    `below(bound)` draws each of 0…bound-1 equally often. Each of the cards! / ((cards/4)!)^4 orders
    has equally many draws.
    """
    if cards < 4 or cards % 4 or cards > 256:
        raise ValueError(f"four pockets share 4…256 cards, a multiple of four, not {cards}")
    order = list("".join([letter * (cards // 4) for letter in POCKET_LETTERS]))
    for i in range(cards - 1, 0, -1):
        j = below(i + 1)
        order[i], order[j] = order[j], order[i]
    return "".join(order)


def even_draws(stream: Iterator[int]) -> Callable[[int], int]:
    """Return a function `below(bound)` that returns a random number from 0 to bound-1.

    `stream` yields the random bytes for it. All numbers are equally likely. A byte after
    the last full run is discarded, because its remainder would favour small numbers. `below` raises
    StopIteration when the stream has ended.
    """

    def below(bound: int) -> int:
        limit = _FULL_RUNS[bound]
        for byte in stream:
            if byte < limit:
                return byte % bound
        raise StopIteration

    return below


def _draws(committed: bytes, seed: bytes, cut: int | None) -> Callable[[int], int]:
    cut_field = b"" if cut is None else str(cut).encode()
    source = hashlib.shake_256(
        length_prefixed("dealtable/deal/1")
        + length_prefixed(committed)
        + length_prefixed(seed)
        + length_prefixed(cut_field)
    )
    return even_draws(chain.from_iterable(_blocks(source.digest)))


def _blocks(first: Callable[[int], bytes]) -> Iterator[bytes]:
    """Yield an endless hash, block by block. `first(n)` returns the first n bytes of the hash."""
    given, size = 0, _RATE_BYTES
    while True:
        block = first(size)
        yield block[given:]
        given, size = size, size * 2
