"""Why cards are no combination: the mistakes that players make, as patterns of their own."""

from collections.abc import Iterator, Sequence

from controller.cards import Face
from controller.rules.combos.patterns import (
    ACE,
    JOKERS,
    PATTERNS,
    PLAIN,
    RankGroups,
    fill_pattern,
    run,
)
from controller.rules.combos.recognise import Held, held
from controller.rules.order import is_joker


def broken_rule(cards: Sequence[Face], level: int) -> str:
    """Return the rule (a key of articles.RULES) that cards without a reading break."""
    sorted_cards = held(cards, level)
    if any(map(is_joker, cards)):
        if _uses_wild_as_joker(sorted_cards, len(cards)):
            return "wild_no_joker"
        if len(cards) == 2 and all(map(is_joker, cards)):
            return "unlike_jokers"
    for rule, groups in _MISTAKES.get(len(cards), ()):
        if fill_pattern(groups, sorted_cards.ranks, len(sorted_cards.wild)) is not None:
            return rule
    if len(cards) in (4, 5) and _has_triple(sorted_cards):
        return "triple_with"
    return "no_type"


def _uses_wild_as_joker(cards: Held, size: int) -> bool:
    """Tell whether the cards would be a combination if a wild card could be a joker."""
    jokers = [
        dict(pattern.groups)
        for pattern in PATTERNS.get(size, ())
        if any(rank in JOKERS for rank, _ in pattern.groups)
    ]
    lacking = [
        sum(max(0, count - cards.ranks.get(rank, 0)) for rank, count in groups.items())
        for groups in jokers
    ]
    return len(cards.wild) in lacking


def _has_triple(cards: Held) -> bool:
    most = max((count for rank, count in cards.ranks.items() if rank not in JOKERS), default=0)
    return most >= 2 and most + len(cards.wild) >= 3


def _mistake_patterns() -> Iterator[tuple[str, RankGroups]]:
    """Yield what is too long, too short, or goes past the A, with the rule against it."""
    for top in range(ACE + 1, ACE + 4):
        yield "straight_wraps", run(top, 5)
    yield "tube_wraps", run(ACE + 1, 3, each=2)
    lengths = {
        "straight_length": (1, {3, 4, *range(6, len(PLAIN) + 1)}),
        "tube_length": (2, {2, *range(4, len(PLAIN) + 1)}),
        "plate_length": (3, set(range(3, 10))),
    }
    for rule, (each, wrong) in lengths.items():
        for length in sorted(wrong):
            for top in range(length, ACE + 1):
                yield rule, run(top, length, each)


def _mistakes_by_size() -> dict[int, tuple[tuple[str, RankGroups], ...]]:
    found: dict[int, list[tuple[str, RankGroups]]] = {}
    for rule, groups in _mistake_patterns():
        found.setdefault(sum(count for _, count in groups), []).append((rule, groups))
    return {size: tuple(mistakes) for size, mistakes in found.items()}


_MISTAKES = _mistakes_by_size()
"""The mistakes by their number of cards; the first that fits is told."""
