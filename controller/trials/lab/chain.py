"""A chain of deals with one set of cards: the production sequence over a simulated input order.

Each deal: stack → riffles → a fresh seed and its commitment → a cut → the sequence → hands →
the stack that people leave. All chance comes from the entropy that is passed in.
"""

import random
from collections.abc import Callable
from functools import cache

from controller.deal.sequence import SEED_BYTES, commitment, context, sequence
from controller.rules.profile import Profile
from controller.rules.regulations_page import profile_hash
from controller.rules.rulebooks import load_profile
from controller.trials.lab.data import CARDS, CollectedDeals, DealsSource, make_deals
from controller.trials.lab.methods import METHODS, draw_verdicts
from controller.trials.lab.stack import collect_stack, gather_pockets, new_stack, riffle_stack

PROFILE = "international-000"
_TABLE_KEY = "L" * 40

Entropy = Callable[[int], bytes]


def deal_chain(deals: int, method: str, entropy: Entropy, match: str = "lab") -> CollectedDeals:
    """Deal so many deals, one after the other with the same cards.

    `method`: of METHODS. `entropy(n)` gives n bytes: the seeds of the deals, and what people,
    shuffler and reader do by chance. `match` names the chain, so that no context is there twice.
    """
    book = load_profile(PROFILE)
    chance = random.Random(entropy(SEED_BYTES))
    deal = METHODS[method]
    rows: list[tuple[list[int], list[int], list[int], list[int], list[int]]] = []
    stack, given_up, attempt = new_stack(), 0, 0
    while len(rows) < deals:
        attempt += 1
        fed = riffle_stack(stack, book.shuffles(len(rows) + 1), chance)
        letters = _make_sequence(book, match, len(rows) + 1, attempt, entropy, chance)
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


def _make_sequence(
    book: Profile, match: str, deal: int, attempt: int, entropy: Entropy, chance: random.Random
) -> str:
    """Return the sequence of one attempt as a table makes it: seed, commitment, then the cut."""
    seed = entropy(SEED_BYTES)
    bound_to = context(_TABLE_KEY, match, deal, attempt, _profile_hash(), "S1")
    cut = chance.choice(book.cuts())
    return sequence(commitment(bound_to, seed), seed, cut, CARDS)


@cache
def _profile_hash() -> bytes:
    return profile_hash(load_profile(PROFILE))
