"""The ten kinds of combination (牌型) of Guandan, and one combination as a value."""

from typing import Literal

import msgspec

from controller.cards import Face

ComboKind = Literal[
    "single",
    "pair",
    "triple",
    "full_house",
    "straight",
    "tube",
    "plate",
    "bomb",
    "straight_flush",
    "joker_bomb",
]


class ComboName(msgspec.Struct, frozen=True, gc=False):
    """What people call a kind, in English and Chinese; `others` are names in use beside those."""

    en: str
    zh: str
    others: tuple[str, ...] = ()


COMBO_NAMES: dict[ComboKind, ComboName] = {
    "single": ComboName("single", "单张", ("单牌",)),
    "pair": ComboName("pair", "对子", ("一对", "对牌")),
    "triple": ComboName("triple", "三同张", ("三不带", "3张牌", "三张")),
    "full_house": ComboName("full house", "三带对", ("三带二", "三带两", "夯", "葫芦")),
    "straight": ComboName("straight", "顺子", ("杂花顺",)),
    "tube": ComboName("tube", "三连对", ("木板", "连对")),
    "plate": ComboName("plate", "三同连张", ("钢板", "三连张", "三顺", "双飞", "飞机")),
    "bomb": ComboName("bomb", "炸弹"),
    "straight_flush": ComboName("straight flush", "同花顺", ("火箭",)),
    "joker_bomb": ComboName("joker bomb", "四大天王", ("天王炸", "王炸", "四王")),
}
"""Every kind with its names (seed 000 A4; its others also 003 R1, 004 CN3, and what players say).

Its articles are in articles.py.
"""

SEQUENCE_KINDS: frozenset[ComboKind] = frozenset({"straight", "straight_flush", "tube", "plate"})
"""Kinds in which a level card has its natural rank (seed 000 A7.3.1, A4.3)."""


class Combo(msgspec.Struct, frozen=True, gc=False):
    """One reading of a play: which combination it is.

    `rank` decides inside a kind. It is the value in level order (controller/rules/order.py)
    for singles, pairs, triples, bombs and the triple of a full house; it is the natural rank
    of the highest group for straights, tubes, plates and straight flushes, where a low A
    counts 1: 5 for A2345, 3 for AA2233, 2 for AAA222. `size`: cards. `faces`: every card
    as it counts, laid low to high (seed 000 A11.2). `wild`: the faces that the wild
    cards stand for, each of them also in `faces`.
    """

    kind: ComboKind
    rank: int
    size: int
    faces: tuple[Face, ...]
    wild_faces: tuple[Face, ...] = ()
