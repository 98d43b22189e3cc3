"""A flaw for each test of the family: small, and made for it."""

from collections.abc import Callable

import numpy as np

from sim.lab.collected_deals import CARDS, CollectedDeals, ReadingOutcome
from sim.lab.deal_measures import DealMeasures
from sim.lab.deal_statistics import longest_runs
from tests.lab.dealing import FACES, Table

N, W, S, E = range(4)


def favoured_face(table: Table) -> None:
    """N gets both ♣5 in a fifth of the deals."""
    for row in table.rows(0.2):
        for card in (29, 29 + FACES):
            table.give(row, table.place_of(row, card), N)


def good_cards(table: Table) -> None:
    """S gets a good card for a bad one in each deal."""
    face = table.deals.cards % FACES
    for row in table.rows(1):
        good = np.flatnonzero((face[row] % 13 > 9) & (table.letters(row) == W))
        bad = np.flatnonzero((face[row] % 13 < 3) & (table.letters(row) == S))
        if len(good) and len(bad):
            table.exchange(row, int(good[0]), int(bad[0]))


def favoured_place(table: Table) -> None:
    """S gets the 41st card in a fifth of the deals."""
    for row in table.rows(0.2):
        table.give(row, 40, S)


def early_cards(table: Table) -> None:
    """N gets an early card for a late one in each deal."""
    for row in table.rows(1):
        letters = table.letters(row)
        early, late = np.flatnonzero(letters[:54] == E), 54 + np.flatnonzero(letters[54:] == N)
        if len(early) and len(late):
            table.exchange(row, int(early[0]), int(late[-1]))


def top_of_the_stack(table: Table) -> None:
    """W gets the top card of the stack in a fifth of the deals."""
    for row in table.rows(0.2):
        table.give(row, table.place_of(row, _stack(table)[row, 0]), W)


def upper_half_of_the_stack(table: Table) -> None:
    """E gets a card from far up for one from far down in each deal."""
    depths = DealMeasures(table.deals).stack_of
    assert depths is not None
    for row in table.rows(1):
        depth, letters = depths[row], table.letters(row)
        upper = np.flatnonzero((depth < 20) & (letters == N))
        lower = np.flatnonzero((depth > 87) & (letters == E))
        if len(upper) and len(lower):
            table.exchange(row, int(upper[0]), int(lower[0]))


def kept_together(table: Table) -> None:
    """In each deal three cards follow their neighbours of the stack into the same hand."""
    for row in table.rows(1):
        for depth in (20, 50, 80):
            card, below = _stack(table)[row, depth : depth + 2]
            seat = table.letters(row)[table.place_of(row, card)]
            table.give(row, table.place_of(row, below), seat)


def never_twice(table: Table) -> None:
    """Three times a deal a pocket that would come twice running does not."""
    for row in table.rows(1):
        for _ in range(3):
            letters = table.letters(row)
            alike = np.flatnonzero(letters[1:] == letters[:-1])
            place = int(table.chance.choice(alike))
            table.give(row, place, (int(letters[place]) + 1) % 4)


def five_apart(table: Table) -> None:
    """Four places a deal get the pocket of the place five before them."""
    for row in table.rows(1):
        for place in (10, 30, 50, 70):
            table.give(row, place + 5, int(table.letters(row)[place]))


def alike_in_blocks(table: Table) -> None:
    """Three blocks of four a deal get a pair more."""
    for row in table.rows(1):
        for block in (3, 11, 19):
            table.give(row, 4 * block, int(table.letters(row)[4 * block + 3]))


def no_long_runs(table: Table) -> None:
    """Runs of five and more are broken in their middle."""
    for row in map(int, np.flatnonzero(longest_runs(table.deals.waiting) >= 5)):
        letters = table.letters(row)
        for place in range(2, CARDS - 2):
            if len(set(letters[place - 2 : place + 3])) == 1:
                table.give(row, place, (int(letters[place]) + 1) % 4)
                break


def all_served_at_once(table: Table) -> None:
    """In a tenth of the deals the first four cards go to four seats."""
    for row in table.rows(0.1):
        for place in range(4):
            table.give(row, place, place, above=place)


def one_way_round(table: Table) -> None:
    """Twice a deal a pocket that would go down goes up: the two cards change their pockets."""
    for row in table.rows(1):
        for _ in range(2):
            letters = table.letters(row)
            place = int(table.chance.choice(np.flatnonzero(letters[1:] < letters[:-1])))
            table.exchange(row, place, place + 1)


def levelled(table: Table) -> None:
    """Three times a deal, the seat with the most cards to come gets the next one."""
    for row in table.rows(1):
        for place in (30, 60, 90):
            behind = np.bincount(table.letters(row)[place:], minlength=4)
            table.give(row, place, int(behind.argmax()), above=place)


def last_two(table: Table) -> None:
    """In a tenth of the deals the last card goes where the one before it went."""
    for row in table.rows(0.1):
        table.give(row, CARDS - 1, int(table.letters(row)[-2]), below=CARDS - 2)


def parted_twins(table: Table) -> None:
    """One pair of twins a deal is parted."""
    seats = DealMeasures(table.deals).seat_of
    for row in table.rows(1):
        face = int(table.chance.choice(np.flatnonzero(seats[row, :54] == seats[row, 54:])))
        place = table.place_of(row, face)
        table.give(row, place, (int(table.letters(row)[place]) + 1) % 4)


def joined_jokers(table: Table) -> None:
    """In a quarter of the deals the second joker goes where the first one is."""
    for row in table.rows(0.25):
        seat = int(table.letters(row)[table.place_of(row, 52)])
        table.give(row, table.place_of(row, 53), seat)


def more_bombs(table: Table) -> None:
    """In each deal a hand with three of a rank gets a fourth."""
    for row in table.rows(1):
        rank = table.deals.cards[row] % FACES % 13
        letters = table.letters(row)
        three = [(r, s) for r in range(13) for s in range(4)
                 if ((rank == r) & (letters == s)).sum() == 3]  # fmt: skip
        if three:
            r, s = table.chance.choice(three)
            place = int(np.flatnonzero((rank == r) & (letters != s))[0])
            table.give(row, place, s)


def a_favourite(table: Table) -> None:
    """Each deal has another side that gets three good cards for three bad ones."""
    for row in table.rows(1):
        favoured, face = table.chance.randrange(2), table.deals.cards[row] % FACES
        letters = table.letters(row)
        good = np.flatnonzero(((face % 13 > 10) | (face > 51)) & (letters % 2 != favoured))
        bad = np.flatnonzero((face % 13 < 2) & (face < 52) & (letters % 2 == favoured))
        for one, other in zip(good[:3], bad[:3], strict=False):
            table.exchange(row, int(one), int(other))


def as_before(table: Table) -> None:
    """Two cards a deal go where they went in the deal before."""
    for row in table.rows(1):
        if table.deals.follows[row]:
            for card in (15, 80):
                before = table.letters(row - 1)[table.place_of(row - 1, card)]
                table.give(row, table.place_of(row, card), int(before))


def one_seat_on(table: Table) -> None:
    """Two cards a deal go to the seat behind the one that had them."""
    for row in table.rows(1):
        if table.deals.follows[row]:
            for card in (15, 80):
                before = table.letters(row - 1)[table.place_of(row - 1, card)]
                table.give(row, table.place_of(row, card), (int(before) + 1) % 4)


def same_places(table: Table) -> None:
    """Two places a deal have the pocket that they had in the deal before."""
    for row in table.rows(1):
        if row:
            for place in (15, 80):
                table.give(row, place, int(table.letters(row - 1)[place]))


def once_more(table: Table) -> None:
    """One sequence comes a second time."""
    for column in (table.deals.waiting, table.deals.seats):
        column[700 % len(column)] = column[3]


def twins_with_neighbours(table: Table) -> None:
    """Deals with many like neighbours get three pairs of twins more, the others three less."""
    seen = DealMeasures(table.deals)
    many, seats = seen.adjacent > 26, seen.seat_of.copy()
    for row in table.rows(1):
        parted = seats[row, :54] != seats[row, 54:]
        for face in table.chance.sample(list(np.flatnonzero(parted == many[row])), 3):
            seat = int(table.letters(row)[table.place_of(row, int(face))])
            twin = table.place_of(row, int(face) + 54)
            table.give(row, twin, seat if many[row] else (seat + 1) % 4)


def neighbours_after_neighbours(table: Table) -> None:
    """After a deal with many like neighbours the next one gets three more, else three less."""
    many = DealMeasures(table.deals).adjacent > 26
    for row in table.rows(1)[1:]:
        for place in (20, 50, 80):
            seat = int(table.letters(row)[place])
            table.give(row, place + 1, seat if many[row - 1] else (seat + 1) % 4)


def choosy_reader(table: Table) -> None:
    """In half of the deals a card goes to the tray because N's pocket waits for it."""
    for row in table.rows(0.5):
        place = int(table.chance.choice(np.flatnonzero(table.letters(row) == N)))
        table.deals.verdicts[row, place] = ReadingOutcome.TRAY


def good_ones_to_north(table: Table) -> None:
    """Good cards from the tray lie with N, bad ones elsewhere: a record by place says so."""
    face = table.deals.cards % FACES
    for row, place in np.argwhere(table.deals.verdicts >= ReadingOutcome.TRAY):
        good = face[row, place] > 51 or face[row, place] % 13 > 8
        table.give(row, place, N if good else W)


def good_ones_to_a_side(table: Table) -> None:
    """Two good cards of one side were in the tray, in each deal another side's."""
    face = table.deals.cards % FACES
    for row in table.rows(1):
        side = table.chance.randrange(2)
        good = np.flatnonzero(
            ((face[row] % 13 > 9) | (face[row] > 51)) & (table.letters(row) % 2 == side)
        )
        for place in table.chance.sample(list(good), 2):
            table.deals.verdicts[row, place] = ReadingOutcome.TRAY


def one_card_moved(table: Table) -> None:
    """Once two cards lie where the other one was to."""
    seats = table.deals.seats[5]
    one, other = int(np.flatnonzero(seats == N)[0]), int(np.flatnonzero(seats == E)[0])
    seats[one], seats[other] = E, N


def _stack(table: Table) -> np.ndarray:
    assert table.deals.collected is not None
    return table.deals.collected


FLAWS: dict[str, Callable[[Table], None]] = {
    "type-seat": favoured_face,
    "strength": good_cards,
    "index-seat": favoured_place,
    "index-trend": early_cards,
    "collected-seat": top_of_the_stack,
    "collected-trend": upper_half_of_the_stack,
    "collected-pairs": kept_together,
    "adjacent": never_twice,
    "serial": five_apart,
    "poker": alike_in_blocks,
    "runs": no_long_runs,
    "coupon": all_served_at_once,
    "descents": one_way_round,
    "guessing": levelled,
    "tail": last_two,
    "twins": parted_twins,
    "jokers": joined_jokers,
    "bombs": more_bombs,
    "sides": a_favourite,
    "carry-over": as_before,
    "carry-table": one_seat_on,
    "same-again": same_places,
    "repeated": once_more,
    "interplay": twins_with_neighbours,
    "successive": neighbours_after_neighbours,
    "waiting-verdict": choosy_reader,
    "tray-face": good_ones_to_north,
    "tray-sides": good_ones_to_a_side,
    "own-place": one_card_moved,
}
"""The flaw that each test of the family is there for."""


def flawed(deals: CollectedDeals, name: str) -> CollectedDeals:
    """Return the deals with the flaw made for this test."""
    table = Table(deals)
    FLAWS[name](table)
    return table.done()
