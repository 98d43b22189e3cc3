"""Parsers for typed plays and declarations, and a function that adds missing suits.

A bare card is written without a suit. It gets a suit that does not change how a play is judged.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from controller.cards import FACE_COUNT, RANKS, SMALL_JOKER, Face, face_text
from controller.rules.combos.card_tokens import (
    RANK_PATTERN,
    SUIT_PATTERN,
    CardToken,
    NotationError,
    QuestionError,
    is_small_or_jack,
    normalise_text,
    printable_text,
    rank_of_sign,
    split_tokens,
)
from controller.rules.combos.guandan_combos import COMBO_NAMES, Combo, ComboKind
from controller.rules.ranks import ACE, is_wild, natural_rank, rank_text
from controller.words import Words


def faces_of(rank: int) -> tuple[Face, ...]:
    """Return the faces of a natural rank: one for each suit, or the one face of a joker."""
    return tuple(face for face in range(FACE_COUNT) if natural_rank(face) == rank)


def assign_suits(
    faces: Sequence[Face | None], ranks: Sequence[int], level: int | None, deck: Sequence[int]
) -> tuple[Face, ...]:
    """Return `faces` with each None, a card without a suit, replaced by a face of its rank.

    `ranks`: the natural rank of every card. A chosen face has the suit that is rarest in the play,
    so that no straight flush results. Hearts of the level, which would be wild, are chosen last.
    `deck`, the number of each of the 54 faces, must have enough cards of every rank.
    """
    used = Counter(face for face in faces if face is not None)
    suits = Counter(face // len(RANKS) for face in used.elements())

    def burden(face: Face) -> tuple[bool, int]:
        return level is not None and is_wild(face, level), suits[face // len(RANKS)]

    found = []
    for face, rank in zip(faces, ranks, strict=True):
        if face is None:
            face = min((one for one in faces_of(rank) if used[one] < deck[one]), key=burden)
            used[face] += 1
            suits[face // len(RANKS)] += 1
        found.append(face)
    return tuple(found)


class TypedPlay(msgspec.Struct, frozen=True, gc=False):
    """A play that a person typed: its cards in the written order.

    `bare`: True for a card without a suit. Bare cards also have suits in `faces`, chosen so that
    they do not change how the play is judged.
    """

    faces: tuple[Face, ...]
    bare: tuple[bool, ...]


class _TypedCard(msgspec.Struct, frozen=True, gc=False):
    """One card in the text of a play, where it is written as `text[begin:end]`.

    `rank`: the natural rank. `face`: None if the card is written without a suit.
    """

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
    "SJ is the small joker, written separately, or 小王; the jack of spades is ♠J or JS",
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
    """Return the cards of the play that a person typed as `text`, such as "KK66 H2".

    `deck`: the number of each of the 54 faces. Cards without a suit get suits that make neither a
    straight flush nor a wild card, unless nothing else is left. `level`, a natural rank, defines
    which hearts are wild. With None there are no wild cards. `suits_decide`: a card without a suit
    is refused. `other_play` is another play of the same deal: both plays together may not use more
    cards than the deck has. Raises NotationError, one line, if `text` is no such play.
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
    """Return the natural ranks of the cards in `text`. Suits are ignored. Raises NotationError."""
    return tuple(
        card.rank for card in _parse_cards(text, jokers=True, suits_decide=True, level=None)
    )


def parse_typed_level(text: str) -> int:
    """Return the level written as `text`, such as "5", "打5" or "打五". Raises QuestionError."""
    level = rank_of_sign(normalise_text(text).strip().removeprefix("打").strip())
    if level is None:
        raise QuestionError(
            f'no level is called "{printable_text(text)}": write 2…10, J, Q, K or A',
            f"没有“{printable_text(text)}”这一级：请写 2…10、J、Q、K 或 A",
        )
    return level


def play_text(play: TypedPlay) -> str:
    """Return the text of a play. `parse_play` returns the same play for this text."""
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
        _refuse_ambiguous_sj(text, written)
    return [
        card for word in written for card in _cards_of_word(text, word, suits_decide=suits_decide)
    ]


def _refuse_ambiguous_sj(text: str, written: Sequence[list[CardToken]]) -> None:
    """Raise NotationError if "SJ" in the text could mean the small joker or the jack of spades."""
    letters = any(token.is_suit_letter for word in written for token in word)
    for word in written:
        if letters and is_small_or_jack(word):
            raise _notation_error(text, word[0], _SMALL_JOKER_OR_JACK)
        # A word in which each suit comes after its card needs no check.
        if word[0].suit is not None or word[-1].suit is None:
            for token, behind in pairwise(word):
                if (token.text, behind.text) == ("S", "J"):
                    raise NotationError(text, token.begin, behind.end, _SMALL_JOKER_OR_JACK)


def _cards_of_word(
    text: str, tokens: list[CardToken], *, suits_decide: bool
) -> Iterator[_TypedCard]:
    """Yield the cards that are written in one word of a typed play.

    In one word, every suit comes before its ranks, or every suit comes after them.
    """
    suits = [token for token in tokens if token.suit is not None]
    ends_open = tokens[-1].suit is None
    in_chinese = ends_open and all(token.is_chinese_suit for token in suits)
    forward = not suits or tokens[0].suit is not None or in_chinese
    if not forward and ends_open:
        raise _notation_error(text, suits[0], _TWO_WAYS)
    cards: list[_TypedCard] = []
    # Each suit with the ranks that follow it, and each joker. Ranks before the first suit come as
    # one group without a suit.
    groups: list[list[CardToken]] = []
    for token in tokens if forward else tokens[::-1]:
        if not groups or token.rank is None:
            groups.append([])
        groups[-1].append(token)
    for group in groups:
        head, *ranks = group
        if head.suit is not None and not ranks:
            raise _notation_error(text, head, _NO_CARD)
        if head.suit is not None and not suits_decide:
            _require_sequence(text, head, ranks)
        cards += _cards_of_group(group)
    yield from cards if forward else cards[::-1]


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


def _require_sequence(text: str, suit: CardToken, ranks: Sequence[CardToken]) -> None:
    """Raise NotationError if one suit is written for `ranks` that are no sequence."""
    if _is_sequence([token.rank for token in ranks if token.rank is not None]):
        return
    begin, end = _span((suit, *ranks))
    part = ranks[0].end if suit.begin == begin else ranks[0].begin
    parted = printable_text(f"{text[begin:part]} {text[part:end]}")
    says = Words(
        f"a suit covers the run it touches: write {parted}",
        f"一个花色管到相连的一串牌：请写成 {parted}",
    )
    raise NotationError(text, begin, end, says)


def _is_sequence(ranks: Sequence[int]) -> bool:
    """Return True if the ranks only rise or only fall, and two wild cards can fill all gaps.

    The A may be high or low.
    """
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
    """Raise NotationError for the first card that occurs more often than the deck allows.

    `beside`: another play of the same deal. Its cards are counted too.
    """
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
                    text, card, _too_many_copies(deck[card.face], face_text(card.face), both)
                )
        of_rank = sum(deck[face] for face in faces_of(card.rank))
        if ranks[card.rank] > of_rank:
            raise _notation_error(text, card, _too_many_copies(of_rank, rank_text(card.rank), both))


def _too_many_copies(count: int, what: str, both: bool) -> Words:
    """Return the error text for more than `count` copies of `what`, the text of a card or rank.

    The deck has `count` copies. `both`: two plays together have more.
    """
    if not count:
        return _NO_JOKERS
    together = Words(" in both plays together", "两手牌合计") if both else Words("", "")
    return Words(
        f"there {'is' if count == 1 else 'are'} only {count} × {what}{together.en}",
        f"{together.zh}只有{count}张{what}",
    )


_GAP = r"[\s_-]*"
_KINDS: dict[str, ComboKind] = {
    said: kind for kind, name in COMBO_NAMES.items() for said in (name.en, name.zh, *name.others)
}
_KINDS_BY_NAME = {said.upper().replace(" ", ""): kind for said, kind in _KINDS.items()}
_NAME_PATTERN = "|".join(
    _GAP.join(said.upper().split()) for said in sorted(_KINDS, key=len, reverse=True)
)
_RANGE_PATTERN = "[-~\u2010-\u2015\u2212\u301c]+|[至到]|TO"
"""Dashes of all keyboards. Wide dashes are narrow in text from `normalise_text`."""
_ENDS_PATTERN = re.compile(
    rf"[\s:,]*(?:从|從|FROM)?\s*(?:{SUIT_PATTERN})?(?P<low>{RANK_PATTERN})(?:{SUIT_PATTERN})?"
    rf"\s*(?:{_RANGE_PATTERN})\s*(?:{SUIT_PATTERN})?(?P<high>{RANK_PATTERN})(?:{SUIT_PATTERN})?[\s:,]*"
)
_CARDS_PER_RANK: dict[ComboKind, int] = {"tube": 2, "plate": 3}
"""The number of cards of each rank in a kind of sequence, if it is not 1."""
_LOW_ACE = 1
_KIND_FIRST_PATTERN = re.compile(rf"\s*(?P<kind>{_NAME_PATTERN})(?P<ranks>.*)", re.DOTALL)
_KIND_LAST_PATTERN = re.compile(rf"(?P<ranks>.*?)(?P<kind>{_NAME_PATTERN})\s*", re.DOTALL)


class ComboDeclaration(msgspec.Struct, frozen=True, gc=False):
    """The combination that a player declares.

    `ranks` are natural ranks. A field that the player did not declare is None.
    """

    kind: ComboKind | None
    ranks: tuple[int, ...] | None

    def allows(self, combo: Combo) -> bool:
        """Return True if the combination `combo` fits what the player declared."""
        return (self.kind is None or combo.kind == self.kind) and (
            self.ranks is None or sorted(map(natural_rank, combo.faces)) == sorted(self.ranks)
        )


def parse_declaration(text: str, cards: int) -> ComboDeclaration:
    """Return the declaration that a person wrote as `text`, for a play of `cards` cards.

    Examples: "plate", "钢板", "34567", "3-7", "straight 34567" or "顺子：从3到7". Suits in the text
    are ignored. Raises QuestionError, one line, also if the number of ranks differs from the number
    of cards.
    """
    said = normalise_text(text)
    found = _KIND_FIRST_PATTERN.fullmatch(said) or _KIND_LAST_PATTERN.fullmatch(said)
    kind = _KINDS_BY_NAME[re.sub(_GAP, "", found["kind"])] if found else None
    part = found["ranks"] if found else said
    try:
        ranks = _ranks_of_range(part, kind, cards) or parse_ranks(part) or None
    except NotationError:
        kinds = ", ".join(f"{name.en} {name.zh}" for name in COMBO_NAMES.values())
        raise QuestionError(
            f'no play can be declared as "{printable_text(text)}": write ranks, such as 34567, '
            f"or one of {kinds}",
            f"不能说明为“{printable_text(text)}”：请写点数，如 34567，或写下列牌型之一："
            f"{'、'.join(name.zh for name in COMBO_NAMES.values())}",
        ) from None
    if kind is None and ranks is None:
        raise QuestionError(
            "the declaration is empty: name a kind or ranks, such as plate or 34567",
            "没有说明内容：请写牌型或点数，如 钢板 或 34567",
        )
    if ranks is not None and len(ranks) != cards:
        raise QuestionError(
            f'"{printable_text(text)}" names {len(ranks)} of {cards} cards: write the rank of '
            "each, such as 34567, or from which to which, such as 3-7",
            f"“{printable_text(text)}”说明了{len(ranks)}张，而这手牌有{cards}张："
            "请逐张写出点数，如 34567，或写从几到几，如 3-7",
        )
    return ComboDeclaration(kind, ranks)


def _ranks_of_range(part: str, kind: ComboKind | None, cards: int) -> tuple[int, ...] | None:
    """Return one rank for each card of the range `part`, such as "3-7", or None for other text.

    A range with two equal ends counts as other text. `kind` and `cards`, the number of cards in the
    play, decide how often each rank occurs.
    """
    ends = _ENDS_PATTERN.fullmatch(part)
    if ends is None:
        return None
    (low,), (high,) = parse_ranks(ends["low"]), parse_ranks(ends["high"])
    if low == high:
        return None
    if low == ACE and high < ACE:
        low = _LOW_ACE
    row = range(min(low, high), max(low, high) + 1)
    each = _CARDS_PER_RANK.get(kind, 1) if kind else cards // len(row) or 1
    return tuple(ACE if rank == _LOW_ACE else rank for rank in row for _ in range(each))
