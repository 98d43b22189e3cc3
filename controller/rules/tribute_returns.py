"""Returns (还牌): the cards that may be given back for a tribute, their receivers, and wrong cards.

A verdict never goes further than the rulebook. If the rulebook has no rule, the verdict is only a
warning.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from controller.cards import Face, face_text
from controller.messages import Seat
from controller.rules.deal_result import FinishOrder
from controller.rules.guandan_tables import ReturnKind, ReturnVisibility
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import Level, is_joker, natural_rank, value_at_level
from controller.seats import partner

WrongCardKind = Literal["tribute", "return"]
RemedyAction = Literal["corrected", "dead_hand", "stands"]


class WrongCardRemedy(msgspec.Struct, frozen=True, gc=False):
    """The procedure that the program proposes after a person has found a wrong tribute or return.

    `dead_hand`: the offender's cards are laid face down, the others continue, and the offender
    counts as LAST (deal_result.finish_with_dead_hands). `needs`: the role that decides. `article`:
    None if `key` is provisional.
    """

    action: RemedyAction
    penalty: Literal["warning", "none"]
    needs: Literal["referee", "chief"]
    key: str
    article: str | None


def remedy_for_wrong_card(
    profile: GuandanProfile, kind: WrongCardKind, in_play: bool
) -> WrongCardRemedy:
    """Return the procedure after a wrong card was paid as tribute or given back.

    `in_play`: the wrong card was found after the first lead. A wrong return that is found in play
    remains valid, with a warning. This is provisional: no seed has a rule for this case, so the
    chief has discretion (seed 000 A15.3.7, A18).
    """
    name = f"wrong_{kind}_in_play" if in_play else "wrong_card_before_play"
    action: RemedyAction = getattr(profile.penalties, name)
    key = f"penalties.{name}"
    return WrongCardRemedy(action, *_REMEDIES[action], key, profile.article(key))


_REMEDIES: dict[RemedyAction, tuple[Literal["warning", "none"], Literal["referee", "chief"]]] = {
    "corrected": ("warning", "referee"),
    "dead_hand": ("none", "chief"),
    "stands": ("warning", "chief"),
}


MAX_LOW_RANK = 10

ReturnRule = ReturnKind
"""The rule for a return: "any" card, "ten" or less, or "ten_advised".

"ten" includes 10. "ten_advised" allows any card, with a warning above 10.
"""

ReturnState = Literal["right", "warn", "wrong"]


class ReturnError(ValueError):
    """The error for a hand that lacks the received tribute or the returned card.

    Its text is one line.
    """


class ReturnVerdict(msgspec.Struct, frozen=True, gc=False):
    """The verdict whether a returned card is allowed. `article` is None if `key` is provisional."""

    state: ReturnState
    why_en: str
    why_zh: str
    key: str
    article: str | None


def _key_of_return(giver: Seat, to: Seat, *, double: bool) -> str:
    if to == partner(giver):
        return "tribute.return_partner"
    return "tribute.return_double" if double else "tribute.return_opponent"


def return_rule(profile: GuandanProfile, finish: FinishOrder, giver: Seat, to: Seat) -> ReturnRule:
    """Return the rule on the cards that `giver` may give back to `to` after the result `finish`.

    `finish`: the finish order of the deal before. The rule is any card, 10 or less (含10), or any
    card with a warning above 10. A return to the giver's own partner happens after R14 (seed 000
    A10.1).
    """
    return return_rule_between(profile, giver, to, double=finish.last is None)


def return_rule_between(
    profile: GuandanProfile, giver: Seat, to: Seat, *, double: bool
) -> ReturnRule:
    """Return the rule on the cards that `giver` may give back to `to` after one or two tributes.

    `double`: True if two tributes were paid, False if only one was paid.
    """
    name = _key_of_return(giver, to, double=double).removeprefix("tribute.")
    rule: ReturnRule = getattr(profile.tribute, name)
    return rule


def return_visibility(profile: GuandanProfile, finish: FinishOrder) -> ReturnVisibility:
    """Return how the returned cards are shown to the people at the table.

    They are shown openly, together when both are there, or never (暗还).
    """
    rules = profile.tribute
    return rules.returns_double if finish.last is None else rules.returns_single


def undisputed_returns(
    profile: GuandanProfile,
    hand: Sequence[Face],
    level: Level,
    rule: ReturnRule,
    received: Face | None = None,
) -> frozenset[Face]:
    """Return the faces that may be given back in every interpretation of the words of `rule`.

    The result is never empty. `hand` includes the received card, and `received` is that card. If 10
    or less is due, level cards are left out while there are other cards, because level cards rank
    above A. A hand without any card of 10 or less returns its smallest card. Both rules are
    provisional. Raises ReturnError if the received card is not in the hand.
    """
    own = list(hand)
    if received is not None and not profile.tribute.return_received:
        if received not in own:
            raise ReturnError(f"{face_text(received)} was received, but is not in the hand")
        own.remove(received)
    everything = frozenset(own)
    if rule == "any":
        return everything
    low = frozenset(face for face in everything if _is_low(face))
    undoubted = frozenset(face for face in low if not _is_doubtful(profile, face, level))
    if low:
        return undoubted or low
    if rule == "ten_advised":
        return everything
    least = min(value_at_level(face, level) for face in everything)
    return frozenset(face for face in everything if value_at_level(face, level) == least)


def judge_return(
    profile: GuandanProfile,
    finish: FinishOrder,
    giver: Seat,
    to: Seat,
    card: Face,
    level: Level,
    hand: Sequence[Face] | None = None,
    received: Face | None = None,
) -> ReturnVerdict:
    """Return the verdict of the rulebook on `card`, which `giver` gives back to `to`.

    `hand`: the cards of `giver` before the return, with the received card and the returned card.
    Without `hand`, a card above 10 is judged as if the giver had a smaller card. Raises ReturnError
    if the card is not in the hand.
    """
    if hand is not None and card not in hand:
        raise ReturnError(f"{face_text(card)} was returned, but is not in the hand")
    rule = return_rule(profile, finish, giver, to)
    reason = _return_reason(profile, rule, card, level, hand, received)
    state, key, why_en, why_zh = _REASONS[reason]
    key = key or _key_of_return(giver, to, double=finish.last is None)
    words = {"card": face_text(card)}
    return ReturnVerdict(
        state, why_en.format(**words), why_zh.format(**words), key, profile.article(key)
    )


_REASONS: dict[str, tuple[ReturnState, str | None, str, str]] = {
    "any": ("right", None, "any card may be returned", "可还任意牌"),
    "ten": ("right", None, "{card} is 10 or less", "{card}为10以下（含10）的牌"),
    "smallest": (
        "right",
        "tribute.return_if_none",
        "without a card of 10 or less the smallest goes back: {card}",
        "手中无10以下（含10）的牌，还最小的牌{card}",
    ),
    "received": (
        "warn",
        "tribute.return_received",
        "{card} is the card that was received: no rulebook decides whether it may go back",
        "{card}是刚收到的贡牌，规则未载可否还回",
    ),
    "level_card": (
        "warn",
        "tribute.return_level_card",
        "{card} is a level card and counts above A: no rulebook decides whether it may go back",
        "{card}是级牌，大于A，规则未载可否作为10以下的牌还出",
    ),
    "advised": (
        "warn",
        None,
        "{card} is above 10: the rulebook asks for 10 or less and for any card",
        "{card}大于10：规则一处写任意牌，一处写10以下",
    ),
    "above_ten": (
        "wrong",
        None,
        "{card} is above 10: 10 or less has to be returned",
        "还错牌：{card}大于10，须还10以下（含10）的牌",
    ),
    "not_smallest": (
        "wrong",
        "tribute.return_if_none",
        "{card} is above 10, and not the smallest card of a hand without 10 or less",
        "还错牌：手中无10以下（含10）的牌时须还最小的牌，{card}不是最小的牌",
    ),
}
"""State, key (None: the rule of this return), and the reason in English and Chinese."""


def _return_reason(
    profile: GuandanProfile,
    rule: ReturnRule,
    card: Face,
    level: Level,
    hand: Sequence[Face] | None,
    received: Face | None,
) -> str:
    held = None if hand is None else list(hand)
    sent_back = (
        held is not None
        and card == received
        and held.count(card) == 1
        and not profile.tribute.return_received
    )
    undoubted = held is not None and card in undisputed_returns(
        profile, held, level, rule, received
    )
    if rule == "ten" and not _is_low(card):
        if undoubted:
            return "smallest"
        if held is None or any(map(_is_low, held)):
            return "above_ten"
        return "not_smallest"
    if sent_back:
        return "received"
    if rule == "any":
        return "any"
    if not _is_low(card):
        return "advised"
    return "level_card" if _is_doubtful(profile, card, level) and not undoubted else "ten"


def _is_low(face: Face) -> bool:
    return not is_joker(face) and natural_rank(face) <= MAX_LOW_RANK


def _is_doubtful(profile: GuandanProfile, face: Face, level: Level) -> bool:
    return natural_rank(face) == level and profile.tribute.return_level_card == "warn"
