"""Plays as people type them, and back.

Ranks are 2…10 (or T, 十), J, Q, K, A; suits S H C D, ♠♥♣♦ or 黑桃 红桃 梅花 方块, also by
their first sign (红2); jokers SJ and BJ, 小王 and 大王 (王, 鬼 or 点), small joker and big
joker; 王炸 or 四大天王 for all four; 参谋 or 级牌 for the rank of the level, so that 红心参谋 is
its heart; 逢人配, 百搭 or 配 for that heart. Blanks, commas and the like (tokens.py) part words,
and count for nothing else.

- A suit is optional. It stands before or after its card, within the word: ♠K, SK, KS, K♠.
- It covers the whole run of ranks that it touches: ♦789J and 789J♦ are four diamonds. A
  run rises or falls, no rank twice, and lacks no more ranks than wild cards can fill: ♥2KK66
  and ♠KKK are refused. Where suits decide, a suit covers whatever it touches.
- A word that begins with a suit has all its suits before their cards (♦789J♥2), one that
  ends with a suit has them all behind. A word with suits that does neither could be read
  both ways: it is refused, and a blank settles it (KK66 ♥2). In Chinese a suit stands before
  its card: 4567红2.
- SJ is the small joker and stands in a word with jokers alone; ♠J and JS are the jack. It is
  refused where another word has a suit as a letter, since there it may be meant as the jack,
  unless its own word has a big joker; in a deck without jokers it is the jack.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from controller.cards import RANKS, SMALL_JOKER, Face, face_text
from controller.rules.combos.nonsense import NotationError, QuestionError, printable_text
from controller.rules.combos.suiting import assign_suits, faces_of
from controller.rules.combos.tokens import (
    CardToken,
    is_small_or_jack,
    normalise_text,
    rank_of_sign,
    split_tokens,
)
from controller.rules.order import natural_rank, rank_text
from controller.words import Words


class TypedPlay(msgspec.Struct, frozen=True, gc=False):
    """Cards in the order in which they were written; `bare`: those without a suit.

    Bare cards have suits all the same, chosen so that they mean nothing.
    """

    faces: tuple[Face, ...]
    bare: tuple[bool, ...]


class _TypedCard(msgspec.Struct, frozen=True, gc=False):
    """A card written as `text[begin:end]`: its natural rank, and its face where that is given."""

    begin: int
    end: int
    rank: int
    face: Face | None


_WILDS = 2
_EMPTY = Words("the play is empty: write cards, such as KK66 H2", "未写牌：请写出牌张，如 KK66 H2")
_SUITS_DECIDE = Words("suits decide in Big Two: write it with its suit", "锄大地比花色：请写明花色")
_TWO_WAYS = Words(
    "this suit may belong to the card on either side: part the cards with a blank",
    "该花色可能属于前一张，也可能属于后一张：请用空格分开",
)
_NO_CARD = Words(
    "a suit without its card: write them together, ♠K or KS",
    "花色没有对应的牌：请连写，如 ♠K 或 KS",
)
_NO_JOKERS = Words("there are no jokers in these cards", "这副牌没有大小王")
_SMALL_JOKER_OR_JACK = Words(
    "SJ is the small joker, in a word of its own, or 小王; the jack of spades is ♠J or JS",
    "SJ 是小王，须单独写，也可写小王；黑桃J请写 ♠J 或 JS",
)


def parse_play(
    text: str,
    level: int | None,
    deck: Sequence[int],
    *,
    suits_decide: bool = False,
    other_play: TypedPlay | None = None,
) -> TypedPlay:
    """Return the play written as `text`.

    `deck`: how many of each of the 54 faces there are. Cards without a suit get suits that
    make neither a straight flush nor a wild card unless nothing else is left; `level`, a
    natural rank, says which hearts are wild, None that nothing is. `suits_decide`: a card
    without a suit is refused. `beside` is another play of the same deal: both together
    are no more than the deck has. Raises NotationError, one line.
    """
    cards = _parse_cards(text, jokers=deck[SMALL_JOKER] > 0, suits_decide=suits_decide, level=level)
    if not cards:
        raise NotationError(text, 0, 0, _EMPTY)
    if suits_decide:
        for card in cards:
            if card.face is None:
                raise _notation_error(text, card, _SUITS_DECIDE)
    _refuse_too_many(text, cards, deck, other_play)
    faces = assign_suits([card.face for card in cards], [card.rank for card in cards], level, deck)
    return TypedPlay(faces, tuple(card.face is None for card in cards))


def parse_ranks(text: str) -> tuple[int, ...]:
    """Return the natural ranks written as `text`, suits left out. Raises NotationError."""
    return tuple(
        card.rank for card in _parse_cards(text, jokers=True, suits_decide=True, level=None)
    )


def parse_typed_level(text: str) -> int:
    """Return the level written as `text`, a natural rank: "5", "打5", "打五". Raises Nonsense."""
    level = rank_of_sign(normalise_text(text).strip().removeprefix("打").strip())
    if level is None:
        raise QuestionError(
            f'no level is called "{printable_text(text)}": write 2…10, J, Q, K or A',
            f"没有“{printable_text(text)}”这一级：请写 2…10、J、Q、K 或 A",
        )
    return level


def play_text(play: TypedPlay) -> str:
    """Return a play as people write it; `parse_play` reads it as the same play."""
    return " ".join(
        rank_text(natural_rank(face)) if bare else face_text(face)
        for face, bare in zip(play.faces, play.bare, strict=True)
    )


def _notation_error(text: str, part: CardToken | _TypedCard, says: Words) -> NotationError:
    return NotationError(text, part.begin, part.end, says)


def _parse_cards(
    text: str, *, jokers: bool, suits_decide: bool, level: int | None
) -> list[_TypedCard]:
    written = split_tokens(text, jokers=jokers, level=level)
    if jokers:
        _refuse_jacks(text, written)
    return [
        card for word in written for card in _cards_of_word(text, word, suits_decide=suits_decide)
    ]


def _refuse_jacks(text: str, written: Sequence[list[CardToken]]) -> None:
    """Refuse SJ where it may be meant as the jack of spades. Raises NotationError."""
    letters = any(token.is_suit_letter for word in written for token in word)
    for word in written:
        if letters and is_small_or_jack(word):
            raise _notation_error(text, word[0], _SMALL_JOKER_OR_JACK)
        if word[0].suit is not None or word[-1].suit is None:  # else each suit is behind its card
            for token, behind in pairwise(word):
                if (token.text, behind.text) == ("S", "J"):
                    raise NotationError(text, token.begin, behind.end, _SMALL_JOKER_OR_JACK)


def _cards_of_word(
    text: str, tokens: list[CardToken], *, suits_decide: bool
) -> Iterator[_TypedCard]:
    """Yield the cards of a word; each rank has the suit before it, or the one behind it."""
    suits = [token for token in tokens if token.suit is not None]
    ends_open = tokens[-1].suit is None
    in_chinese = ends_open and all(token.is_chinese_suit for token in suits)
    forward = not suits or tokens[0].suit is not None or in_chinese
    if not forward and ends_open:
        raise _notation_error(text, suits[0], _TWO_WAYS)
    cards: list[_TypedCard] = []
    for group in _suit_groups(tokens if forward else tokens[::-1]):
        head, *ranks = group
        if head.suit is not None and not ranks:
            raise _notation_error(text, head, _NO_CARD)
        if head.suit is not None and not suits_decide:
            _refuse_no_run(text, head, ranks)
        cards += _cards_of_group(group)
    yield from cards if forward else cards[::-1]


def _suit_groups(tokens: Sequence[CardToken]) -> Iterator[list[CardToken]]:
    """Yield each suit or joker with the ranks after it; ranks before the first come alone."""
    group: list[CardToken] = []
    for token in tokens:
        if group and token.rank is None:
            yield group
            group = []
        group.append(token)
    yield group


def _cards_of_group(group: Sequence[CardToken]) -> Iterator[_TypedCard]:
    head = group[0]
    for n, token in enumerate(group):
        if token.face is not None:
            yield _TypedCard(token.begin, token.end, natural_rank(token.face), token.face)
        elif token.rank is not None:
            face = None if head.suit is None else head.suit * len(RANKS) + token.rank - 2
            begin, end = _span(group[:2] if n == 1 and head.suit is not None else (token,))
            yield _TypedCard(begin, end, token.rank, face)


def _span(tokens: Iterable[CardToken]) -> tuple[int, int]:
    every = tuple(tokens)
    return min(token.begin for token in every), max(token.end for token in every)


def _refuse_no_run(text: str, suit: CardToken, ranks: Sequence[CardToken]) -> None:
    """Refuse ranks that one suit touches and that are no run. Raises NotationError."""
    if _is_run([token.rank for token in ranks if token.rank is not None]):
        return
    begin, end = _span((suit, *ranks))
    part = ranks[0].end if suit.begin == begin else ranks[0].begin
    parted = printable_text(f"{text[begin:part]} {text[part:end]}")
    says = Words(
        f"a suit covers the run it touches: write {parted}",
        f"一个花色管到相连的一串牌：请写成 {parted}",
    )
    raise NotationError(text, begin, end, says)


def _is_run(ranks: Sequence[int]) -> bool:
    """Tell whether ranks rise or fall, the A high or low, with gaps that wild cards may fill."""
    for ace in (14, 1):
        row = [ace if rank == 14 else rank for rank in ranks]
        steps = [after - before for before, after in pairwise(row)]
        one_way = all(step > 0 for step in steps) or all(step < 0 for step in steps)
        if one_way and sum(abs(step) - 1 for step in steps) <= _WILDS:
            return True
    return False


def _refuse_too_many(
    text: str, cards: Iterable[_TypedCard], deck: Sequence[int], beside: TypedPlay | None
) -> None:
    """Refuse the first card of which there are not so many. Raises NotationError."""
    also = zip(beside.faces, beside.bare, strict=True) if beside else ()
    faces, ranks = Counter[Face](), Counter[int]()
    for face, bare in also:
        ranks[natural_rank(face)] += 1
        faces[face] += not bare
    both = beside is not None
    for card in cards:
        ranks[card.rank] += 1
        if card.face is not None:
            faces[card.face] += 1
            if faces[card.face] > deck[card.face]:
                raise _notation_error(
                    text, card, _too_few_words(deck[card.face], face_text(card.face), both)
                )
        of_rank = sum(deck[face] for face in faces_of(card.rank))
        if ranks[card.rank] > of_rank:
            raise _notation_error(text, card, _too_few_words(of_rank, rank_text(card.rank), both))


def _too_few_words(count: int, what: str, both: bool) -> Words:
    """Say that there are only so many; `both`: in two plays together."""
    if not count:
        return _NO_JOKERS
    together = Words(" in both plays together", "两手牌合计") if both else Words("", "")
    return Words(
        f"there {'is' if count == 1 else 'are'} only {count} × {what}{together.en}",
        f"{together.zh}只有{count}张{what}",
    )
