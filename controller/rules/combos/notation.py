"""Plays as people type them, and back.

Ranks are 2…10 (or T), J, Q, K, A; suits S H C D, ♠♥♣♦ or 黑桃 红桃 梅花 方块; jokers SJ
and BJ, or 小王 and 大王. Blanks, commas, + and - part words, and count for nothing else.

- A suit is optional. It stands before or after its card, within the word: ♠K, SK, KS, K♠.
- It covers the whole run of ranks that it touches: ♦789J and 789J♦ are four diamonds.
- A word that begins with a suit has all its suits before their cards (♦789J♥2), one that
  ends with a suit has them all behind. A word with suits that does neither could be read
  both ways: it is refused, and a blank settles it (KK66 ♥2).
- SJ is the small joker and stands in a word with jokers alone; ♠J and JS are the jack.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from controller.cards import BIG_JOKER, RANKS, SMALL_JOKER, SUITS, Face, face_text
from controller.rules.combos.suiting import faces_of, suited
from controller.rules.levels import PAST_A, parse_grade
from controller.rules.order import natural, rank_text


class Nonsense(ValueError):
    """What was asked cannot be judged; its text is one line for people."""


def shown(text: str) -> str:
    """Return what somebody typed, fit for one line: place for place, a dot for what is no sign."""
    return "".join(char if char.isprintable() else "·" for char in text)


class NotationError(Nonsense):
    """A play is not written as one; its text is one line, `place` counts characters from 1."""

    def __init__(self, text: str, place: int, part: str, says: str) -> None:
        """Say what is wrong with the part of `text` that begins at `place`."""
        where = f'"{shown(text)}": place {place}, "{part}": ' if part else ""
        super().__init__(where + says)
        self.place = place


class Play(msgspec.Struct, frozen=True, gc=False):
    """Cards in the order in which they were written; `bare`: those without a suit.

    Bare cards have suits all the same, chosen so that they mean nothing.
    """

    faces: tuple[Face, ...]
    bare: tuple[bool, ...]


class _Token(msgspec.Struct, frozen=True, gc=False):
    """A suit, a rank or a joker as written, at a place of the text."""

    text: str
    place: int
    suit: int | None = None
    rank: int | None = None
    joker: Face | None = None


class _Card(msgspec.Struct, frozen=True, gc=False):
    """A card as written: its natural rank, and its face where that is given."""

    token: _Token
    rank: int
    face: Face | None


_SUITS = {
    **dict(zip("SHCD", range(4), strict=True)),
    **{sign: suit for suit, sign in enumerate(SUITS)},
    **{sign: suit for suit, sign in enumerate("♤♡♧♢")},
    **dict.fromkeys(("黑桃",), 0),
    **dict.fromkeys(("红桃", "红心", "紅桃", "紅心"), 1),
    **dict.fromkeys(("梅花", "草花"), 2),
    **dict.fromkeys(("方块", "方片", "方塊"), 3),
}
_RANKS = {text: rank for rank, text in enumerate(RANKS, start=2)} | {"T": 10}
_JOKERS = {"BJ": BIG_JOKER, "大王": BIG_JOKER, "小王": SMALL_JOKER, "SJ": SMALL_JOKER}

_WORD = re.compile(r"[^\s,、;+–-]+")
_JOKERS_ALONE = re.compile(f"(?:{'|'.join(_JOKERS)})+")
_EMOJI = "\ufe0f?"
"""A sign from a telephone's keyboard is followed by this."""
_ANY = re.compile(
    "|".join(
        [
            f"(?P<joker>{'|'.join(text for text in _JOKERS if text != 'SJ')})",
            f"(?P<rank>{'|'.join(sorted(_RANKS, reverse=True))})",
            f"(?P<suit>{'|'.join(_SUITS)}){_EMOJI}",
        ]
    )
)
_EXPECTED = "ranks are 2…10 or T, J, Q, K, A; suits S H C D or ♠♥♣♦; jokers SJ, BJ"
_TWO_WAYS = "this suit may belong to the card on either side: part the cards with a blank"
_NO_JOKERS = "there are no jokers in these cards"
_JACK = "SJ is the small joker, in a word of its own; the jack of spades is ♠J or JS"


def parse_play(
    text: str,
    level: int | None,
    deck: Sequence[int],
    *,
    suits_decide: bool = False,
    beside: Play | None = None,
) -> Play:
    """Return the play written as `text`.

    `deck`: how many of each of the 54 faces there are. Cards without a suit get suits that
    make neither a straight flush nor a wild card unless nothing else is left; `level`, a
    natural rank, says which hearts are wild, None that nothing is. `suits_decide`: a card
    without a suit is refused. `beside` is another play of the same deal: both together
    are no more than the deck has. Raises NotationError, one line.
    """
    cards = list(_cards(text))
    if not cards:
        raise NotationError(text, 1, "", "the play is empty: write cards, such as KK66 H2")
    if suits_decide:
        for card in cards:
            if card.face is None:
                raise _wrong(text, card.token, "suits decide in Big Two: write it with its suit")
    _refuse_too_many(text, cards, deck, beside)
    faces = suited([card.face for card in cards], [card.rank for card in cards], level, deck)
    return Play(faces, tuple(card.face is None for card in cards))


def parse_ranks(text: str) -> tuple[int, ...]:
    """Return the natural ranks written as `text`, suits left out. Raises NotationError."""
    return tuple(card.rank for card in _cards(text))


def parse_level(text: str) -> int:
    """Return the level written as `text`, a natural rank. Raises Nonsense, one line."""
    try:
        level = parse_grade(_plain(text))
    except ValueError:
        level = PAST_A
    if level == PAST_A:
        raise Nonsense(f'no level is called "{shown(text)}": write 2…10, J, Q, K or A')
    return level


def play_text(play: Play) -> str:
    """Return a play as people write it; `parse_play` reads it as the same play."""
    return " ".join(
        rank_text(natural(face)) if bare else face_text(face)
        for face, bare in zip(play.faces, play.bare, strict=True)
    )


def _plain(text: str) -> str:
    """Return text with wide letters made narrow and small ones large, place for place."""
    narrow = (unicodedata.normalize("NFKC", char).upper() for char in text)
    return "".join(new if len(new) == 1 else old for old, new in zip(text, narrow, strict=True))


def _wrong(text: str, token: _Token, says: str) -> NotationError:
    return NotationError(text, token.place, token.text, says)


def _cards(text: str) -> Iterator[_Card]:
    for word in _WORD.finditer(_plain(text)):
        tokens = list(_tokens(text, word.group(), word.start() + 1))
        yield from _of_word(text, tokens)


def _tokens(text: str, word: str, begin: int) -> Iterator[_Token]:
    if _JOKERS_ALONE.fullmatch(word):
        for start in range(0, len(word), 2):
            joker = word[start : start + 2]
            yield _Token(joker, begin + start, joker=_JOKERS[joker])
        return
    at = 0
    while at < len(word):
        found = _ANY.match(word, at)
        if found is None:
            raise NotationError(text, begin + at, shown(word[at]), f"no such card: {_EXPECTED}")
        suit, rank, joker = found["suit"], found["rank"], found["joker"]
        yield _Token(
            found.group(), begin + at, _SUITS.get(suit), _RANKS.get(rank), _JOKERS.get(joker)
        )
        at = found.end()


def _of_word(text: str, tokens: list[_Token]) -> list[_Card]:
    """Give each rank of a word its suit: the one before it, or the one behind it."""
    suits = [token for token in tokens if token.suit is not None]
    if suits and tokens[0].suit is None:
        if tokens[-1].suit is None:
            raise _wrong(text, suits[0], _TWO_WAYS)
        return _from_suits(text, tokens[::-1])[::-1]
    for token, behind in pairwise(tokens):
        if (token.text, behind.text) == ("S", "J"):
            raise _wrong(text, token, _JACK)
    return _from_suits(text, tokens)


def _from_suits(text: str, tokens: list[_Token]) -> list[_Card]:
    """Return the cards of tokens in which each suit comes before the ranks that it covers."""
    cards = []
    suit: int | None = None
    for token, behind in zip(tokens, [*tokens[1:], None], strict=True):
        if token.rank is not None:
            face = None if suit is None else suit * len(RANKS) + token.rank - 2
            cards.append(_Card(token, token.rank, face))
        elif token.joker is not None:
            cards.append(_Card(token, natural(token.joker), token.joker))
        elif behind is None or behind.rank is None:
            raise _wrong(text, token, "a suit without its card: write them together, ♠K or KS")
        suit = suit if token.rank is not None else token.suit
    return cards


def _refuse_too_many(
    text: str, cards: Iterable[_Card], deck: Sequence[int], beside: Play | None
) -> None:
    """Refuse the first card of which there are not so many. Raises NotationError."""
    also = zip(beside.faces, beside.bare, strict=True) if beside else ()
    faces, ranks = Counter[Face](), Counter[int]()
    for face, bare in also:
        ranks[natural(face)] += 1
        faces[face] += not bare
    together = " in both plays together" if beside else ""
    for card in cards:
        ranks[card.rank] += 1
        if card.face is not None:
            faces[card.face] += 1
            if faces[card.face] > deck[card.face]:
                says = f"there are only {deck[card.face]} × {face_text(card.face)}{together}"
                raise _wrong(text, card.token, says if deck[card.face] else _NO_JOKERS)
        of_rank = sum(deck[face] for face in faces_of(card.rank))
        if ranks[card.rank] > of_rank:
            says = f"there are only {of_rank} × {rank_text(card.rank)}{together}"
            raise _wrong(text, card.token, says)
