"""Levels: the fourteen grades that a side climbs, 2…10, J, Q, K, A and past A (seed 000 A3.11).

A grade is a number, 2…14 as the natural ranks are, and 15 for past A.
"""

from controller.cards import RANKS

Grade = int

TWO: Grade = 2
ACE: Grade = 14
PAST_A: Grade = 15

_TEXTS = dict(enumerate(RANKS, start=TWO)) | {PAST_A: "A+"}
_GRADES = {text: grade for grade, text in _TEXTS.items()}


def grade_text(grade: Grade) -> str:
    """Return a grade as people write it: "2"…"10", "J", "Q", "K", "A", and "A+" past A."""
    return _TEXTS[grade]


def parse_grade(text: str) -> Grade:
    """Return the grade written as `text`; T counts as 10. Raises ValueError for anything else."""
    word = text.strip().upper()
    try:
        return _GRADES["10" if word == "T" else word]
    except KeyError:
        raise ValueError(f'no level is called "{text}": write 2…10, J, Q, K, A or A+') from None
