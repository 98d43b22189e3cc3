"""Levels: the fourteen grades that a side climbs, 2…10, J, Q, K, A and past A (seed 000 A3.11).

A grade is a number, 2…14 as the natural ranks are, and 15 for past A.
"""

from controller.cards import RANKS
from controller.words import Words

Level = int

TWO: Level = 2
ACE: Level = 14
PAST_A: Level = 15

_TEXTS = dict(enumerate(RANKS, start=TWO)) | {PAST_A: "A+"}
_LEVELS = {text: grade for grade, text in _TEXTS.items()}


def level_text(grade: Level) -> str:
    """Return a grade as people write it: "2"…"10", "J", "Q", "K", "A", and "A+" past A."""
    return _TEXTS[grade]


def level_change_words(steps: int) -> Words:
    """Return so many levels up, or down where it is less than none, in words."""
    many, way = abs(steps), Words("up", "升") if steps > 0 else Words("down", "降")
    number = _NUMBERS[many] if many < len(_NUMBERS) else str(many)
    return Words(f"{number} level{'' if many == 1 else 's'} {way.en}", f"{way.zh}{many}级")


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def parse_level(text: str) -> Level:
    """Return the grade written as `text`; T counts as 10. Raises ValueError for anything else."""
    word = text.strip().upper()
    try:
        return _LEVELS["10" if word == "T" else word]
    except KeyError:
        raise ValueError(f'no level is called "{text}": write 2…10, J, Q, K, A or A+') from None
