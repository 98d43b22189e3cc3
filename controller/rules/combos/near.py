"""Why cards are no combination: the mistakes that players make, as patterns of their own."""

from collections.abc import Iterator, Sequence

from controller.cards import Face
from controller.rules.combos.patterns import (
    ACE,
    JOKER_RANKS,
    PATTERNS,
    SUIT_RANKS,
    RankGroups,
    fill_pattern,
    sequence_groups,
)
from controller.rules.combos.recognise import SortedCards, sort_cards
from controller.rules.order import is_joker


def broken_rule(cards: Sequence[Face], level: int) -> str:
    """Return the rule (a key of articles.RULES) that cards without a reading break."""
    sorted_cards = sort_cards(cards, level)
    if any(map(is_joker, cards)):
        if _uses_wild_as_joker(sorted_cards, len(cards)):
            return "wild_no_joker"
        if len(cards) == 2 and all(map(is_joker, cards)):
            return "unlike_jokers"
    for rule, groups in _MISTAKES.get(len(cards), ()):
        if fill_pattern(groups, sorted_cards.rank_counts, len(sorted_cards.wild_cards)) is not None:
            return rule
    if len(cards) in (4, 5) and _has_triple(sorted_cards):
        return "triple_with"
    return "no_type"


def _uses_wild_as_joker(cards: SortedCards, size: int) -> bool:
    """Tell whether the cards would be a combination if a wild card could be a joker."""
    jokers = [
        dict(pattern.groups)
        for pattern in PATTERNS.get(size, ())
        if any(rank in JOKER_RANKS for rank, _ in pattern.groups)
    ]
    lacking = [
        sum(max(0, count - cards.rank_counts.get(rank, 0)) for rank, count in groups.items())
        for groups in jokers
    ]
    return len(cards.wild_cards) in lacking


def _has_triple(cards: SortedCards) -> bool:
    most = max(
        (count for rank, count in cards.rank_counts.items() if rank not in JOKER_RANKS), default=0
    )
    return most >= 2 and most + len(cards.wild_cards) >= 3


def _mistake_patterns() -> Iterator[tuple[str, RankGroups]]:
    """Yield what is too long, too short, or goes past the A, with the rule against it."""
    for top in range(ACE + 1, ACE + 4):
        yield "straight_wraps", sequence_groups(top, 5)
    yield "tube_wraps", sequence_groups(ACE + 1, 3, each=2)
    lengths = {
        "straight_length": (1, {3, 4, *range(6, len(SUIT_RANKS) + 1)}),
        "tube_length": (2, {2, *range(4, len(SUIT_RANKS) + 1)}),
        "plate_length": (3, set(range(3, 10))),
    }
    for rule, (each, wrong) in lengths.items():
        for length in sorted(wrong):
            for top in range(length, ACE + 1):
                yield rule, sequence_groups(top, length, each)


def _mistakes_by_size() -> dict[int, tuple[tuple[str, RankGroups], ...]]:
    found: dict[int, list[tuple[str, RankGroups]]] = {}
    for rule, groups in _mistake_patterns():
        found.setdefault(sum(count for _, count in groups), []).append((rule, groups))
    return {size: tuple(mistakes) for size, mistakes in found.items()}


_MISTAKES = _mistakes_by_size()
"""The mistakes by their number of cards; the first that fits is told."""
