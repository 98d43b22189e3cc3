"""What seats, sides, roles and commands are called, in both languages of a hall.

The Chinese is referees' own (REFEREE 3.6): 放行 hands out, 一套牌 is a set, 副 a deal.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from controller.cards import face_text, parse_face
from controller.rules.rulebooks import load_profile, profile_names
from controller.words import Words

BOARDS: Final[Mapping[str, Words]] = {
    "dealer": Words("dealer board", "发牌控制板"),
    "reader": Words("reader board", "识牌控制板"),
}
CORRECTION_CHOICES: Final[Mapping[str, Words]] = {
    "from_now": Words("levels are right from now on", "从现在起按更正后的级数"),
    "void_later": Words("the later deals are void", "其后各副作废"),
    "stand": Words("it stands as it was", "维持原成绩"),
}
PLACE_NAMES: Final = (
    Words("UP", "上游"),
    Words("2ND", "二游"),
    Words("3RD", "三游"),
    Words("LAST", "下游"),
)
RESULT_CLASSES: Final[Mapping[str, Words]] = {
    "R12": Words("R12", "双下"),
    "R13": Words("R13", "上游和三游"),
    "R14": Words("R14", "上游和下游"),
}


def name_of(table: Mapping[str, Words], name: object) -> Words:
    """Return what `name` is called; what a later version has is called as it is."""
    known = table.get(str(name))
    return known or Words(str(name), str(name))


@lru_cache(maxsize=64)
def rulebook_name(name: str) -> Words:
    """Return what a rulebook is called by its text; one that is not known here as it is."""
    if name not in profile_names():
        return Words(name, name)
    profile = load_profile(name)
    return Words(profile.title_en, profile.title_zh)


def join_words(named: Iterable[Words]) -> Words:
    """Return several things in one line."""
    told = tuple(named)
    return Words(", ".join(one.en for one in told), "、".join(one.zh for one in told))


def card_name(text: object) -> Words:
    """Return a card as people read it: "♠A", a joker by its name."""
    try:
        face = face_text(parse_face(str(text)))
    except ValueError:
        return Words(str(text), str(text))
    return name_of(JOKERS, face)


JOKERS: Final[Mapping[str, Words]] = {
    "SJ": Words("small joker", "小王"),
    "BJ": Words("big joker", "大王"),
}
