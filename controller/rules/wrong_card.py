"""The remedy for a wrong tribute (贡错牌) or a wrong return (还错牌).

Before the first lead a wrong card is corrected. After play has begun, a wrong tribute costs the
rest of the hand (seed 000 A18.3–4). This module only proposes a remedy. A referee or the chief
decides.
"""

from typing import Literal

import msgspec

from controller.rules.profile import GuandanProfile

WrongCardKind = Literal["tribute", "return"]
RemedyAction = Literal["corrected", "dead_hand", "stands"]


class WrongCardRemedy(msgspec.Struct, frozen=True, gc=False):
    """The proposed remedy after a person has found a wrong card.

    `dead_hand`: the offender's cards are laid face down, the others continue, and the offender
    counts as LAST (deal_result.finish_with_dead_hands). `needs`: the role that decides. `article`:
    None if `key` is provisional.
    """

    action: RemedyAction
    penalty: Literal["warning", "none"]
    needs: Literal["referee", "chief"]
    text_en: str
    text_zh: str
    key: str
    article: str | None


def remedy_for_wrong_card(
    profile: GuandanProfile, kind: WrongCardKind, in_play: bool
) -> WrongCardRemedy:
    """Return the remedy for a wrong card that was found before the first lead or `in_play`.

    A wrong return that is found in play remains valid, with a warning. This is provisional: no seed
    has a rule for this case, so the chief has discretion (seed 000 A15.3.7, A18).
    """
    rules = profile.penalties
    if not in_play:
        return _remedy(profile, rules.wrong_card_before_play, "penalties.wrong_card_before_play")
    if kind == "tribute":
        return _remedy(profile, rules.wrong_tribute_in_play, "penalties.wrong_tribute_in_play")
    return _remedy(profile, rules.wrong_return_in_play, "penalties.wrong_return_in_play")


_REMEDIES: dict[
    RemedyAction, tuple[Literal["warning", "none"], Literal["referee", "chief"], str, str]
] = {
    "corrected": (
        "warning",
        "referee",
        "the cards go back and the right one is given; oral warning",
        "立即纠正，口头警告一次",
    ),
    "dead_hand": (
        "none",
        "chief",
        "the payer's cards are dead and laid face down; the others play on, he counts as LAST",
        "该选手手中的牌全部作废，牌面向下扣在桌上，判为下游，其余选手继续",
    ),
    "stands": (
        "warning",
        "chief",
        "the return stands and play goes on; oral warning",
        "还牌有效，继续比赛，口头警告一次",
    ),
}


def _remedy(profile: GuandanProfile, action: RemedyAction, key: str) -> WrongCardRemedy:
    penalty, needs, text_en, text_zh = _REMEDIES[action]
    return WrongCardRemedy(action, penalty, needs, text_en, text_zh, key, profile.article(key))
