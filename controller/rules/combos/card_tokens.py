"""The tokens of a play as text (suits, ranks, jokers), and the errors for text that is no play."""

import re
import unicodedata
from collections.abc import Iterator

import msgspec

from controller.cards import BIG_JOKER, RANKS, SMALL_JOKER, SUITS, Face
from controller.rules.ranks import wild_card
from controller.words import Words, WordsError


class QuestionError(WordsError):
    """The error for a question about a play that the program cannot answer.

    `words` is one line for people, and str() is its English text.
    """


class NotationError(QuestionError):
    """The error for a text that is not a play.

    The message is one line. `place` is the position of the mistake in characters, from 1.
    """

    def __init__(self, text: str, begin: int, end: int, says: Words) -> None:
        """Create the error with the message `says` about the part `text[begin:end]` of a typed
        text. An empty part is not quoted.
        """
        self.place = place_of(text, begin)
        part = printable_text(text[begin:end])
        en = f'"{printable_text(text)}": place {self.place}, "{part}": ' if part else ""
        zh = f"“{printable_text(text)}”第{self.place}个字符“{part}”：" if part else ""
        super().__init__(en + says.en, zh + says.zh)


def printable_text(text: str) -> str:
    """Return typed text with a dot in place of each unprintable character, so that it fits in one
    line.
    """
    return "".join(char if char.isprintable() else "·" for char in text)


def place_of(text: str, index: int) -> int:
    """Return the position of the character `text[index]`, as a person counts characters from 1.

    Combining characters do not count. An example is the variation selector that a telephone's
    keyboard puts after ♠.
    """
    return 1 + sum(unicodedata.category(char) not in ("Mn", "Me") for char in text[:index])


class CardToken(msgspec.Struct, frozen=True, gc=False):
    """One token of a play as text: a suit, a rank, or a whole card such as a joker.

    `begin` and `end` are its position in the play. `text`: the normalised characters in capitals. A
    suit is one of the letters S, H, C, D, a sign, or a Chinese word. `face`: a joker or the wild
    card.
    """

    text: str
    begin: int
    end: int
    suit: int | None = None
    rank: int | None = None
    face: Face | None = None

    @property
    def is_suit_letter(self) -> bool:
        """Return True if the token is a suit that is written as a letter."""
        return self.text in _LETTERS

    @property
    def is_chinese_suit(self) -> bool:
        """Return True if the token is a suit in Chinese. Such a suit comes before its card."""
        return self.suit is not None and self.text not in _EITHER_SIDE


_LETTERS = tuple("SHCD")
_EITHER_SIDE = frozenset({*_LETTERS, *SUITS, *"♤♡♧♢"})
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
    **dict.fromkeys(("BJ", "大王", "大鬼", "大点", "BIGJOKER"), BIG_JOKER),
    **dict.fromkeys((_SJ, "小王", "小鬼", "小点", "SMALLJOKER"), SMALL_JOKER),
}
_FOUR_JOKERS = frozenset({"四大天王", "天王炸", "王炸"})
_WILD_WORDS = ("逢人配", "百搭", "配")
"""Players' names for the heart of the level."""
_LEVEL_WORDS = ("参谋", "參謀", "级牌", "級牌")
"""Players' names for the rank of the level, in any suit (seeds 000 and 001, A7.1)."""


def _alternatives(signs: Iterator[str]) -> str:
    return "|".join(sorted(signs, key=len, reverse=True))


_GAP = r"[\s_-]*"
_WORD = re.compile(rf"(?:BIG|SMALL){_GAP}JOKER|[^\s,、;:+–/.。·•・()\[\]【】-]+")
_JOKERS_ALONE = re.compile(f"(?:{_alternatives(iter(_JOKERS))})+")
_JOKER = re.compile(_alternatives(iter(_JOKERS)))
_EMOJI = "\ufe0f?"
"""The variation selector that may follow a sign from a telephone's keyboard."""
RANK_PATTERN = _alternatives(iter(_RANKS))
SUIT_PATTERN = f"(?:{_alternatives(iter(_SUITS))}){_EMOJI}"
"""A rank and a suit, as parts of patterns for text from `normalise_text`."""
_ANY_TOKEN = re.compile(
    f"(?P<joker>{_alternatives(sign for sign in _JOKERS if sign != _SJ)})"
    f"|(?P<wild>{_alternatives(iter(_WILD_WORDS))})"
    f"|(?P<level>{_alternatives(iter(_LEVEL_WORDS))})"
    f"|(?P<rank>{RANK_PATTERN})"
    f"|(?P<suit>{_alternatives(iter(_SUITS))}){_EMOJI}"
)
_WHICH_JOKER = re.compile(r"JOKER|大小[王鬼点]|双[王鬼点]|[RL]J|🃏|(?<![大小])[王鬼点]")
"""Ambiguous joker names, which are refused. With RJ for the red joker, BJ may be the black one."""

_NO_SUCH_CARD = Words(
    "no such card: ranks are 2…10 or T, J, Q, K, A; suits S H C D or ♠♥♣♦; jokers SJ, BJ",
    "没有这张牌：点数为 2…10 或 T、J、Q、K、A；花色为 S H C D 或 ♠♥♣♦；小王 SJ、大王 BJ",
)
_NO_WILD = Words("nothing is wild here: write the card itself", "此处没有逢人配：请写牌张本身")
_NO_LEVEL = Words("no level is known here: write the card itself", "此处没有级数：请写牌张本身")
_WHICH_JOKER_WORDS = Words(
    "which joker? the big one is BJ or 大王, the small one SJ or 小王",
    "哪张王？大王写 BJ 或大王，小王写 SJ 或小王",
)


def normalise_text(text: str) -> str:
    """Return text in capitals, with full-width characters replaced by normal ones.

    Every character keeps its position.
    """
    narrow = (unicodedata.normalize("NFKC", char).upper() for char in text)
    return "".join(new if len(new) == 1 else old for old, new in zip(text, narrow, strict=True))


def rank_of_sign(sign: str) -> int | None:
    """Return the natural rank of `sign` ("5", "10", "T", "五"), or None if it is no rank."""
    return _RANKS.get(sign)


def split_tokens(text: str, *, jokers: bool, level: int | None) -> list[list[CardToken]]:
    """Split the text of a play into words, and return each word as a list of its tokens.

    `jokers`: the cards include jokers. Without jokers, SJ is the jack of spades. `level`: the rank
    that 参谋 and similar words mean, whose heart is 逢人配. With None these words are refused.
    Raises NotationError.
    """
    return [
        list(_tokens(text, word.group(), word.start(), jokers=jokers, level=level))
        for word in _WORD.finditer(normalise_text(text))
    ]


def is_small_or_jack(word: list[CardToken]) -> bool:
    """Return True if every token of a word is SJ, which is the small joker or the jack of spades.

    No other joker in the word then shows which of these two cards SJ is.
    """
    return all(token.text == _SJ for token in word)


def _tokens(
    text: str, word: str, begin: int, *, jokers: bool, level: int | None
) -> Iterator[CardToken]:
    if word in _FOUR_JOKERS:
        for joker in (SMALL_JOKER, SMALL_JOKER, BIG_JOKER, BIG_JOKER):
            yield CardToken(word, begin, begin + len(word), face=joker)
        return
    if re.fullmatch(rf"(?:BIG|SMALL){_GAP}JOKER", word):
        sign = re.sub(_GAP, "", word)
        yield CardToken(sign, begin, begin + len(word), face=_JOKERS[sign])
        return
    if _JOKERS_ALONE.fullmatch(word) and (jokers or _SJ not in word):
        for found in _JOKER.finditer(word):
            sign = found.group()
            yield CardToken(sign, begin + found.start(), begin + found.end(), face=_JOKERS[sign])
        return
    if which := _WHICH_JOKER.search(word):
        raise NotationError(text, begin + which.start(), begin + which.end(), _WHICH_JOKER_WORDS)
    wild = None if level is None else wild_card(level)
    at = 0
    while at < len(word):
        match = _ANY_TOKEN.match(word, at)
        if match is None:
            raise NotationError(text, begin + at, begin + at + 1, _NO_SUCH_CARD)
        suit, rank = match["suit"], match["rank"]
        at = match.end()
        if level is None and (match["wild"] or match["level"]):
            says = _NO_WILD if match["wild"] else _NO_LEVEL
            raise NotationError(text, begin + match.start(), begin + at, says)
        yield CardToken(
            match.group(),
            begin + match.start(),
            begin + at,
            _SUITS.get(suit),
            level if match["level"] else _RANKS.get(rank),
            wild if match["wild"] else _JOKERS.get(match["joker"]),
        )
