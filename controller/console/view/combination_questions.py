"""Answers about played cards and about the number of cards in a hand, without a table query.

The questions are which combination a play is, and how many cards a seat must hold. The judge of
combinations belongs to the rulebook (controller/rules/combos). No table publishes its hands, so a
person who sees the cards enters them. How many cards a seat must hold follows from the public state
of the deal.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from controller.messages import PublicMatch, Seat
from controller.rules.combos.big_two_combos import BIG_TWO_KIND_NAMES as BIG_TWO_KINDS
from controller.rules.combos.combo_judge import judge_contained_kinds, judge_play
from controller.rules.combos.guandan_combos import COMBO_NAMES, SEQUENCE_KINDS
from controller.rules.combos.play_notation import parse_typed_level
from controller.rules.combos.play_ruling import ContainedKinds, PlayRuling
from controller.rules.profile import BigTwoProfile, Profile
from controller.seats import SEATS

CardsText = Annotated[str, Meta(max_length=1_000)]
"""Cards as text. A whole set is shorter.

Every viewer may ask, and all others wait for the answer, so the length is limited.
"""


class PlayedCards(msgspec.Struct, frozen=True, kw_only=True):
    """The cards of one play, as a person entered them.

    `declared`: the combination that its player named.
    """

    cards: CardsText
    declared: CardsText | None = None


class CombinationQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question: whether a play is legal, or which kinds of combinations its cards can form.

    `on`: the play to beat, or None for a lead. `contained`: the question is which kinds the cards
    can form. `level`: 2 … A, or None in Big Two. Source: seed 000 A16.3.1.
    """

    profile: str
    level: str | None = None
    play: PlayedCards
    on: PlayedCards | None = None
    contained: bool = False


class CombinationKindView(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A kind of card combination, with its names in English and Chinese.

    `ranked`: a player who declares it also names its ranks.
    """

    kind: str
    en: str
    zh: str
    ranked: bool


class CardsDue(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The number of cards that a player must have in hand before the first lead.

    `or_one_less`: one card less is right too, because the tribute may be on the table already.
    """

    seat: Seat
    cards: int
    or_one_less: bool = False


def judge_question(profile: Profile, question: CombinationQuestion) -> PlayRuling | ContainedKinds:
    """Return a rulebook's answer to a question about played cards. Raises QuestionError."""
    level = None if question.level is None else parse_typed_level(question.level)
    if question.contained:
        return judge_contained_kinds(profile, level, question.play.cards)
    on = question.on
    return judge_play(
        profile,
        level,
        question.play.cards,
        None if on is None else on.cards,
        question.play.declared or None,
        (on.declared or None) if on else None,
    )


def list_combination_kinds(profile: Profile) -> list[CombinationKindView]:
    """Return all kinds of combinations that a rulebook has."""
    big_two = isinstance(profile, BigTwoProfile)
    names = BIG_TWO_KINDS.items() if big_two else COMBO_NAMES.items()
    return [
        CombinationKindView(
            kind=kind, en=name.en, zh=name.zh, ranked=not big_two and kind in SEQUENCE_KINDS
        )
        for kind, name in names
    ]


def cards_due(match: PublicMatch, hand: int) -> tuple[CardsDue, ...]:
    """Return how many cards each seat must have at the first lead, if each was dealt `hand` cards.

    A seat that paid tribute and has no return yet must have one card less, and the receiver one
    more. Until all payments are known, a card on the table may be counted or not.
    Source: seed 000 A5.2.
    """
    cards: dict[Seat, int] = dict.fromkeys(SEATS, hand)
    laid: Sequence[Seat] = ()
    exchange = match.tribute
    if exchange is not None and not exchange.anti:
        passed = [(one.giver, one.to) for one in exchange.payments]
        passed += [(one.giver, one.to) for one in exchange.returns if one.giver in exchange.given]
        for giver, to in passed:
            cards[giver] -= 1
            cards[to] += 1
        laid = () if exchange.payments else exchange.laid
    return tuple(
        CardsDue(seat=seat, cards=number, or_one_less=seat in laid)
        for seat, number in cards.items()
    )
