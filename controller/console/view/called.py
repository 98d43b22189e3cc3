"""What seats, sides, roles and commands are called, in both languages of a hall.

The Chinese is referees' own (REFEREE 3.6): 放行 hands out, 一套牌 is a set, 副 a deal.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from controller.cards import face_text, parse_face
from controller.rules.seat_words import SEATS, SIDES
from controller.rules.words import Words

__all__ = [
    "BOARDS",
    "CHOICES",
    "CLASSES",
    "COMMANDS",
    "PENALTIES",
    "PLACES",
    "ROLES",
    "SEATS",
    "SIDES",
    "by_words",
    "card",
    "of",
    "several",
]

ROLES: Final[Mapping[str, Words]] = {
    "observer": Words("observer", "观摩"),
    "table": Words("the table", "台显"),
    "referee": Words("referee", "裁判员"),
    "chief": Words("chief referee", "裁判长"),
    "technician": Words("technician", "技术员"),
}
BOARDS: Final[Mapping[str, Words]] = {
    "dealer": Words("dealer board", "发牌板"),
    "reader": Words("reader board", "识牌板"),
}
CHOICES: Final[Mapping[str, Words]] = {
    "from_now": Words("levels are right from now on", "从现在起按更正后的级数"),
    "void_later": Words("the later deals are void", "其后各副作废"),
    "stand": Words("it stands as it was", "维持原成绩"),
}
PLACES: Final = (
    Words("UP", "上游"),
    Words("2ND", "二游"),
    Words("3RD", "三游"),
    Words("LAST", "下游"),
)
CLASSES: Final[Mapping[str, Words]] = {
    "R12": Words("R12", "双下"),
    "R13": Words("R13", "上游和三游"),
    "R14": Words("R14", "上游和下游"),
}
PENALTIES: Final[Mapping[str, Words]] = {
    "none": Words("no penalty", "不记处罚"),
    "warning": Words("oral warning", "口头警告"),
    "violation": Words("violation", "记违例"),
    "foul": Words("foul", "记犯规"),
    "match_forfeit": Words("match lost", "本局判负"),
    "disqualification": Words("disqualified", "取消比赛资格"),
}

COMMANDS: Final[Mapping[str, Words]] = {
    "snapshot": Words("Read the state", "读取状态"),
    "events": Words("Read the journal", "读取日志"),
    "sheet": Words("Score sheet", "记分表"),
    "document": Words("Fetch the match on its way", "取转台数据"),
    "rulings": Words("What a charge leads to", "查判罚"),
    "foresee": Words("What a decision does", "预看裁定结果"),
    "lost_time": Words("Time lost", "耽误时间"),
    "offers": Words("What may be ordered now", "当前可执行"),
    "attend": Words("At the table", "到台"),
    "seat": Words("Seat a player", "就位"),
    "cut": Words("Cut", "切牌"),
    "confirm": Words("Confirm", "确认"),
    "out": Words("Player is out", "出完"),
    "call": Words("Call the referee", "召请裁判"),
    "claim_count": Words("Claim a wrong count", "申告张数不符"),
    "answer": Words("Open hand / double", "明牌、加倍"),
    "choose": Words("Choose a tribute", "选收贡牌"),
    "set_match": Words("Lay a match out", "排定对阵"),
    "start_match": Words("Open the match", "开赛"),
    "start_deal": Words("Start the deal", "开始发牌"),
    "release": Words("Hand the hands out", "放行"),
    "hold": Words("Stop", "暂停"),
    "resume": Words("Go on", "继续比赛"),
    "recount": Words("Enter four counts", "清点录入"),
    "replace_set": Words("Change the set", "换牌"),
    "clear_set": Words("Set counted, right", "整套清点无误"),
    "tribute": Words("Check a tribute", "核对贡牌"),
    "return": Words("Check a return", "核对还牌"),
    "anti": Words("Anti-tribute", "抗贡"),
    "swap_returns": Words("Swap the returns", "互换还牌"),
    "withdraw_out": Words("Not out after all", "撤回出完"),
    "result": Words("Enter the places", "录入名次"),
    "left": Words("Enter the cards left", "录入剩余张数"),
    "name_leader": Words("Name who leads", "指定领出牌者"),
    "stop_deal": Words("Stop the deal", "终止本副"),
    "call_clock": Words("Start his clock", "读秒"),
    "warn": Words("Warned", "已警告超时"),
    "add_time": Words("Add time", "补时"),
    "propose": Words("Propose a ruling", "报判罚"),
    "approve": Words("Approve", "同意"),
    "reject": Words("Reject", "驳回"),
    "extra_deal": Words("Extra deal", "加打一副"),
    "adjust": Words("Correct a result", "更正成绩"),
    "redeal": Words("Deal again", "重新发牌"),
    "dealt_by_hand": Words("Deal by hand", "改人工发牌"),
    "shuffled": Words("Shuffled by hand", "已人工洗牌"),
    "cut_by_hand": Words("Cut by hand", "人工切牌"),
    "turned_up": Words("Card turned up", "翻牌"),
    "hands_dealt": Words("Hands are drawn", "手牌已抓齐"),
    "transfer": Words("Move to another table", "转台"),
    "take_over": Words("Take a match over", "接台"),
    "sign": Words("Sign the sheet", "签名"),
    "acknowledge": Words("Seen to", "已知悉"),
    "clear_jam": Words("Jam is cleared", "卡牌已清"),
    "confirm_verbal": Words("Confirm the word", "确认口头裁定"),
    "forfeit": Words("Match lost", "弃权判负"),
    "void": Words("Give the attempt up", "作废本次发牌"),
    "open_hand": Words("Look at a hand", "开验手牌"),
    "selftest": Words("Self-test", "自检"),
    "configure": Words("Settings of a board", "控制板设置"),
    "calibrate": Words("Calibrate", "校准"),
}
"""A button's words, by command."""


def of(table: Mapping[str, Words], name: object) -> Words:
    """Return what `name` is called; what a later version has is called as it is."""
    known = table.get(str(name))
    return known or Words(str(name), str(name))


def several(named: Iterable[Words]) -> Words:
    """Return several things in one line."""
    told = tuple(named)
    return Words(", ".join(one.en for one in told), "、".join(one.zh for one in told))


def by_words(by: object) -> Words:
    """Return who gave an order: "Li Na (referee)" with the role that a key is named after."""
    person = _BY.fullmatch(str(by))
    if person is None:
        return of(ROLES, by)
    key = of(ROLES, person[2])
    return Words(str(by), f"{person[1]}（{key.zh}）")


_BY: Final = re.compile(r"(.+) \((.+)\)")


def card(text: object) -> Words:
    """Return a card as people read it: "♠A", a joker by its name."""
    try:
        face = face_text(parse_face(str(text)))
    except ValueError:
        return Words(str(text), str(text))
    return of(JOKERS, face)


JOKERS: Final[Mapping[str, Words]] = {
    "SJ": Words("small joker", "小王"),
    "BJ": Words("big joker", "大王"),
}
