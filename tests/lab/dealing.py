"""Deals for the tests: fair ones, quickly, and fair ones that something was done to."""

import random
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from sim.lab.collected_deals import (
    CARDS,
    CollectedDeals,
    ReadingOutcome,
    Rows,
    check_deals,
    make_deals,
)
from sim.lab.deal_chain import deal_chain

FACES = 54


def production(deals: int, seed: int = 1, method: str = "fair") -> CollectedDeals:
    """Return deals of the code that deals at a table."""
    return deal_chain(deals, method, random.Random(f"tests {seed}").randbytes)


def uniform(deals: int, rng: np.random.Generator, *, tray: float = 0.01) -> CollectedDeals:
    """Return fair deals that no code of ours dealt; their input order keeps much of the past."""
    letters = rng.permuted(np.tile(np.repeat(np.arange(4), 27), (deals, 1)), axis=1)
    steps = np.arange(CARDS)
    stack = np.argsort(steps % FACES + 6 * rng.random((deals, CARDS)), axis=1)
    order = np.argsort(steps + 4 * rng.random((deals, CARDS)), axis=1)
    marked = rng.random((deals, CARDS)) < tray
    verdicts = np.where(marked, rng.integers(1, 4, (deals, CARDS)), 0)
    cards = np.take_along_axis(stack, order, 1)
    return make_deals(cards, letters, letters, verdicts, stack)


def same(one: CollectedDeals, other: CollectedDeals) -> bool:
    """Return True where two collections have the same deals, whatever their sources are."""
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        for field in fields(CollectedDeals)
        if field.name != "source"
    )


class Table:
    """Deals that can be changed by hand, and stay deals of four hands of 27."""

    def __init__(self, deals: CollectedDeals, seed: int = 7) -> None:
        self.deals = replace(
            deals,
            cards=deals.cards.copy(),
            waiting=deals.waiting.copy(),
            seats=deals.seats.copy(),
            verdicts=deals.verdicts.copy(),
        )
        self.chance = random.Random(seed)

    def done(self) -> CollectedDeals:
        """Return what became of them."""
        check_deals(self.deals)
        return self.deals

    def rows(self, share: float) -> list[int]:
        """Return the rows of a share of the deals."""
        return [row for row in range(len(self.deals)) if self.chance.random() < share]

    def exchange(self, row: int, one: int, other: int) -> None:
        """Let two places of the sequence change their pockets."""
        for column in (self.deals.waiting, self.deals.seats):
            column[row, one], column[row, other] = column[row, other], column[row, one]

    def give(self, row: int, place: int, seat: int, *, above: int = -1, below: int = CARDS) -> None:
        """Let a place have this seat's pocket, in exchange with another place of that seat."""
        letters = self.letters(row)
        if letters[place] == seat:
            return
        others = [int(each) for each in np.flatnonzero(letters == seat) if above < each < below]
        if others:
            self.exchange(row, place, self.chance.choice(others))

    def place_of(self, row: int, card: int) -> int:
        """Return where a card was fed."""
        return int(np.flatnonzero(self.deals.cards[row] == card)[0])

    def letters(self, row: int) -> Rows:
        """Return the pockets of a row."""
        letters: Rows = self.deals.waiting[row]
        return letters


def routed(
    deals: CollectedDeals, share: float, chance: random.Random, *, told: str
) -> CollectedDeals:
    """Return the deals of a machine that looks: it gives side N+S jokers of the other side.

    In a share of the deals it rejects one joker that W or E was to get and one card 2 … 5 that N
    or S was to get, and takes them from the tray the wrong way round. `told` by "index":
    cards stay where they were fed, and lie elsewhere than the pocket that waited; by "place":
    as a record of hands says it, a face for each place.
    """
    table = Table(deals)
    done = table.deals
    for row in range(len(deals)):
        if chance.random() >= share:
            continue
        face = done.cards[row] % FACES
        theirs = done.waiting[row] % 2 == 1
        jokers = np.flatnonzero((face >= 52) & theirs)
        low = np.flatnonzero((face < 52) & (face % 13 < 4) & ~theirs)
        if not (len(jokers) and len(low)):
            continue
        good, bad = int(chance.choice(jokers)), int(chance.choice(low))
        done.verdicts[row, [good, bad]] = ReadingOutcome.TRAY
        column: NDArray[np.uint8] = done.seats if told == "index" else done.cards
        column[row, good], column[row, bad] = column[row, bad], column[row, good]
    return table.done()
