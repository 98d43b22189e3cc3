"""The rules that a ruling on combinations depends on, with their articles in each rulebook.

If the rulebook of a profile does not state a rule, the rule is cited from a rulebook that states
it, and is provisional. A rule that no rulebook states is also provisional.
"""

import msgspec

from controller.rules.profile import Profile
from controller.rules.ranks import rank_text

_FULL_RULEBOOK = "000"
_UNDECLARED_KEY = "conduct.undeclared"


class ComboRule(msgspec.Struct, frozen=True, gc=False):
    """A rule about combinations in both languages, with its article in each rulebook.

    `article_000` is the article in seeds 000 and 001. An article is None if the rulebook does not
    state the rule. `similar_article`: the article from which a proposed rule is derived. `key`: the
    key of the profile by which an event may change the rule. `is_about_notation`: the text states
    how the question was interpreted, and is not a rule of the game. "{level}" in the texts is
    replaced by the level played.
    """

    en: str
    zh: str
    article_000: str | None
    article_003: str | None = None
    article_004: str | None = None
    similar_article: str | None = None
    key: str | None = None
    is_about_notation: bool = False


class CitedRule(msgspec.Struct, frozen=True, gc=False):
    """A rule that a ruling gives as its reason, with the article of the requested profile.

    `provisional`: the rulebook of the profile does not state the rule.
    """

    rule: str
    en: str
    zh: str
    article: str
    provisional: bool = False


COMBO_RULES: dict[str, ComboRule] = {
    "single": ComboRule("any one card", "任意一张牌", "A4.1", "R1", "CN3"),
    "pair": ComboRule("two cards of one rank", "两张牌点相同的牌", "A4.2", "R1", "CN3"),
    "triple": ComboRule("three cards of one rank", "三张牌点相同的牌", "A4.4", "R1", "CN3"),
    "full_house": ComboRule("a triple with a pair", "三同张带一对", "A4.6", "R1", "CN3"),
    "straight": ComboRule(
        "exactly five in sequence, A2345 to 10JQKA",
        "五张且只能五张相连的单张，从A2345到10JQKA",
        "A4.7",
        "R1",
        "CN3",
    ),
    "tube": ComboRule(
        "exactly three pairs in sequence", "三对且只能三对相连的牌", "A4.3", "R1", "CN3"
    ),
    "plate": ComboRule(
        "exactly two triples in sequence", "两个且只能两个相连的三同张", "A4.5", "R1", "CN3"
    ),
    "bomb": ComboRule(
        "four or more of one rank", "四张或四张以上牌点相同的牌", "A4.8", "R1", "CN3"
    ),
    "straight_flush": ComboRule(
        "five in sequence of one suit", "五张相连、花色相同的顺子", "A4.9", "R1", "CN3"
    ),
    "joker_bomb": ComboRule("all four jokers", "大小王各两张", "A4.10", "R1", "CN3"),
    "long_bomb": ComboRule(
        "a bomb may have nine or ten cards with wild cards",
        "配红心级牌的炸弹可有九张、十张",
        None,
        similar_article="A4.8",
    ),
    "joker_pair": ComboRule(
        "the pair of a full house may be two equal jokers",
        "三带对可带一对大王或一对小王",
        None,
        similar_article="A4.6",
    ),
    "wild": ComboRule(
        "a heart of the level stands for any card but a joker",
        "红心级牌可配大小王以外的任意牌",
        "A7.2",
        "R3",
        "CN4",
    ),
    "wild_alone": ComboRule(
        "wild cards alone are level cards",
        "只有红心级牌时，按级牌本身计",
        "A7.1",
        None,
        None,
    ),
    "natural_place": ComboRule(
        "in sequences a level card has its natural place",
        "级牌在相连的牌中按自然顺序",
        "A7.3.1",
        None,
        "EN-III",
    ),
    "declare": ComboRule(
        "what a wild card stands for had to be declared at once",
        "红心级牌配成何种牌型，须在打出后立即说明",
        "A7.3.2",
    ),
    "declared": ComboRule("it counts as declared", "按说明计", "A7.2"),
    "declared_lower": ComboRule(
        "a lower class counts where it is declared at once",
        "即时说明为较小牌型的，按说明计",
        None,
        similar_article="A7.2",
    ),
    "declared_plain": ComboRule(
        "five of one suit in sequence count as a plain straight where they are declared so",
        "同花顺即时说明为顺子的，按顺子计",
        None,
        similar_article="A4.7",
    ),
    "not_as_declared": ComboRule(
        "the cards cannot be what was declared", "所出的牌不能成为所说明的牌型", "A7.2"
    ),
    "undeclared_triple": ComboRule(
        "undeclared, two pairs and a wild card are the higher triple",
        "未说明时，两对加红心级牌算大的三张带对",
        "A7.2.2",
        key=_UNDECLARED_KEY,
    ),
    "undeclared_high": ComboRule(
        "undeclared, a sequence counts at its higher end",
        "未说明时，相连的牌算大点",
        None,
        key=_UNDECLARED_KEY,
    ),
    "undeclared_tube": ComboRule(
        "undeclared, a tube goes before a plate",
        "未说明时，先算三连对，不算三同连张",
        None,
        key=_UNDECLARED_KEY,
    ),
    "undeclared_follows": ComboRule(
        "an undeclared play counts as the kind on the table",
        "未说明时，按台面上的牌型计",
        None,
        similar_article="A6.1",
        key=_UNDECLARED_KEY,
    ),
    "undeclared_class": ComboRule(
        "undeclared, the higher class counts",
        "未说明时，按大的牌型计",
        None,
        similar_article="A7.2",
        key=_UNDECLARED_KEY,
    ),
    "bare_suits": ComboRule(
        "written without suits: taken to be of mixed suits",
        "未写花色，按杂花计",
        None,
        is_about_notation=True,
    ),
    "bare_level": ComboRule(
        "{level} without a suit: taken not to be ♥{level}",
        "{level}未写花色，不当作♥{level}",
        None,
        is_about_notation=True,
    ),
    "no_type": ComboRule("these cards are no combination", "不是合理牌型", "A4", "R1", "CN3"),
    "wild_no_joker": ComboRule(
        "a wild card never stands for a joker",
        "红心级牌不可配大小王",
        "A7.2",
        "R1",
        "CN4",
    ),
    "unlike_jokers": ComboRule(
        "a pair of jokers is two big or two small ones",
        "大王和小王牌点不同，不成对子",
        "A4.2",
        "R1",
        "CN3",
    ),
    "straight_wraps": ComboRule(
        "a straight never goes past the A: A2345 and 10JQKA are its ends",
        "顺子不得跨越A，如JQKA2",
        "A4.7",
        "R1",
        "CN3",
    ),
    "straight_length": ComboRule(
        "a straight is exactly five cards", "顺子必须且只能五张", "A4.7", "R1", "CN3"
    ),
    "tube_wraps": ComboRule(
        "a tube never goes past the A: AA2233 and QQKKAA are its ends",
        "三连对不得跨越A，如KKAA22",
        "A4.3",
        "R1",
    ),
    "tube_length": ComboRule(
        "pairs in sequence are exactly three", "三连对必须且只能三对", "A4.3", "R1", "CN3"
    ),
    "plate_length": ComboRule(
        "triples in sequence are exactly two", "三同连张不可三个或以上", "A4.5", "R1", "CN3"
    ),
    "triple_with": ComboRule(
        "a triple takes a pair, neither a single nor two different cards",
        "三同张不可以带一张牌，也不可以带二张牌点不同的牌",
        "A4.6",
        "R1",
        "CN3",
    ),
    "contained": ComboRule(
        "the leader of a wrong play leads one of its kinds, named by the left-hand neighbour",
        "领出牌出错，由其左手方选手指定重新出这手牌中的某一牌型",
        "A16.3.1",
    ),
    "table_no_type": ComboRule(
        "the play on the table is no combination", "台面的牌不是合理牌型", "A16.3"
    ),
    "lead": ComboRule("any combination may be led", "领出牌可以出任意合理牌型", "A6.1"),
    "same_kind": ComboRule(
        "an ordinary combination is beaten by a greater one of its own kind or by a bomb",
        "须按照相同牌型压牌，也可以出炸弹",
        "A6.1",
        "R2",
        "CN3",
    ),
    "greater": ComboRule(
        "a play must be greater than the one before: an equal one does not beat it",
        "下一家出的牌必须大于上一家出的牌，同大不能压",
        "A6.1",
        "R2",
        "CN3",
    ),
    "by_rank": ComboRule(
        "big joker, small joker, level card, A, K … 2; suits do not count",
        "大王、小王、级牌、A、K……2，不分花色",
        "A8.1",
        "R3",
        "CN4",
    ),
    "by_level": ComboRule(
        "a level card ranks between the small joker and A, whatever its suit",
        "级牌小于小王、大于A，不分花色",
        "A8.1",
        "R3",
    ),
    "by_triple": ComboRule(
        "in a full house the triple decides", "三带对仅比较三同张的大小", "A8.3", "R2", "CN3"
    ),
    "by_top": ComboRule(
        "sequences compare by their highest card in natural order",
        "相连的牌按自然顺序的最大牌点比较",
        "A8.2",
        "R2",
        "CN3",
    ),
    "by_top_group": ComboRule(
        "sequences compare by their highest group in natural order",
        "相连的牌按自然顺序的最大牌点比较",
        "A8.2",
        "R2",
    ),
    "bomb_over_all": ComboRule(
        "a bomb beats every ordinary combination", "炸弹可压一般牌型", "A8.4", "R2", "CN3"
    ),
    "flush_over_all": ComboRule(
        "a straight flush beats every ordinary combination",
        "同花顺可压一般牌型",
        "A8.5",
        "R2",
        "CN3",
    ),
    "more_cards": ComboRule(
        "a bomb of more cards beats one of fewer", "张数多的炸弹压张数少的炸弹", "A8.4", "R2", "CN3"
    ),
    "bomb_rank": ComboRule(
        "bombs of as many cards compare by rank",
        "张数相同的炸弹按牌点确定大小",
        "A8.4",
        "R2",
        "CN3",
    ),
    "flush_over_bomb": ComboRule(
        "a straight flush beats bombs of up to five cards",
        "同花顺可压五张（含五张）以下的炸弹",
        "A8.5",
        "R2",
        "CN3",
    ),
    "flush_rank": ComboRule(
        "straight flushes compare by rank, whatever their suits",
        "同花顺按牌点确定大小，不分花色",
        "A8.5",
        "R2",
        "CN3",
    ),
    "bomb_over_flush": ComboRule(
        "a bomb of six or more cards beats a straight flush",
        "六张及以上的炸弹可压同花顺",
        "A8.6",
        "R2",
        "CN3",
    ),
    "jokers_over_all": ComboRule(
        "four jokers beat everything", "四大天王可压所有的牌", "A8.7", "R1", "CN3"
    ),
}
"""Every rule by its key. The kinds of combination are among the keys."""


def cite_rule(rule: str, profile: Profile, level: int) -> CitedRule:
    """Return the rule named `rule`, with its article in the rulebook of `profile`.

    If the regulations of the event settle the rule, their title replaces the article. `level`: a
    natural rank. Raises KeyError for an unknown rule.
    """
    stated, seed = COMBO_RULES[rule], profile.text
    en, zh = (words.replace("{level}", rank_text(level)) for words in (stated.en, stated.zh))
    if stated.is_about_notation:
        return CitedRule(rule, en, zh, "as written")
    if profile.event and stated.key in profile.event.settled:
        return CitedRule(rule, en, zh, profile.event.title_en)
    own = {"003": stated.article_003, "004": stated.article_004}.get(seed, stated.article_000)
    if own is not None:
        return CitedRule(rule, en, zh, f"{seed} {own}")
    elsewhere = stated.article_000 or stated.similar_article
    article = f"{_FULL_RULEBOOK} {elsewhere} (provisional)" if elsewhere else "provisional"
    return CitedRule(rule, en, zh, article, provisional=True)
