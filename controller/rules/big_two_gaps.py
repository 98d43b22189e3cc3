"""Questions that seed 002 leaves open, in whole sentences for the regulations page.

If a profile key fills a gap for now (provisional), the gap names that key.
"""

import msgspec


class BigTwoGap(msgspec.Struct, frozen=True, gc=False):
    """A rule that the rulebook does not give.

    `article`: its expected place, or the unclear article. `key`: the profile key that holds a
    provisional value, or None if there is none. `left_to_event`: only the regulations of the
    event can fill the gap.
    """

    name: str
    article: str
    key: str | None
    en: str
    zh: str
    left_to_event: bool = False


BIG_TWO_GAPS: tuple[BigTwoGap, ...] = (
    BigTwoGap(
        "practice",
        "002 A2, A3, A13",
        None,
        "Approved software and the same deals at several tables are required: a table that "
        "deals by itself is for practice, and matchpoints need duplicated deals.",
        "规则要求认可的竞技软件和复式赛制：自动发牌桌仅供练习，MP计分须各桌打相同的牌。",
    ),
    BigTwoGap(
        "swiss_movement",
        "002 A13, App3",
        None,
        "Appendix 3 (the Swiss movement) is not in the source: who moves where after a round "
        "is for the regulations to say.",
        "附录三（瑞士移位法）原文缺失：每轮后的移位由补充规定确定。",
        left_to_event=True,
    ),
    BigTwoGap(
        "against_machine",
        "002 A13",
        None,
        "Events against software are named, but nothing more is said: not supported.",
        "人机赛仅有名称，无具体规定：不支持。",
    ),
    BigTwoGap(
        "pairs",
        "002 A2, A7, A13",
        None,
        "Four individuals, or pair against pair: how two players' scores become a pair's is "
        'not said, and A7 speaks of "the other two". Everybody scores for himself.',
        "个人计分还是两人一对未统一，一对的成绩如何合成未写，第七条又称“另外两家”：暂按个人计分。",
    ),
    BigTwoGap(
        "twos_in_straights",
        "002 A8.4",
        "bigtwo.combos.two_in_straights",
        "Whether a 2 may stand in a straight behind no ace (23456) is not said.",
        "2能否在没有A的顺子中（23456）未写明。",
    ),
    BigTwoGap(
        "rank_of_straights",
        "002 A8.4, A9.4",
        "bigtwo.combos.straights_by",
        "How A2345 and 23456 rank among straights is not said.",
        "A2345与23456在顺子中的大小未写明。",
    ),
    BigTwoGap(
        "highest_of_full_house",
        "002 A9.4",
        "bigtwo.combos.full_house_by",
        "Which card of a full house is compared is not said: the triple is, since the pair is "
        "only carried with it (A8.6).",
        "葫芦比较哪一张未写明：暂比三张，对子只是所带的牌。",
    ),
    BigTwoGap(
        "highest_of_four_one",
        "002 A9.4",
        "bigtwo.combos.four_one_by",
        "Which card of four and one is compared is not said: the four are.",
        "铁枝比较哪一张未写明：暂比四张。",
    ),
    BigTwoGap(
        "same_type",
        "002 A7, A9.4",
        "bigtwo.combos.five_cards",
        "A7 wants the same type to be followed, A9.4 ranks the five-card types against each "
        "other: they are one class here.",
        "第七条要求相同牌型，第九条又比较五张牌型的大小：暂视五张牌型为一类。",
    ),
    BigTwoGap(
        "last_card_pass",
        "002 A7",
        "bigtwo.last_card.may_pass",
        "Whether the player before a last card may pass a single that his largest beats is "
        'not said; "must play" is taken by the letter, on singles only.',
        "报单者上家有大牌时能否过牌未写明：暂按字面“必须出”，且只限于单牌。",
    ),
    BigTwoGap(
        "first_hand",
        "002 A4.2, A6",
        None,
        "Who the first hand is while hands are opened and doubled is not said: the holder of ♦3.",
        "明牌、加倍时的首家未写明：暂为持方块3者。",
    ),
    BigTwoGap(
        "card_points_8_and_10",
        "002 App1.1",
        "bigtwo.scoring.card_points",
        "The printed signs leave 8 and 10 cards out: 8 counts double by the example, 10 "
        "triple by the same pattern.",
        "印出的不等号漏掉8张与10张：8张按示例乘2，10张类推乘3。",
    ),
    BigTwoGap(
        "compared_with",
        "002 App2.1",
        "bigtwo.matchpoints.among",
        "Matchpoints compare the same seat; whether places are taken there or among all who "
        "played the deal is not said.",
        "MP分按同方位比较；名次在同方位内还是在打同一副牌的全体中排，未写明。",
    ),
    BigTwoGap(
        "place_x",
        "002 App2.1",
        "bigtwo.ranking_points.rest",
        "The factor of the places after the 4th is lost: half of two places above is a guess "
        "that fits the first four.",
        "第四名以后的系数原文缺失：暂取前两名次系数之半，与前四名相符。",
    ),
    BigTwoGap(
        "shared_places",
        "002 App2.1, App2.3",
        "bigtwo.ranking_points.shared",
        "After two shared 1sts the rule names the 3rd, the example prints the 2nd: the rule "
        "is followed.",
        "并列第一之后，规则为第3名，示例印为第2名：从规则。",
    ),
    BigTwoGap(
        "rounding",
        "002 App2.1",
        None,
        "Two decimals are kept; how they are rounded is not said: halves up.",
        "保留两位小数，取舍方法未写明：暂四舍五入。",
    ),
    BigTwoGap(
        "beaten_opponents",
        "002 App2.2(1)",
        None,
        "How one beaten in two rounds counts, and one who beat nobody, is not said: once a "
        "round, and an average of 0.",
        "两轮所胜同一对手、以及未胜任何对手者如何计算未写明：暂每轮计一次，未胜者平均为0。",
    ),
    BigTwoGap(
        "round_result",
        "002 App2.2(2)",
        None,
        "What a round's result is ranked by is not said: the sum of its ranking points, among all.",
        "单轮成绩按什么排名未写明：暂按该轮排名分之和，在全体中排。",
    ),
    BigTwoGap(
        "playing_time",
        "002 App2.2(3)–(4)",
        None,
        "A table does not measure who thinks how long: without times these tie-breaks are "
        "passed over.",
        "牌桌不记录各人的出牌用时：没有用时数据时跳过这两项。",
    ),
    BigTwoGap(
        "matches_and_rounds",
        "002 A4.11, A13",
        None,
        "How many matches make a round, and how many rounds are played, is for the regulations.",
        "每轮几局、共赛几轮，由补充规定确定。",
        left_to_event=True,
    ),
    BigTwoGap(
        "play_clock",
        "002 A6, App2.2",
        None,
        "No limit for a play is given, nor one for coming late.",
        "出牌时限与迟到处理均未规定。",
    ),
    BigTwoGap(
        "penalties",
        "002 A15, A17",
        None,
        "Conduct is laid down, penalties are not: the referee rules by the regulations.",
        "只有行为准则，没有罚则：裁判员按补充规定处理。",
        left_to_event=True,
    ),
    BigTwoGap(
        "corrections",
        "002 A11, A15",
        None,
        "The software keeps the score there: a practice table corrects no result and records "
        "no ruling, the referees do that beside it.",
        "原规则由软件记分：练习桌不更正成绩、不记录判罚，由裁判员另行处理。",
    ),
    BigTwoGap(
        "appeal_fee",
        "002 A19.3",
        None,
        "The fee of an appeal is for the regulations.",
        "申诉费由补充规定确定。",
        left_to_event=True,
    ),
)
