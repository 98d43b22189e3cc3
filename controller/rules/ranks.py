"""The fourteen levels (2…10, J, Q, K, A and past A), the ranks of cards, and their values.

A level is a number: 2…14, the same as the natural ranks, and 15 for past A (seed 000 A3.11).
"""

from controller.cards import BIG_JOKER, RANKS, SMALL_JOKER, Face
from controller.words import Words

Level = int

TWO: Level = 2
ACE: Level = 14
PAST_A: Level = 15

_TEXTS = dict(enumerate(RANKS, start=TWO)) | {PAST_A: "A+"}
_LEVELS = {text: grade for grade, text in _TEXTS.items()}


def level_text(grade: Level) -> str:
    """Return a level as text, one of "2"…"10", "J", "Q", "K", "A", or "A+" for past A."""
    return _TEXTS[grade]


def level_change_words(steps: int) -> Words:
    """Return a change by `steps` levels as text, for example "one level down" for -1."""
    many, way = abs(steps), Words("up", "升") if steps > 0 else Words("down", "降")
    number = _NUMBERS[many] if many < len(_NUMBERS) else str(many)
    return Words(f"{number} level{'' if many == 1 else 's'} {way.en}", f"{way.zh}{many}级")


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def parse_level(text: str) -> Level:
    """Return the level that is written as `text`.

    "T" counts as 10. Raises ValueError for any other text.
    """
    word = text.strip().upper()
    try:
        return _LEVELS["10" if word == "T" else word]
    except KeyError:
        raise ValueError(f'no level is called "{text}": write 2…10, J, Q, K, A or A+') from None


LEVEL_VALUE = 15
SMALL_JOKER_VALUE = 16
BIG_JOKER_VALUE = 17

HEARTS = 1
"""The index of hearts among the suits of a face."""


def natural_rank(face: Face) -> int:
    """Return the natural rank of a face: 2…10, J 11, Q 12, K 13, A 14, small joker 16, big 17."""
    if face >= SMALL_JOKER:
        return SMALL_JOKER_VALUE + (face - SMALL_JOKER)
    return face % len(RANKS) + 2


def value_at_level(face: Face, level: int) -> int:
    """Return the number by which a face is compared with other faces in a deal at `level`.

    Jokers are first, then cards of the level, then A…2. `level` is a natural rank, 2…14. Source:
    seed 000 A7.1, A8.1.
    """
    rank = natural_rank(face)
    return LEVEL_VALUE if rank == level else rank


def is_joker(face: Face) -> bool:
    """Return True if a face is one of the two jokers."""
    return face in (SMALL_JOKER, BIG_JOKER)


def is_wild(face: Face, level: int) -> bool:
    """Return True if a face is the heart of the level's rank, which is wild (逢人配).

    Source: seed 000 A7.2.
    """
    return not is_joker(face) and face // len(RANKS) == HEARTS and natural_rank(face) == level


def wild_card(level: int) -> Face:
    """Return the face that is wild in a deal at `level`."""
    return HEARTS * len(RANKS) + level - 2


def rank_text(rank: int) -> str:
    """Return a natural rank (no joker) as text, one of "2"…"10", "J", "Q", "K", "A"."""
    return RANKS[rank - 2]
