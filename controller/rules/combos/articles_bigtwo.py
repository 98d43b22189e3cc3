"""The rules that a ruling in Big Two rests on, and where its rulebook or an event has them."""

import msgspec

from controller.cards import face_text
from controller.rules.bigtwo.combos import BIG_TWO_KIND_NAMES, FIVE_CARD_KINDS, BigTwoKind
from controller.rules.combos.articles import CitedRule
from controller.rules.profile import BigTwoProfile

_SUIT_NEXT = ", then by its suit"
_SUIT_NEXT_ZH = "，相同比花色"


class _BigTwoRule(msgspec.Struct, frozen=True, gc=False):
    """A rule in both languages with its article; `key`: the profile's rule that it follows."""

    en: str
    zh: str
    article: str
    key: str | None = None


_BIG_TWO_RULES = {
    "no_type": _BigTwoRule("these cards are no combination", "不是合理牌型", "A8"),
    "table_no_type": _BigTwoRule(
        "what lies on the table is no combination", "台面的牌不是合理牌型", "A8"
    ),
    "lead": _BigTwoRule("any combination may be led", "引牌可以出任意牌型", "A7"),
    "first_lead": _BigTwoRule(
        "any combination may be led, but the first play of a deal holds {holder}",
        "引牌可以出任意牌型，但一副牌首次出牌须含{holder}",
        "A7",
        "bigtwo.lead.must_include",
    ),
    "same_kind": _BigTwoRule(
        "a play follows its own kind and number of cards",
        "须按照相同牌型、相同张数盖牌",
        "A7, A9.3",
    ),
    "same_kind_of_five": _BigTwoRule(
        "five cards follow five of the same kind",
        "五张牌须按照相同牌型盖牌",
        "A7",
        "bigtwo.combos.five_cards",
    ),
    "by_card": _BigTwoRule(
        "the 2 is highest, then A, K … 3; equal ranks by suit ♠ ♥ ♣ ♦",
        "2最大，其次A、K……3；点数相同比花色，黑桃>红桃>梅花>方块",
        "A9.1–3",
    ),
    "by_highest": _BigTwoRule(
        f"flushes compare by their highest card{_SUIT_NEXT}",
        f"同花以最大牌张点数比较{_SUIT_NEXT_ZH}",
        "A9.4",
    ),
    "by_kind": _BigTwoRule(
        "straight flush, four and one, full house, flush, straight: in this order",
        "同花顺>铁枝>葫芦>同花>顺子",
        "A9.4",
        "bigtwo.combos.five_cards",
    ),
    "greater": _BigTwoRule(
        "a play must be higher than the one before", "盖牌必须大于台面的牌", "A7"
    ),
}
_RULES_BY_KEY = {
    "straights_by": {
        "natural": ("straights compare by their last card, A2345 lowest", "顺子以末张比较"),
        "singles": (
            "straights compare by their highest card, a 2 above an A",
            "顺子以最大单张比较",
        ),
    },
    "full_house_by": {
        "triple": ("full houses compare by the triple", "葫芦以三张比较"),
        "highest_card": ("full houses compare by their highest card", "葫芦以最大牌张比较"),
    },
    "four_one_by": {
        "four": ("four and one compare by the four", "铁枝以四张比较"),
        "highest_card": ("four and one compare by their highest card", "铁枝以最大牌张比较"),
    },
}
"""What a profile's key says of the card that decides within a kind of five."""

_KEY_OF_KIND: dict[BigTwoKind, str] = {
    "straight": "straights_by",
    "straight_flush": "straights_by",
    "full_house": "full_house_by",
    "four_one": "four_one_by",
}


def cite_big_two_rule(rule: str, profile: BigTwoProfile) -> CitedRule:
    """Return a rule as `profile` has it. Raises KeyError for unknown names."""
    return _cite(rule, _BIG_TWO_RULES[rule], profile)


def cite_kind(name: BigTwoKind) -> CitedRule:
    """Return the rule that makes a play of that kind."""
    return CitedRule(
        name,
        BIG_TWO_KIND_NAMES[name].en,
        BIG_TWO_KIND_NAMES[name].zh,
        BIG_TWO_KIND_NAMES[name].article,
    )


def cite_lead_rule(profile: BigTwoProfile) -> CitedRule:
    """Return what may be led: the first play of a deal may have to hold a card (seed 002 A7)."""
    return cite_big_two_rule("first_lead" if profile.bigtwo.lead.must_include else "lead", profile)


def cite_deciding_rule(kind: BigTwoKind, profile: BigTwoProfile) -> CitedRule:
    """Return the rule by which two plays of one kind compare."""
    if kind not in _KEY_OF_KIND:
        return cite_big_two_rule("by_highest" if kind in FIVE_CARD_KINDS else "by_card", profile)
    key = _KEY_OF_KIND[kind]
    en, zh = _RULES_BY_KEY[key][getattr(profile.bigtwo.combos, key)]
    stated = _BigTwoRule(en + _SUIT_NEXT, zh + _SUIT_NEXT_ZH, "A9.4", f"bigtwo.combos.{key}")
    return _cite("by_highest", stated, profile)


def _cite(rule: str, stated: _BigTwoRule, profile: BigTwoProfile) -> CitedRule:
    holder = face_text(profile.bigtwo.lead.face())
    en, zh = (words.replace("{holder}", holder) for words in (stated.en, stated.zh))
    if profile.event and stated.key in profile.event.settled:
        return CitedRule(rule, en, zh, profile.event.title_en)
    article = f"{profile.text} {stated.article}"
    if stated.key is not None and profile.article(stated.key) is None:
        return CitedRule(rule, en, zh, f"{article} (provisional)", provisional=True)
    return CitedRule(rule, en, zh, article)
