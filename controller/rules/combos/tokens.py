"""The signs that plays are written with: suits, ranks, jokers, and what parts words.

How they make up a play stands in notation.py.
"""

import re
import unicodedata
from collections.abc import Iterator

import msgspec

from controller.cards import BIG_JOKER, RANKS, SMALL_JOKER, SUITS, Face
from controller.rules.combos.nonsense import NotationError


class Token(msgspec.Struct, frozen=True, gc=False):
    """A suit, a rank or a joker, written as `text[begin:end]`.

    `sign`: its letters, large; a suit that is one of S, H, C, D is a `letter`.
    """

    sign: str
    begin: int
    end: int
    suit: int | None = None
    rank: int | None = None
    joker: Face | None = None

    @property
    def letter(self) -> bool:
        """Tell whether it is a suit written as a letter."""
        return self.sign in _LETTERS


_LETTERS = tuple("SHCD")
_SUITS = {
    sign: suit
    for suit, signs in enumerate(
        (
            ("S", SUITS[0], "♤", "黑桃", "黑"),
            ("H", SUITS[1], "♡", "红桃", "红心", "紅桃", "紅心", "红", "紅"),
            ("C", SUITS[2], "♧", "梅花", "草花", "梅", "草"),
            ("D", SUITS[3], "♢", "方块", "方片", "方塊", "方"),
        )
    )
    for sign in signs
}
_RANKS = {
    **{text: rank for rank, text in enumerate(RANKS, start=2)},
    **{text: rank for rank, text in enumerate("二三四五六七八九十", start=2)},
    "T": 10,
}
_SJ = "SJ"
_JOKERS = {
    **dict.fromkeys(("BJ", "大王", "大鬼"), BIG_JOKER),
    **dict.fromkeys((_SJ, "小王", "小鬼"), SMALL_JOKER),
}


def _either(signs: Iterator[str]) -> str:
    return "|".join(sorted(signs, key=len, reverse=True))


_WORD = re.compile(r"[^\s,、;:+–/.。·•・()\[\]【】-]+")
_JOKERS_ALONE = re.compile(f"(?:{_either(iter(_JOKERS))})+")
_JOKER = re.compile(_either(iter(_JOKERS)))
_EMOJI = "\ufe0f?"
"""A sign from a telephone's keyboard is followed by this."""
_ANY = re.compile(
    f"(?P<joker>{_either(sign for sign in _JOKERS if sign != _SJ)})"
    f"|(?P<rank>{_either(iter(_RANKS))})"
    f"|(?P<suit>{_either(iter(_SUITS))}){_EMOJI}"
)
_WHICH_JOKER = re.compile(r"JOKER|大小[王鬼]|双[王鬼]|[RL]J|🃏|(?<![大小])[王鬼]")
"""Where BJ were the black joker, RJ would be the big one: it is better asked than taken."""

_EXPECTED = "ranks are 2…10 or T, J, Q, K, A; suits S H C D or ♠♥♣♦; jokers SJ, BJ"
_WHICH = "which joker? the big one is BJ or 大王, the small one SJ or 小王"


def plain(text: str) -> str:
    """Return text with wide letters made narrow and small ones large, place for place."""
    narrow = (unicodedata.normalize("NFKC", char).upper() for char in text)
    return "".join(new if len(new) == 1 else old for old, new in zip(text, narrow, strict=True))


def words(text: str, *, jokers: bool) -> list[list[Token]]:
    """Return the words of a play, each as its tokens; none is empty.

    `jokers`: the cards have some; else SJ is the jack of spades. Raises NotationError.
    """
    return [
        list(_tokens(text, word.group(), word.start(), jokers=jokers))
        for word in _WORD.finditer(plain(text))
    ]


def is_small_or_jack(word: list[Token]) -> bool:
    """Tell whether a word is SJ alone, once or more: no other joker shows what is meant."""
    return all(token.sign == _SJ for token in word)


def _tokens(text: str, word: str, begin: int, *, jokers: bool) -> Iterator[Token]:
    if _JOKERS_ALONE.fullmatch(word) and (jokers or _SJ not in word):
        for found in _JOKER.finditer(word):
            sign = found.group()
            yield Token(sign, begin + found.start(), begin + found.end(), joker=_JOKERS[sign])
        return
    if which := _WHICH_JOKER.search(word):
        raise NotationError(text, begin + which.start(), begin + which.end(), _WHICH)
    at = 0
    while at < len(word):
        match = _ANY.match(word, at)
        if match is None:
            raise NotationError(text, begin + at, begin + at + 1, f"no such card: {_EXPECTED}")
        suit, rank, joker = match["suit"], match["rank"], match["joker"]
        at = match.end()
        yield Token(
            suit or rank or joker,
            begin + match.start(),
            begin + at,
            _SUITS.get(suit),
            _RANKS.get(rank),
            _JOKERS.get(joker),
        )
