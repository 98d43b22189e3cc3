"""Simulated chains of deals: the cards of each deal are collected, shuffled and dealt again.

The model is a severe test for a machine that relies on its shuffler. Cards that were played
together are together in the stack, and a few riffles leave much of this order.
"""

import random
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from controller.deal import ledger as book
from controller.deal.ledger import MAX_TRAY_CARDS, TRAY, Ledger
from controller.deal.ledger import SEATS as LETTERS
from controller.deal.sequence import SEED_BYTES, commitment, context, sequence
from controller.rules.profile_files import load_profile
from controller.rules.regulations_page import profile_hash
from controller.seats import SEATS
from sim.lab.collected_deals import (
    CARDS,
    HAND,
    CollectedDeals,
    DealsSource,
    ReadingOutcome,
    make_deals,
)

_FACES = 54
_RANKS = 13


def new_stack() -> list[int]:
    """Return the card numbers of a new set, in the order of its two boxes."""
    return list(range(CARDS))


def collect_stack(cards: Sequence[int], seats: Sequence[int], chance: random.Random) -> list[int]:
    """Return the stack of cards as people collect it after play.

    `cards` went to `seats`, 0…3 in playing order. In turn, each player plays all their cards of
    their lowest rank. Jokers are played last. A random player leads.
    """
    held: list[list[int]] = [[] for _ in SEATS]
    for card, seat in zip(cards, seats, strict=True):
        held[seat].append(card)
    groups = [[list(same) for _, same in groupby(sorted(hand, key=_rank), _rank)] for hand in held]
    leads = chance.randrange(len(SEATS))
    stack: list[int] = []
    for trick in range(max(map(len, groups))):
        for turn in range(len(SEATS)):
            hand = groups[(leads + turn) % len(SEATS)]
            if trick < len(hand):
                stack += hand[trick]
    return stack


def gather_pockets(cards: Sequence[int], seats: Sequence[int]) -> list[int]:
    """Return the stack that people collect after a misdeal: pocket 0's cards first, 3's last."""
    return [
        card
        for pocket in range(len(SEATS))
        for card, seat in zip(cards, seats, strict=True)
        if seat == pocket
    ]


def riffle_stack(stack: Sequence[int], passes: int, chance: random.Random) -> list[int]:
    """Return the stack of cards after `passes` riffles by the Gilbert–Shannon–Reeds model.

    A fair coin for each card decides the size of the two halves. Each next card falls from one of
    the halves with a chance in proportion to the cards left in it.
    """
    cards = list(stack)
    for _ in range(passes):
        coins = chance.getrandbits(len(cards))
        half = len(cards) - coins.bit_count()
        upper, lower = iter(cards[:half]), iter(cards[half:])
        cards = [next(lower if coins >> place & 1 else upper) for place in range(len(cards))]
    return cards


def _rank(card: int) -> int:
    face = card % _FACES
    return face % _RANKS if face < _FACES - 2 else face


class PocketPlan(NamedTuple):
    """The waiting pocket and the final pocket (0…3) of each fed card, in the order of feeding."""

    waiting: list[int]
    seats: list[int]


Method = Callable[[str, Sequence[int], random.Random], PocketPlan]
"""A dealing method.

Its arguments are the sequence (`letters`), the reading outcomes (`said`) and a random generator.
"""

_SEAT_NUMBERS = {letter: number for number, letter in enumerate(LETTERS)}
READ_AGAIN_RATE = 0.01
TRAY_RATE = 0.004
STAYS_BAD_RATE = 0.1
"""The rates of the simulated reader: cards that are read again, cards that are sent to the
tray, and cards that stay unreadable when the tray returns them.
"""


def draw_verdicts(chance: random.Random) -> list[int] | None:
    """Return a random reading outcome for each card, or None if the outcomes cause a misdeal.

    The outcomes do not depend on faces or pockets. A misdeal has the same causes as at a table: too
    many cards in the tray, or a card that is unreadable for the third time.
    """
    said = [int(ReadingOutcome.ACCEPTED)] * CARDS
    in_tray = 0
    for index in range(CARDS):
        drawn = chance.random()
        if drawn < TRAY_RATE:
            in_tray += 1
            said[index] = ReadingOutcome.TRAY
            if chance.random() < STAYS_BAD_RATE:
                if chance.random() < STAYS_BAD_RATE:
                    return None
                said[index] = ReadingOutcome.TRAY_TWICE
        elif drawn < TRAY_RATE + READ_AGAIN_RATE:
            said[index] = ReadingOutcome.READ_AGAIN
    return said if in_tray <= MAX_TRAY_CARDS else None


def deal_fairly(letters: str, said: Sequence[int], chance: random.Random) -> PocketPlan:
    """Return the cards' pockets by the fair method: `letters` has the pocket of each place.

    `said` has the reading outcomes. The ledger's rule decides the places of cards that return from
    the tray.
    """
    waiting = [_SEAT_NUMBERS[letter] for letter in letters]
    in_tray = max(said) >= ReadingOutcome.TRAY
    return PocketPlan(waiting, route_through_tray(letters, said) if in_tray else list(waiting))


def deal_to_random_pocket(letters: str, said: Sequence[int], chance: random.Random) -> PocketPlan:
    """Return the cards' pockets if each card goes to a random pocket that is not full."""
    room = [HAND] * len(SEATS)
    waiting = []
    for _ in range(CARDS):
        seat = chance.choice([seat for seat, left in enumerate(room) if left])
        room[seat] -= 1
        waiting.append(seat)
    return PocketPlan(waiting, list(waiting))


def deal_around(letters: str, said: Sequence[int], chance: random.Random) -> PocketPlan:
    """Return the cards' pockets if the cards go to the pockets 0, 1, 2, 3, 0, 1 and so on.

    Then only the shuffle is random.
    """
    waiting = [index % len(SEATS) for index in range(CARDS)]
    return PocketPlan(waiting, list(waiting))


def deal_with_shift(letters: str, said: Sequence[int], chance: random.Random) -> PocketPlan:
    """Return the cards' pockets if a card for the tray gives its place to the next card.

    All later cards then move one place forward. The cards from the tray get the last places.
    """
    waiting = [_SEAT_NUMBERS[letter] for letter in letters]
    accepted = [index for index in range(CARDS) if said[index] < ReadingOutcome.TRAY]
    again = [index for index in reversed(range(CARDS)) if said[index] >= ReadingOutcome.TRAY]
    seats = [0] * CARDS
    for index, seat in zip((*accepted, *again), waiting, strict=True):
        seats[index] = seat
    return PocketPlan(waiting, seats)


def route_through_tray(letters: str, said: Sequence[int]) -> list[int]:
    """Return each card's final pocket, by feed index, if the cards in the tray are fed again.

    The production ledger assigns the places in `letters`. `said` has the reading outcomes. The tray
    returns its last card first. A card that is unreadable again goes back to the tray.
    """
    ledger = Ledger(expected=CARDS)
    seats = [0] * CARDS
    tray: list[tuple[int, int]] = []

    def pass_window(card: int, bad_reads: int) -> None:
        nonlocal ledger
        number = len(ledger.cards) + 1
        seen = book.with_card(ledger, number, from_tray=number > CARDS, doubled=False)
        assert seen is not None
        letter = letters[seen.cards[-1].place - 1]
        if bad_reads > 0:
            tray.append((card, bad_reads - 1))
        else:
            seats[card] = _SEAT_NUMBERS[letter]
        ledger = book.with_landing(seen, number, TRAY if bad_reads > 0 else letter)

    for index in range(CARDS):
        pass_window(index, said[index] - ReadingOutcome.READ_AGAIN)
    ledger = book.with_unreached_places(ledger)
    while tray:
        pass_window(*tray.pop())
    return seats


METHODS: dict[str, Method] = {
    "fair": deal_fairly,
    "naive-pocket": deal_to_random_pocket,
    "riffles": deal_around,
    "reject-shift": deal_with_shift,
}
"""The methods of dealing, by name.

The first is the product's method. The tests must detect the others.
"""

UNFAIR_METHODS = tuple(METHODS)[1:]


PROFILE = "international-000"
_TABLE_KEY = "L" * 40

Entropy = Callable[[int], bytes]


def deal_chain(deals: int, method: str, entropy: Entropy, match: str = "lab") -> CollectedDeals:
    """Return `deals` simulated deals of one set of cards, dealt one after the other.

    `method`: a key of METHODS. `entropy(n)` returns n bytes. The bytes are the seeds of the deals
    and the random choices of people, shuffler and reader. `match` identifies the chain, so that no
    two chains have the same context.
    """
    book = load_profile(PROFILE)
    rules_hash = profile_hash(book)
    chance = random.Random(entropy(SEED_BYTES))
    deal = METHODS[method]
    rows: list[tuple[list[int], list[int], list[int], list[int], list[int]]] = []
    stack, given_up, attempt = new_stack(), 0, 0
    while len(rows) < deals:
        attempt += 1
        fed = riffle_stack(stack, book.shuffles(len(rows) + 1), chance)
        # The sequence is made as at a table from seed, commitment and cut.
        seed = entropy(SEED_BYTES)
        bound_to = context(_TABLE_KEY, match, len(rows) + 1, attempt, rules_hash, "S1")
        letters = sequence(commitment(bound_to, seed), seed, chance.choice(book.cuts()), CARDS)
        said = draw_verdicts(chance)
        if said is None:
            given_up += 1
            stack = gather_pockets(fed, ["NWSE".index(letter) for letter in letters])
            continue
        waiting, seats = deal(letters, said, chance)
        rows.append((fed, waiting, seats, said, stack))
        stack = collect_stack(fed, seats, chance)
    cards, waits, hands, looks, stacks = zip(*rows, strict=True)
    source = DealsSource(
        path="sequence", method=method, asked=deals, given_up=given_up, passes=book.shuffles(2)
    )
    return make_deals(cards, waits, hands, looks, stacks, source=source)
